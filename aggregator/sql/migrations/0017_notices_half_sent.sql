-- Notices of which it is not known whether their service took them.

alter table notice add column sending_at timestamptz;
    -- a try began then, by the store's clock, and what came of it is not noted; null: none did
