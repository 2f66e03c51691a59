-- Return the weight of a memory's origin in a score, from 0.6 to 1.
create or replace function recall._authority(
    p_provenance recall.provenance
)
returns double precision
language sql
immutable
parallel safe
return case p_provenance
           when 'user_stated' then 1.0::double precision
           when 'correction' then 0.95
           when 'instruction' then 0.90
           when 'preference' then 0.85
           when 'fact' then 0.80
           when 'tool_output' then 0.70
           else 0.60
       end;

comment on function recall._authority(recall.provenance) is
    'Weight of an origin in a score: 1 for a statement of the user, 0.6 for an inference.';
