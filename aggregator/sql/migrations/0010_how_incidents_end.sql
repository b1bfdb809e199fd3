-- How an incident eased or ended other than by being as usual again.

alter table incident add column unusual_end text
    check (unusual_end in ('part', 'accepted', 'left', 'unheard'));
    -- part of another one, its level was accepted, its endpoints or its region are not probed any
    -- more, nothing is heard from its region; null: none of these
