-- Exchange the ciphertexts of one row; return false if it changed since it was read, or is gone.
-- Values that depend on the text change, too: a memory's hash, a session's prompt. The memory's
-- audit records the exchange.
create or replace function recall._reseal_row(
    p_user_id uuid,
    p_table   text,
    p_key     jsonb,
    p_old     jsonb,
    p_new     jsonb
)
returns boolean
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_table   record;
    v_columns text[];
    v_new     jsonb := p_new;
    v_prompt  bytea;
    v_count   bigint;
begin
    select t.* into v_table from recall._sealed_tables() as t where t.name = p_table;
    if v_table.name is null or array(select jsonb_object_keys(p_new)) <@ v_table.columns is not true
       or array(select jsonb_object_keys(p_key)) <@ v_table.keys is not true then
        raise exception using
            errcode = 'RC003',
            message = format('p_rows names %s, or other columns than its texts',
                             coalesce(p_table, 'no table')),
            hint    = 'Pass rows of recall.list_sealed_rows, each with its new texts.';
    end if;

    v_columns := array_remove(v_table.columns, 'system_prompt');
    if p_table = 'memory_store' then
        v_columns := v_columns || 'content_hash'::text;
        v_new     := v_new || jsonb_build_object(
            'content_hash', recall._content_hash(p_new ->> 'content'));
    elsif p_table = 'sessions' and p_new ->> 'system_prompt' is not null then
        v_columns := v_columns || 'system_prompt_hash'::text;
        select s.system_prompt_hash
          into v_prompt
          from recall.sessions as s
         where s.user_id    = p_user_id
           and s.session_id = (p_key ->> 'session_id')::uuid;
        v_new     := v_new || jsonb_build_object('system_prompt_hash', (
            recall._store_system_prompt(p_user_id, p_new ->> 'system_prompt', null)).o_hash);
    end if;

    execute format(
        'update recall.%I as t set (%s) = (select %s from jsonb_populate_record('
        'null::recall.%I, $4) as n) where t.user_id = $1 and (%s) = (select %s from '
        'jsonb_populate_record(null::recall.%I, $2) as k) and %s = $3',
        p_table,
        (select string_agg(format('%I', c.name), ', ') from unnest(v_columns) as c (name)),
        (select string_agg(format('n.%I', c.name), ', ') from unnest(v_columns) as c (name)),
        p_table,
        (select string_agg(format('t.%I', k.name), ', ') from unnest(v_table.keys) as k (name)),
        (select string_agg(format('k.%I', k.name), ', ') from unnest(v_table.keys) as k (name)),
        p_table, recall._texts_of(v_table.columns))
      using p_user_id, p_key, p_old, v_new;
    get diagnostics v_count = row_count;

    if v_count = 1 and p_table = 'memory_store' then
        perform recall._log_event(p_user_id, (p_key ->> 'memory_id')::uuid, 'resealed');
    end if;
    -- The old prompt, or the new one if the session has changed or is gone meanwhile.
    if v_prompt is distinct from (v_new ->> 'system_prompt_hash')::bytea then
        perform recall._release_prompts(array[case when v_count = 1 then v_prompt
                                                   else (v_new ->> 'system_prompt_hash')::bytea
                                              end]);
    end if;
    return v_count = 1;
end;
$function$;

comment on function recall._reseal_row(uuid, text, jsonb, jsonb, jsonb) is
    'Exchange the ciphertexts of one row, unless it has changed meanwhile.';
