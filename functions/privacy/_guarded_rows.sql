-- Return the rows of a document as they may be stored.
-- settings.secrets applies to imports, too, and the call log never stores credentials. Values
-- derived from a text are derived again when it was masked.
-- Raises  RC003.
create or replace function recall._guarded_rows(
    p_table    regclass,
    p_rows     jsonb,
    p_settings recall.settings
)
returns jsonb
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_is_ledger constant boolean := p_table in ('recall.model_calls'::regclass,
        'recall.stream_events'::regclass, 'recall.protocol_events'::regclass);
    v_classes   constant text[]  := recall._ledger_classes(p_settings);
    v_texts     text[];
    v_bodies    text[];
begin
    if p_settings.secrets = 'keep' and not v_is_ledger then
        return p_rows;
    end if;
    select coalesce(array_agg(a.attname) filter (where a.atttypid <> 'bytea'::regtype), '{}'),
           coalesce(array_agg(a.attname) filter (
                        where a.atttypid = 'bytea'::regtype and v_is_ledger), '{}')
      into v_texts, v_bodies
      from pg_catalog.pg_attribute as a
     where a.attrelid = p_table
       and a.attnum > 0
       and a.atttypid in ('text'::regtype, 'text[]'::regtype, 'jsonb'::regtype, 'bytea'::regtype);

    return (
        select coalesce(jsonb_agg(
                   r.item || g.texts || b.bodies
                   || case
                          when g.texts = t.texts then '{}'
                          when p_table = 'recall.memory_store'::regclass then jsonb_build_object(
                              'content_hash', recall._content_hash(g.texts ->> 'content'),
                              'search_vector', recall._text_words(p_settings.language::regconfig,
                                                           g.texts ->> 'content'))
                          when p_table = 'recall.conversation_history'::regclass then
                              jsonb_build_object('content_hash', recall.message_hash(
                                  r.item || g.texts || jsonb_build_object(
                                      'content', coalesce(
                                          nullif(g.texts -> 'content_parts', 'null'),
                                          g.texts -> 'content'))))
                          else '{}'
                      end
                   order by r.place), '[]')
          from jsonb_array_elements(p_rows) with ordinality as r (item, place)
         cross join lateral (
                select coalesce(jsonb_object_agg(e.key, e.value), '{}')
                  from jsonb_each(r.item) as e
                 where e.key = any (v_texts)
               ) as t (texts)
         cross join lateral (
                select case when v_is_ledger then recall._redact_json(t.texts, v_classes)
                            else recall._guard_secrets(t.texts, p_settings,
                                                       format('p_document: a row of %s', p_table))
                       end
               ) as g (texts)
         cross join lateral (
                select coalesce(jsonb_object_agg(
                           e.key, recall._redact_bytes((e.value #>> '{}')::bytea, v_classes)), '{}')
                  from jsonb_each(r.item) as e
                 where e.key = any (v_bodies)
                   and e.value <> 'null'
               ) as b (bodies));
end;
$function$;

comment on function recall._guarded_rows(regclass, jsonb, recall.settings) is
    'Rows of a document with secrets kept, masked or rejected (RC003), as settings.secrets says.';
