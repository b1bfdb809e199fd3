-- Telling people: open incidents, what was told of them, what is still to be told.
--
-- One process at a time decides what is due, under an advisory lock. Who sends a notice first notes,
-- and commits, that it begins to; then it holds the row to the end of the transaction, in which it is
-- noted as sent. A notice that was begun and that nobody holds may have been taken.

-- name: lock_notices
select pg_try_advisory_xact_lock(%(key)s) as taken

-- name: find_tellable
-- those that are open, and those that have ended lately and whose end was not told to all who knew
select incident_id
from incident
where (ended_at is null and state in ('confirmed', 'eased'))
   or (state = 'closed' and ended_at > %(now)s::timestamptz - interval '7 days'
       and exists (
           select from notice
           where notice.incident_id = incident.incident_id and given_up_at is null
               and not exists (
                   select from notice as last
                   where last.incident_id = notice.incident_id
                       and last.channel = notice.channel and last.kind = 'closed')))

-- name: select_other_end
-- how an incident ended that is not as usual again
select text
from incident_event
join incident using (incident_id)
where incident_id = %(incident)s and kind = 'closed' and unusual_end is not null
order by event_id desc
limit 1

-- name: select_told
select notice_id, incident_id, channel, kind, grade, made_at, given_up_at is not null as given_up,
       sent_at is null and given_up_at is null as waits
from notice
where incident_id = any (%(incidents)s::bigint[])
order by notice_id

-- name: insert_notice
insert into notice (incident_id, channel, kind, grade, made_at, due_at)
values (%(incident)s, %(channel)s, %(kind)s, %(grade)s, %(now)s, %(now)s)

-- name: withdraw_notices
-- one that is being sent at this moment stays
delete from notice where notice_id in (
    select notice_id from notice
    where notice_id = any (%(notices)s::bigint[]) and sent_at is null
    for update skip locked)

-- name: insert_event
insert into incident_event (incident_id, at, kind, text)
values (%(incident)s, %(now)s, %(kind)s, %(text)s)

-- name: give_up_unknown
-- of channels that the file no longer names
update notice
set given_up_at = %(now)s, error = 'the file names no such channel any more'
where sent_at is null and given_up_at is null and not channel = any (%(channels)s::text[])

-- name: has_due
select exists (
    select from notice
    where sent_at is null and given_up_at is null and due_at <= %(now)s
      and channel = any (%(channels)s::text[])) as due

-- name: claim_notice
-- notes that the next that is due is being sent: fresh ones first, none before an earlier one of its
-- incident and channel, and none that somebody else began a moment ago and does not hold yet
with next as (
    select notice_id, sending_at
    from notice
    where sent_at is null and given_up_at is null and due_at <= %(now)s
      and channel = any (%(channels)s::text[])
      and (sending_at is null or sending_at < clock_timestamp() - interval '2 seconds')
      and not exists (
          select from notice as earlier
          where earlier.incident_id = notice.incident_id and earlier.channel = notice.channel
            and earlier.notice_id < notice.notice_id
            and earlier.sent_at is null and earlier.given_up_at is null)
    order by tries, due_at, notice_id
    limit 1
    for update of notice skip locked
)
update notice set sending_at = clock_timestamp()
from next
where notice.notice_id = next.notice_id
returning notice.notice_id, incident_id, channel, kind, made_at, tries, notice.sending_at,
    next.sending_at is not null as repeats

-- name: hold_notice
-- nothing where somebody else has begun to send it since, or it was withdrawn
select notice_id from notice
where notice_id = %(notice)s and sending_at = %(sending_at)s and sent_at is null
for update skip locked

-- name: note_sent
update notice
set sent_at = %(now)s, tries = tries + 1, error = null, grade = %(grade)s, sending_at = null
where notice_id = %(notice)s

-- name: note_failed
update notice
set tries = tries + 1, due_at = %(due_at)s, error = %(error)s, given_up_at = %(given_up_at)s,
    sending_at = case when %(unsure)s then sending_at end
where notice_id = %(notice)s
