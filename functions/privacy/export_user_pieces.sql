-- Return all data of a user as documents of bounded size, for `import_user` in this order.
-- They are read in one statement, so that they fit together. A user who fits one piece gets the
-- document of `export_user`. Otherwise each piece says its place, has the version 2 and some rows
-- of some tables; the last one has `totals`, by which an import sees that nothing else is there.
-- The first piece has the user's keys, and a session comes with its system prompt. A row that is
-- larger than p_piece_bytes is alone, and one system prompt may go beyond them. NULL: one piece, of
-- any size.
-- Raises  RC001 unknown user, RC003 p_piece_bytes is not between 1 and 134,217,728.
create or replace function recall.export_user_pieces(
    p_user_id     uuid,
    p_piece_bytes integer default 16777216
)
returns table (
    piece    integer,
    document jsonb
)
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
    v_head      jsonb;
    v_export_id constant uuid := gen_random_uuid();
    v_table     regclass;
    v_name      text;
    v_cursor    refcursor;
    v_row       jsonb;
    v_hash      text;
    v_content   text;
    v_size      bigint;
    v_count     bigint;
    v_totals    jsonb   := jsonb '{}';
    -- of the piece that is being filled
    v_bytes     bigint  := 0;
    v_tables    jsonb   := jsonb '{}';
    v_rows      jsonb[];
    v_prompts   jsonb[] := '{}'::jsonb[];
    v_hashes    text[]  := '{}'::text[];
begin
    perform recall._check_user(p_user_id);
    if p_piece_bytes not between 1 and 134217728 then
        raise exception using
            errcode = 'RC003',
            message = format('p_piece_bytes is %s', p_piece_bytes),
            hint    = 'Pass 1 to 134,217,728 bytes, or null for one document.';
    end if;
    if not exists (select from recall.users as u where u.user_id = p_user_id) then
        perform recall._unknown_user(p_user_id);
    end if;
    select jsonb_build_object('format', 'pgrecall-user', 'version', 1,
                              'exported_at', clock_timestamp(), 'user_id', p_user_id,
                              'embedding_model', s.embedding_model,
                              'embedding_dimensions', s.embedding_dimensions)
      into v_head
      from recall.settings as s;

    piece := 1;
    for v_table, v_name in
        select t.name, c.relname
          from recall._user_tables() as t
          join pg_catalog.pg_class as c on c.oid = t.name
         where t.is_exported
           and not (t.is_unlogged and pg_is_in_recovery())
         order by t.place
    loop
        v_rows   := '{}';
        v_count  := 0;
        -- A loop over the query would read fifty rows ahead, each of some megabytes.
        open v_cursor for execute recall._export_query(v_table)
            using p_user_id, recall._left_out(v_table);
        loop
            fetch v_cursor into v_row;
            exit when not found;
            v_size := pg_column_size(v_row);
            if v_bytes > 0 and v_bytes + v_size > p_piece_bytes
               and v_name not in ('users', 'user_keys') then
                document := v_head || jsonb_build_object(
                    'version', 2, 'export_id', v_export_id, 'piece', piece, 'is_last', false,
                    'system_prompts', to_jsonb(v_prompts),
                    'tables', v_tables || jsonb_build_object(v_name, to_jsonb(v_rows)));
                return next;
                piece     := piece + 1;
                v_bytes   := 0;
                v_tables  := '{}';
                v_rows    := '{}';
                v_prompts := '{}';
                v_hashes  := '{}';
            end if;
            v_bytes  := v_bytes + v_size;
            v_rows   := array_append(v_rows, v_row);
            v_count  := v_count + 1;
            continue when v_name <> 'sessions';
            v_hash := v_row ->> 'system_prompt_hash';
            select p.content
              into v_content
              from recall.system_prompts as p
             where p.prompt_hash = v_hash::bytea
               and v_hash <> all (v_hashes)
             limit 1;
            if found then
                v_bytes   := v_bytes + octet_length(v_content);
                v_hashes  := array_append(v_hashes, v_hash);
                v_prompts := array_append(v_prompts, jsonb_build_object(
                    'content', v_content,
                    'token_count', v_row -> 'system_prompt_tokens'));
            end if;
        end loop;
        close v_cursor;
        v_tables := v_tables || jsonb_build_object(v_name, to_jsonb(v_rows));
        v_totals := v_totals || jsonb_build_object(v_name, v_count);
    end loop;
    document := v_head
        || jsonb_build_object('system_prompts', to_jsonb(v_prompts), 'tables', v_tables)
        || case
               when piece = 1 then '{}'
               else jsonb_build_object('version', 2, 'export_id', v_export_id, 'piece', piece,
                                       'is_last', true, 'totals', v_totals)
           end;
    return next;
end;
$function$;

comment on function recall.export_user_pieces(uuid, integer) is
    'Return all data of a user as documents of p_piece_bytes at most, or of one row that is '
    'larger. Pass them to import_user in this order, in one transaction. A user who fits one '
    'gets the document of export_user. RC001: the user does not exist. RC003: p_piece_bytes is '
    'out of range.';
