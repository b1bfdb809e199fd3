-- Slots: planned, sent, sent again, missed. Ingest turns them into `run`.

-- name: take_tick_lock
-- held to the end of the transaction; who does not get it leaves the tick to the one who has it
select pg_try_advisory_xact_lock(%(key)s) as taken;

-- name: insert_slots
-- a slot keeps its id whoever plans it; one that was not sent yet takes a changed validity over
insert into slot (run_id, endpoint, region, workload, load, purpose, slot_at, valid_until)
select * from unnest(
    %(run_id)s::uuid[], %(endpoint)s::text[], %(region)s::text[], %(workload)s::text[],
    %(load)s::text[], %(purpose)s::text[], %(slot_at)s::timestamptz[],
    %(valid_until)s::timestamptz[])
order by 1  -- as ingest locks slots, so that neither waits for the other in a circle
on conflict (run_id) do update set valid_until = excluded.valid_until
where slot.state = 'planned' and slot.valid_until <> excluded.valid_until;

-- name: drop_slots
-- future slots of a schedule that is no more, unless the new one has them too
delete from slot
where state = 'planned' and purpose = any (%(purposes)s) and slot_at > %(now)s
    and not exists (
        select from unnest(%(run_id)s::uuid[]) as standing (run_id)
        where standing.run_id = slot.run_id);

-- name: note_plan
update store set planned_until = %(planned_until)s, schedule_hash = %(schedule_hash)s;

-- name: lock_due_slots
select run_id, endpoint, region, workload, load, purpose, slot_at, valid_until
from slot
where state = 'planned' and slot_at <= %(now)s and valid_until > %(now)s
order by slot_at, run_id
limit %(most)s
for update skip locked;

-- name: read_spent
-- what was sent this UTC day, as reckoned; what a worker declined was not spent
select coalesce(sum(cost_usd * sends), 0) as spent_usd
from slot
where sent_at >= %(day_start)s and not (state = 'missed' and reason like 'declined:%%');

-- name: send_slots
update slot set state = 'sent', sends = slot.sends + 1, sent_at = %(now)s, cost_usd = due.cost_usd
from unnest(%(run_id)s::uuid[], %(cost_usd)s::float8[]) as due (run_id, cost_usd)
where slot.run_id = due.run_id;

-- name: lock_unanswered_slots
-- sent once, a while ago, the region's fresh heartbeats speak of something else, and no record of it
-- is put aside here
select run_id, endpoint, region, workload, load, purpose, slot_at, valid_until, sent_at, cost_usd
from slot
where state = 'sent' and sends = 1 and purpose <> 'sentinel'
    and sent_at <= %(sent_before)s and valid_until > %(now)s
    and exists (
        select from worker
        where worker.region = slot.region
            and worker.last_seen_at > greatest(%(fresh_since)s, slot.sent_at))
    and not exists (
        select from worker
        where worker.region = slot.region and worker.last_seen_at > %(fresh_since)s
            and slot.run_id = any (worker.in_hand))
    and not exists (select from aside where aside.run_id = slot.run_id)
order by sent_at, run_id
limit %(most)s
for update skip locked;

-- name: lock_expired_slots
-- at the end of their validity and in nobody's hand, with the reason
select run_id, case
        when state = 'planned' then 'not_sent'
        when exists (
            select from worker
            where worker.region = slot.region and worker.last_seen_at > %(fresh_since)s)
        then 'lost'
        else 'no_worker'
    end as reason
from slot
where valid_until <= %(now)s
    and (state = 'planned' or state = 'sent' and %(settled)s and not exists (
        select from worker
        where worker.region = slot.region and worker.last_seen_at > %(fresh_since)s
            and slot.run_id = any (worker.in_hand)))
order by run_id
limit %(most)s
for update skip locked;

-- name: miss_slots
with marked as (
    update slot set state = 'missed', reason = over.reason
    from unnest(%(run_id)s::uuid[], %(reason)s::text[]) as over (run_id, reason)
    where slot.run_id = over.run_id
    returning slot.endpoint, slot.region, slot.reason
)
insert into missed_counter (endpoint, region, simulated, reason, runs)
select endpoint, region, %(simulated)s, reason, count(*)
from marked
group by endpoint, region, reason
order by endpoint, region, reason
on conflict (endpoint, region, simulated, reason)
do update set runs = missed_counter.runs + excluded.runs;

-- name: note_tick
update store set ticked_at = %(now)s, resumed_at = %(resumed_at)s;
