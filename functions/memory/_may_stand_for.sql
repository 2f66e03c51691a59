-- Tell whether the text of one memory may replace a nearly equal one.
-- The kept text adds words that the other one does not have. So its provenance must not be weaker,
-- and its tier not lower unless the user stated it.
create or replace function recall._may_stand_for(
    p_kept  recall.memory_store,
    p_other recall.memory_store
)
returns boolean
language sql
immutable
parallel safe
as $function$
    select case
        when (p_kept).provenance <= 'preference' then true
        when (p_kept).provenance = 'fact' then (p_other).provenance >= 'fact'
        else (p_other).provenance >= 'tool_output'
    end and ((p_kept).provenance <= 'preference' or (p_kept).tier >= (p_other).tier);
$function$;

comment on function recall._may_stand_for(recall.memory_store, recall.memory_store) is
    'Whether a memory is trusted enough to replace a nearly equal one.';
