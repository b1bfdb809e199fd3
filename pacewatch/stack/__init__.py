"""What `pacewatch up` runs on one machine: embedded Postgres and Valkey, and the supervisor."""
