-- Workers as they tell of themselves, and the slots that people ask for.

-- name: upsert_worker
insert into worker (
    region, worker, version, catalog, last_seen_at, clock_offset_s, in_hand, journal_runs, outbox_runs,
    budget_left_usd, rate_limits, calibration)
values (
    %(region)s, %(worker)s, %(version)s, %(catalog)s, %(now)s, %(clock_offset_s)s,
    %(in_hand)s::uuid[], %(journal_runs)s, %(outbox_runs)s, %(budget_left_usd)s,
    %(rate_limits)s, %(calibration)s)
on conflict (region, worker) do update set
    version = excluded.version, catalog = excluded.catalog, last_seen_at = excluded.last_seen_at,
    clock_offset_s = excluded.clock_offset_s, in_hand = excluded.in_hand,
    journal_runs = excluded.journal_runs, outbox_runs = excluded.outbox_runs,
    budget_left_usd = excluded.budget_left_usd, rate_limits = excluded.rate_limits,
    calibration = excluded.calibration;

-- name: read_catalog_hash
select catalog_hash from store;

-- name: read_suspected
-- when confirming probes were last ordered from the region
select max(ordered_at) as suspected_at from confirm_order
where region = %(region)s and ordered_at > %(since)s;

-- name: lock_sent_slots
select run_id from slot
where run_id = any (%(run_id)s::uuid[]) and region = %(region)s and state = 'sent'
order by run_id
for update;

-- name: find_asked
-- whether the endpoint is probed, whether the region probes it, and whether the workload is known
select
    exists (select from endpoint where endpoint = %(endpoint)s and active) as is_probed,
    exists (
        select from series where endpoint = %(endpoint)s and region = %(region)s) as is_in_region,
    exists (
        select from endpoint_version
        where endpoint = %(endpoint)s and workload = %(workload)s) as has_workload;

-- name: insert_manual_slot
insert into slot (run_id, endpoint, region, workload, load, purpose, slot_at, valid_until)
values (
    %(run_id)s, %(endpoint)s, %(region)s, %(workload)s, %(load)s, 'manual', %(slot_at)s,
    %(valid_until)s)
on conflict do nothing;

-- name: read_slot
select slot_at, valid_until, state, reason from slot where run_id = %(run_id)s;
