-- Tell whether Citus has distributed the tables: false.
-- distribute() replaces this function by one that returns true. The planner puts the constant in
-- its place, so a branch for Citus costs nothing elsewhere.
create or replace function recall._is_distributed()
returns boolean
language sql
immutable
parallel safe
return false;

comment on function recall._is_distributed() is 'Whether Citus has distributed the tables.';
