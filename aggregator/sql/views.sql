-- Verdicts, incidents and silences as people ask for them. Nothing here judges.

-- name: select_verdicts
-- a page of them; of endpoints that are probed now. Where nothing is asked for, all are. Beside each
-- stand the incidents that it is in trouble in there: in a region those of it and of no single one
with page as (
    select v.endpoint, e.provider, e.model, e.importance, v.region, v.verdict, v.since,
           v.silent_since, v.ttft_ratio, v.ttft_ratio_low, v.ttft_ratio_high,
           v.speed_ratio, v.speed_ratio_low, v.speed_ratio_high,
           v.end_to_end_ratio, v.end_to_end_ratio_low, v.end_to_end_ratio_high,
           v.under_load_ratio, v.under_load_ratio_low, v.under_load_ratio_high, v.judged_at
    from verdict v
    join endpoint e using (endpoint)
    where e.active
      and (v.endpoint collate "C", v.region collate "C") > (%(endpoint)s, %(region)s)
      and (%(endpoints)s::text[] = '{}' or v.endpoint = any(%(endpoints)s))
      and (%(models)s::text[] = '{}' or e.model = any(%(models)s))
      and (%(providers)s::text[] = '{}' or e.provider = any(%(providers)s))
      and (%(precisions)s::text[] = '{}' or e.precision = any(%(precisions)s))
      and (%(regions)s::text[] = '{}' or v.region = any(%(regions)s))
      and (%(verdicts)s::text[] = '{}' or v.verdict = any(%(verdicts)s))
    order by v.endpoint collate "C", v.region collate "C"
    limit %(limit)s
)
select page.*, array(
    select i.incident_id
    from incident_endpoint held
    join incident i using (incident_id)
    where held.endpoint = page.endpoint and held.eased_at is null and i.state = 'confirmed'
      and (page.region = '' or i.region in ('', page.region))
    group by i.incident_id
    order by i.incident_id) as incidents
from page
order by endpoint collate "C", region collate "C"

-- name: select_believed
-- what is believed of some endpoints, in every region and over them
select endpoint, region, verdict, since, ttft_ratio, speed_ratio, end_to_end_ratio,
       under_load_ratio
from verdict
where endpoint = any(%(endpoints)s)
order by endpoint, region

-- name: select_incidents
-- a page of them, the latest first
select incident_id, provider, region, trouble, class as blame, state, importance, simulated, since,
       opened_at, confirmed_at, eased_at, ended_at, acknowledged_at, unusual_end,
       speaks_for, speaks_against
from incident
where incident_id < %(before)s
  and (%(states)s::text[] = '{}' or state = any(%(states)s))
  and (%(providers)s::text[] = '{}' or provider = any(%(providers)s))
  and (%(blames)s::text[] = '{}' or class = any(%(blames)s))
  and (%(regions)s::text[] = '{}' or region = any(%(regions)s))
  and (
    (%(endpoints)s::text[] = '{}' and %(models)s::text[] = '{}' and %(precisions)s::text[] = '{}')
    or exists (
      select from incident_endpoint i
      join endpoint e using (endpoint)
      where i.incident_id = incident.incident_id
        and (%(endpoints)s::text[] = '{}' or i.endpoint = any(%(endpoints)s))
        and (%(models)s::text[] = '{}' or e.model = any(%(models)s))
        and (%(precisions)s::text[] = '{}' or e.precision = any(%(precisions)s))
    )
  )
  and (ended_at is null or ended_at >= %(since)s)
order by incident_id desc
limit %(limit)s

-- name: select_these_incidents
select incident_id, provider, region, trouble, class as blame, state, importance, simulated, since,
       opened_at, confirmed_at, eased_at, ended_at, acknowledged_at, unusual_end,
       speaks_for, speaks_against
from incident
where incident_id = any(%(incidents)s::bigint[])
order by incident_id

-- name: select_incident_endpoints
-- those in trouble before those that are as usual again, the worst first
select incident_id, endpoint, trouble, ratio, ratio_low, ratio_high, since, eased_at
from incident_endpoint
where incident_id = any(%(incidents)s::bigint[])
order by incident_id, eased_at is not null, ratio desc nulls last, endpoint, trouble

-- name: select_incident_events
select at, kind, text from incident_event where incident_id = %(incident)s order by at, event_id

-- name: select_confirming_runs
-- what the incident's probes found; those that were not run have no figures
select o.run_id, o.endpoint, o.region, o.ordered_at, slot.state, slot.reason, run.outcome,
       run.ttft_s, run.output_tokens_per_s
from confirm_order o
left join slot on slot.run_id = o.run_id
left join run on run.run_id = o.run_id and run.slot_at = slot.slot_at and run.slot_at > %(since)s
where o.incident_id = %(incident)s
order by o.ordered_at, o.region, o.run_id

-- name: select_silences_page
-- the latest first; without the ended ones unless asked for
select silence_id, endpoints, region, starts_at, ends_at, why, made_by
from silence
where (%(all)s or ends_at > %(now)s) and silence_id < %(before)s
order by silence_id desc
limit %(limit)s::bigint

-- name: insert_silence
insert into silence (endpoints, region, starts_at, ends_at, why, made_by)
values (%(endpoints)s, %(region)s, %(now)s, %(ends_at)s, %(why)s, %(made_by)s)
returning silence_id, endpoints, region, starts_at, ends_at, why, made_by

-- name: select_silence
select silence_id, endpoints, region, starts_at, ends_at, why, made_by
from silence where silence_id = %(silence)s
for update

-- name: end_silence
update silence set ends_at = greatest(starts_at, %(now)s) where silence_id = %(silence)s
returning silence_id, endpoints, region, starts_at, ends_at, why, made_by

-- name: note_silence_end
-- in the timelines of open incidents that tell of the silence
insert into incident_event (incident_id, at, kind, text)
select incident_id, %(now)s, 'silenced', 'the silence of ' || endpoints || ' was ended'
from silence
join incident_event on kind = 'silenced' and at = starts_at
join incident using (incident_id)
where silence_id = %(silence)s and ended_at is null

-- name: select_probed
select endpoint from endpoint where active

-- name: select_advice
-- what is to be set right of endpoints that are probed, unless a later run there went well
select a.endpoint, a.kind, a.region, a.since, a.last_at, a.runs
from advisory a
join endpoint e using (endpoint)
where e.active
  and (%(endpoints)s::text[] is null or a.endpoint = any(%(endpoints)s))
  and not exists (
    select from series s join series_stat st using (series_id)
    where s.endpoint = a.endpoint and s.region = a.region and st.last_success_at > a.last_at)
order by a.endpoint, a.kind
