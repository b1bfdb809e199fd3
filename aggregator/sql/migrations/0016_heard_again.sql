-- Which endpoints of an incident eased since nothing was heard of them any more, and were not heard since.

alter table incident_endpoint add column unheard boolean not null default false;
    -- true: eased since nothing was heard of it; false: it is in trouble, or was measured well

update incident_endpoint set unheard = true
from incident
where incident.incident_id = incident_endpoint.incident_id
    and ended_at is null and unusual_end = 'unheard' and incident_endpoint.eased_at is not null;
