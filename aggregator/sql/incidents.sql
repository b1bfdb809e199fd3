-- Incidents: rows, the endpoints they gather, and their timelines. Whoever writes holds their lock.

-- name: take_incident_lock
select pg_advisory_xact_lock(%(key)s)

-- name: has_open
select exists (
    select from incident_endpoint join incident using (incident_id)
    where endpoint = %(endpoint)s and ended_at is null) as has_open

-- name: find_open
-- the open ones of its provider and of none alone, each with what it holds of this endpoint
select incident_id, provider, region, trouble, class, state, importance, confirmed_at,
       coalesce(mine.troubles, '{}') as troubles, mine.unheard_since,
       coalesce(other.stands, false) as is_shared, coalesce(other.unheard, false) as others_unheard
from incident
left join lateral (
    select json_object_agg(incident_endpoint.trouble, eased_at is null) as troubles,
           max(eased_at) filter (where unheard) as unheard_since
    from incident_endpoint
    where incident_endpoint.incident_id = incident.incident_id and endpoint = %(endpoint)s) as mine on true
left join lateral (
    select bool_or(eased_at is null) as stands, bool_or(unheard) as unheard
    from incident_endpoint
    where incident_endpoint.incident_id = incident.incident_id and endpoint <> %(endpoint)s) as other on true
where ended_at is null and provider in ('', %(provider)s)
order by incident_id

-- name: insert_incident
insert into incident (provider, region, trouble, class, state, importance, simulated, since, opened_at)
values (%(provider)s, %(region)s, %(trouble)s, 'unknown', 'suspected', %(importance)s,
    %(simulated)s, %(since)s, %(now)s)
returning incident_id

-- name: insert_event
insert into incident_event (incident_id, at, kind, text)
values (%(incident)s, %(at)s, %(kind)s, %(text)s)

-- name: upsert_member
-- while trouble is on its way out its ratio stays that of its time
insert into incident_endpoint (incident_id, endpoint, trouble, ratio, ratio_low, ratio_high, since)
values (%(incident)s, %(endpoint)s, %(trouble)s, %(ratio)s, %(ratio_low)s, %(ratio_high)s, %(since)s)
on conflict (incident_id, endpoint, trouble) do update
set ratio = case when %(lasting)s then excluded.ratio else incident_endpoint.ratio end,
    ratio_low = case when %(lasting)s then excluded.ratio_low else incident_endpoint.ratio_low end,
    ratio_high = case when %(lasting)s then excluded.ratio_high else incident_endpoint.ratio_high end,
    eased_at = null, unheard = false

-- name: keep_members
-- what a suspicion was of goes where it turned out to be something else; others come by themselves
delete from incident_endpoint
where incident_id = %(incident)s
    and (endpoint <> %(endpoint)s or not trouble = any (%(troubles)s::text[]))

-- name: drop_member
delete from incident_endpoint where incident_id = %(incident)s and endpoint = %(endpoint)s

-- name: ease_members
update incident_endpoint set eased_at = %(now)s, unheard = %(unheard)s
where incident_id = %(incident)s and endpoint = %(endpoint)s and eased_at is null
    and not trouble = any (%(troubles)s::text[])

-- name: hear_members
-- what eased since nothing was heard of it is as usual
update incident_endpoint set eased_at = %(now)s, unheard = false
where incident_id = %(incident)s and endpoint = %(endpoint)s and unheard

-- name: move_members
with moved as (
    delete from incident_endpoint where incident_id = %(incident)s
    returning endpoint, trouble, ratio, ratio_low, ratio_high, since, eased_at, unheard
)
insert into incident_endpoint (incident_id, endpoint, trouble, ratio, ratio_low, ratio_high, since,
    eased_at, unheard)
select %(into)s, * from moved
on conflict (incident_id, endpoint, trouble) do update
set ratio = excluded.ratio, ratio_low = excluded.ratio_low, ratio_high = excluded.ratio_high,
    eased_at = excluded.eased_at, unheard = excluded.unheard

-- name: confirm_incident
update incident
set state = 'confirmed', confirmed_at = %(now)s, class = %(class)s, provider = %(provider)s,
    region = %(region)s, trouble = %(trouble)s, since = least(since, %(since)s),
    speaks_for = %(speaks_for)s, speaks_against = %(speaks_against)s
where incident_id = %(incident)s

-- name: classify_incident
update incident
set class = %(class)s, provider = %(provider)s, region = %(region)s, speaks_for = %(speaks_for)s,
    speaks_against = %(speaks_against)s
where incident_id = %(incident)s

-- name: widen_incident
update incident
set importance = %(importance)s, trouble = %(trouble)s, since = least(since, %(since)s)
where incident_id = %(incident)s

-- name: reopen_incident
update incident set state = 'confirmed', eased_at = null, unusual_end = null
where incident_id = %(incident)s

-- name: ease_incident
-- its endpoints are as usual; one of our own clocks eases by itself
update incident set state = 'eased', eased_at = %(now)s, unusual_end = %(unusual)s
where incident_id = %(incident)s and state = 'confirmed' and trouble <> 'timing'
    and not exists (
        select from incident_endpoint
        where incident_endpoint.incident_id = incident.incident_id
            and incident_endpoint.eased_at is null)
returning incident_id

-- name: hear_incident
-- it eased since nothing was heard of it; all of it is as usual now
update incident set eased_at = %(now)s, unusual_end = null
where incident_id = %(incident)s and state = 'eased' and unusual_end = 'unheard'
    and not exists (
        select from incident_endpoint
        where incident_endpoint.incident_id = incident.incident_id and unheard)
returning incident_id

-- name: end_suspected
update incident set state = %(state)s, ended_at = %(now)s
where incident_id = %(incident)s and state = 'suspected'
    and not exists (
        select from incident_endpoint
        where incident_endpoint.incident_id = incident.incident_id
            and incident_endpoint.eased_at is null)
returning incident_id

-- name: close_incident
update incident
set state = 'closed', ended_at = %(now)s, unusual_end = coalesce(%(unusual)s, unusual_end)
where incident_id = %(incident)s

-- name: find_lasting
-- those whose ease has lasted
select incident_id, unusual_end
from incident
where state = 'eased' and ended_at is null and eased_at <= %(before)s
order by incident_id

-- name: ease_others
-- endpoints that are no longer probed are in no trouble that could be followed
update incident_endpoint set eased_at = %(now)s
where eased_at is null and not endpoint = any (%(endpoints)s::text[])
returning incident_id

-- name: note_acknowledged
update incident set acknowledged_at = %(now)s
where incident_id = %(incident)s and state in ('confirmed', 'eased') and acknowledged_at is null
returning incident_id

-- name: ask_to_accept
-- rows are locked in one order, so that two who accept at once wait for one another
with asked as (
    select endpoint from judgement
    where endpoint in (
        select endpoint from incident_endpoint join incident using (incident_id)
        where incident_id = %(incident)s and incident.state in ('confirmed', 'eased')
            and incident_endpoint.trouble in ('first_token', 'output_speed'))
    order by endpoint for update
)
update judgement set accepted = true, due_at = %(now)s
from asked where judgement.endpoint = asked.endpoint
returning judgement.endpoint

-- name: find_of_probers
select incident_id, region, state, unusual_end from incident
where ended_at is null and trouble = 'timing'

-- name: insert_of_probers
insert into incident (provider, region, trouble, class, state, importance, simulated, since,
    opened_at, confirmed_at, speaks_for)
values ('', %(region)s, 'timing', 'prober', 'confirmed', %(importance)s, %(simulated)s, %(now)s,
    %(now)s, %(now)s, %(why)s)
returning incident_id

-- name: ease_of_probers
update incident set state = 'eased', eased_at = %(now)s, unusual_end = %(unusual)s
where incident_id = %(incident)s and state = 'confirmed' and not exists (
    select from incident_endpoint
    where incident_endpoint.incident_id = incident.incident_id
        and incident_endpoint.eased_at is null)
returning incident_id

-- name: note_changes
-- what answers told of their maker since shortly before trouble began, once each
insert into incident_event (incident_id, at, kind, text)
select distinct incident_id, changed_at, 'changed',
    format('%%s: %%s is now %%s, was %%s', provider_change.endpoint, facet, value, before)
from incident
join incident_endpoint using (incident_id)
join provider_change using (endpoint)
where ended_at is null and state <> 'suspected'
    and changed_at > incident.since - %(lead)s::interval
    and not exists (
        select from incident_event as told
        where told.incident_id = incident.incident_id and told.kind = 'changed'
            and told.at = changed_at
            and told.text like provider_change.endpoint || ': ' || facet || ' %%')

-- name: find_earliest
select min(since) as since from incident where ended_at is null and state <> 'suspected'

-- name: note_versions
-- versions of our workers that first ran one of its endpoints since shortly before trouble began;
-- the earliest of all spares the planner the days before it
insert into incident_event (incident_id, at, kind, text)
select incident_id, first_at, 'worker', format('workers of %%s: now version %%s', region, version)
from (
    select incident_id, incident.since, min(endpoint) as endpoint
    from incident join incident_endpoint using (incident_id)
    where ended_at is null and incident.state <> 'suspected'
    group by incident_id) as its
cross join lateral (
    select series.region, worker_version as version, min(slot_at) as first_at,
        min(min(slot_at)) over (partition by series.region) as earliest_at
    from series join run using (series_id)
    where series.endpoint = its.endpoint and slot_at > its.since - 8 * %(lead)s::interval
        and slot_at > %(earliest)s
    group by series.region, worker_version) as ran
where first_at > its.since - %(lead)s::interval and first_at > earliest_at
    and not exists (
        select from incident_event as told
        where told.incident_id = its.incident_id and told.kind = 'worker'
            and told.text = format('workers of %%s: now version %%s', ran.region, version))

-- name: find_unsaid_silences
-- silences that stand, with the open incidents whose timelines do not tell of them, and the
-- endpoints that are in trouble there; of an eased incident all
select silence_id, endpoints, silence.region, starts_at, ends_at, why, made_by, incident_id,
       array(select distinct endpoint from incident_endpoint
             where incident_endpoint.incident_id = incident.incident_id
                 and (eased_at is null or incident.state = 'eased')) as gathered
from silence
cross join incident
where incident.ended_at is null and incident.state <> 'suspected'
    and starts_at <= %(now)s and ends_at > %(now)s
    and silence.region in ('', incident.region)
    and not exists (
        select from incident_event as told
        where told.incident_id = incident.incident_id and told.kind = 'silenced'
            and told.at = starts_at)
order by silence_id, incident_id

-- name: delete_old_incidents
-- with all that hangs on them
with old as (
    select incident_id from incident where ended_at < %(before)s
), notices as (
    delete from notice where incident_id in (select incident_id from old)
), events as (
    delete from incident_event where incident_id in (select incident_id from old)
), members as (
    delete from incident_endpoint where incident_id in (select incident_id from old)
), ordered as (
    delete from confirm_order where incident_id in (select incident_id from old)
)
delete from incident where incident_id in (select incident_id from old)

-- name: delete_unjudged
-- what the judge has not come to for a window would not vote any more
delete from unjudged where slot_at < %(before)s

-- name: delete_old_advisories
delete from advisory where last_at < %(before)s

-- name: delete_old_judgements
-- of endpoints that are not probed any more
delete from judgement
where judged_at < %(before)s
    and not exists (
        select from endpoint where endpoint.endpoint = judgement.endpoint and active)

-- name: delete_old_silences
delete from silence where ends_at < %(before)s
