-- Return the active value of each slot that applies in every session.
-- Values of one session are left out; otherwise an inference would spread beyond its session.
create or replace function recall.get_profile(
    p_user_id uuid
)
returns jsonb
language plpgsql
stable
parallel safe
security definer
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_generic_plan
as $function$
begin
    perform recall._check_user(p_user_id);

    return (
        select coalesce(jsonb_object_agg(
                   m.slot,
                   jsonb_build_object(
                       'content', m.content,
                       'since', coalesce(m.valid_from, m.observed_at),
                       'confidence', m.confidence,
                       'memory_id', m.memory_id)), '{}')
          from recall.memory_store as m
         where m.user_id = p_user_id
           and m.is_active
           and m.slot is not null
           and m.session_id is null
           and (m.expires_at is null or m.expires_at > now()));
end;
$function$;

comment on function recall.get_profile(uuid) is
    'Profile of the user: {"slot": {"content", "since", "confidence", "memory_id"}}. since is '
    'valid_from or, without one, observed_at.';
