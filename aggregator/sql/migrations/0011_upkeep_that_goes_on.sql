-- Whether upkeep has gone on without a leap of the clock, so that what it deletes is really old.

alter table store add column kept_up_since timestamptz;
    -- since when upkeep has gone on without a leap; null: it has not been done since this column
