-- recall._may_stand_for(kept, other) -> may its text take the place of a nearly equal one?
-- The text that stays brings words that the other one did not have. It may stand for both only
-- when it is trusted no less, and stands no lower unless the user himself said it.
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
    'Whether a memory is trusted enough to stand for a nearly equal one too.';
