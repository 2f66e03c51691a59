-- Return all data of a user as one portable JSON document for the user and for `import_user`.
-- The document is {format, version, exported_at, user_id, embedding_model, embedding_dimensions,
-- system_prompts, tables: {name: [row, …]}}. Derived rows are left out (search rows, receipts,
-- leases, cursors). A standby also omits the unlogged tables (working memory, access log). jsonb
-- limits a document to 256 MB.
-- Raises  RC001 unknown user.
create or replace function recall.export_user(
    p_user_id uuid
)
returns jsonb
language plpgsql
stable
parallel safe
security definer
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_custom_plan
set timezone = 'UTC'
set datestyle = 'ISO'
set extra_float_digits = '1'
set bytea_output = 'hex'
as $function$
declare
    v_settings recall.settings;
    v_tables   jsonb := jsonb '{}';
    v_prompts  jsonb;
    v_table    regclass;
    v_name     text;
begin
    perform recall._check_user(p_user_id);
    if not exists (select from recall.users as u where u.user_id = p_user_id) then
        perform recall._unknown_user(p_user_id);
    end if;

    for v_table, v_name in
        select t.name, c.relname
          from recall._user_tables() as t
          join pg_catalog.pg_class as c on c.oid = t.name
         where t.is_exported
           and not (t.is_unlogged and pg_is_in_recovery())
         order by t.place
    loop
        v_tables := v_tables || jsonb_build_object(
            v_name,
            recall._export_rows(p_user_id, v_table, recall._left_out(v_table)));
    end loop;
    -- Users share prompts; export the token count of this user's own sessions.
    select coalesce(jsonb_agg(jsonb_build_object('content', s.content, 'token_count', s.tokens)
                              order by s.system_prompt_hash), '[]')
      into v_prompts
      from (
            select t.system_prompt_hash, max(t.system_prompt_tokens) as tokens, (
                       select p.content
                         from recall.system_prompts as p
                        where p.prompt_hash = t.system_prompt_hash
                        limit 1) as content
              from recall.sessions as t
             where t.user_id = p_user_id
             group by t.system_prompt_hash
           ) as s
     where s.content is not null;
    select s.* into v_settings from recall.settings as s;

    return jsonb_build_object(
        'format', 'pgrecall-user',
        'version', 1,
        'exported_at', clock_timestamp(),
        'user_id', p_user_id,
        'embedding_model', v_settings.embedding_model,
        'embedding_dimensions', v_settings.embedding_dimensions,
        'system_prompts', v_prompts,
        'tables', v_tables);
end;
$function$;

comment on function recall.export_user(uuid) is
    'Return all data of a user as one JSON document that import_user accepts. Derived rows '
    '(search rows, receipts, leases) are left out. jsonb limits the document to 256 MB. RC001: '
    'the user does not exist.';
