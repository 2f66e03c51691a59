-- Return what a driver must know before it records a call, or encrypts a memory.
-- The rules say how much to record (settings.ledger), the largest body, the names of harmless
-- headers, and the patterns of secrets (see _secret_patterns). record_… apply the same rules again.
-- By the time, a driver makes the ids of an encrypted user's memories.
create or replace function recall.get_ledger_rules(
    p_user_id uuid
)
returns jsonb
language plpgsql
stable
parallel safe
security definer
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_settings recall.settings;
begin
    perform recall._check_user(p_user_id);
    v_settings := recall._settings(p_user_id);
    return jsonb_build_object(
        'ledger', v_settings.ledger,
        'max_body', v_settings.ledger_max_body,
        'is_sealed', recall._is_sealed_user(p_user_id),
        'memory_max_characters', v_settings.memory_max_characters,
        'message_max_characters', v_settings.message_max_characters,
        'time_ms', (extract(epoch from clock_timestamp()) * 1000)::bigint,
        'headers', recall._harmless_header_names(),
        'secrets', recall._pattern_list(recall._ledger_classes(v_settings)));
end;
$function$;

comment on function recall.get_ledger_rules(uuid) is
    'Call log: the rules for a driver that records its own model calls: ledger (how much it '
    'records), max_body (bytes), is_sealed (encrypted user), the patterns of stored headers and '
    'masked secrets; and for a driver that encrypts, memory_max_characters, '
    'message_max_characters and the time in milliseconds.';
