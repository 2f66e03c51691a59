-- recall.get_ledger_rules(user) -> {ledger, max_body, is_sealed, headers, secrets}
-- What a driver must know before it records: how much of its own calls (settings.ledger), and what
-- to leave out before anything is sent: names of harmless headers, and what secrets look like
-- (see _secret_patterns). The record_… functions go by the same rules again.
create or replace function recall.get_ledger_rules(
    p_user_id uuid
)
returns jsonb
language plpgsql
stable
parallel safe
security definer
set search_path from current
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
        'headers', recall._harmless_header_names(),
        'secrets', recall._pattern_list(recall._ledger_classes(v_settings)));
end;
$function$;

comment on function recall.get_ledger_rules(uuid) is
    'Ledger: how much a driver records of its own calls of models, and what it masks before.';
