-- Return the words and tags that two or more of some episodes share, with the episodes' indexes.
-- Left out are numbers, reporting words (_reporting_words), and the stop words of every language of
-- the server: a user may write in another language than settings.language. An encrypted user's
-- episodes have no words; equal tags are equal ciphertexts at most.
create or replace function recall._episode_words(
    p_user_id  uuid,
    p_episodes uuid[],
    p_settings recall.settings
)
returns table (
    word    text,
    indexes integer[]
)
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set jit = off
as $function$
declare
    v_reporting constant text[]          := recall._reporting_words(p_settings.language::regconfig);
    v_stopping  constant regdictionary[] := array(
        select d.oid
          from pg_catalog.pg_ts_dict as d
         where d.dictnamespace = 'pg_catalog'::regnamespace
           and d.dictinitoption ~ 'stopwords');
begin
    return query
    with shared as materialized (
        select l.lexeme, array_agg(distinct i.index::integer) as found
          from unnest(p_episodes) with ordinality as i (id, index)
          join recall.memory_store as m
            on m.user_id = p_user_id and m.memory_id = i.id
         cross join lateral unnest(tsvector_to_array(m.search_vector) || m.tags) as l (lexeme)
         group by l.lexeme
        having count(distinct i.index) > 1
    )
    select s.lexeme, s.found
      from shared as s
     where length(s.lexeme) > 1
       and s.lexeme collate pg_c_utf8 ~ '[[:alpha:]]'
       and s.lexeme <> all (v_reporting)
       and not exists (
               select from unnest(v_stopping) as d (dictionary)
                where ts_lexize(d.dictionary, s.lexeme) = '{}');
end;
$function$;

comment on function recall._episode_words(uuid, uuid[], recall.settings) is
    'Words that say what some of a user''s episodes are about, each with the indexes of those '
    'episodes.';
