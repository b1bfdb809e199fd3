-- When upkeep was last done at all, so that a part that keeps failing is not taken for a leap.

alter table store add column upkeep_at timestamptz;
    -- the latest upkeep, whether all of it was finished or not; null: none since this column
