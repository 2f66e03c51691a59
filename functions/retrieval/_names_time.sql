-- Say whether a text may contain an expression of time; most texts do not.
-- It is one expression because PL/pgSQL prepares each expression in every transaction. A regular
-- expression takes four times as long.
create or replace function recall._names_time(
    p_text text
)
returns boolean
language sql
immutable
parallel safe
return lower(p_text collate "C") like any(
    array['%day%', '%week%', '%month%', '%year%', '%this morning%', '%this afternoon%',
          '%this evening%', '%19__%', '%20__%', '%jan%', '%feb%', '%mar%', '%apr%', '%may%',
          '%jun%', '%jul%', '%aug%', '%sep%', '%oct%', '%nov%', '%dec%']);

comment on function recall._names_time(text) is
    'Whether a text may contain an expression of time.';
