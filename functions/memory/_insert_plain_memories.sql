-- Insert those memories of a batch that resemble no other memory, and return their positions.
-- Most of a batch is new, and these rows are inserted together. recall._place_memory places the
-- others one by one, in order. The order of the two steps does not matter: a row is plain only if
-- its text, slot, and vector with words match no other row.
create or replace function recall._insert_plain_memories(
    p_memories   recall.memory_store[],
    p_embeddings recall.jobs.vectors%type,
    p_models     text[],
    p_settings   recall.settings,
    p_job_id     uuid default null
)
returns integer[]
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_generic_plan
set max_parallel_workers_per_gather = 0
set enable_seqscan = off
set jit = off
as $function$
declare
    v_user_id uuid      := p_memories[1].user_id;
    v_near    integer[] := '{}'::integer[];
    v_plain   integer[];
begin
    if p_embeddings is not null then
        v_near := recall._near_places(
            v_user_id, array(select m.content from unnest(p_memories) as m), p_embeddings, p_models,
            p_settings.near_duplicate_distance);
    end if;

    v_plain := array(
        select c.place::integer
          from (
                select m.ordinality as place, m.content_hash, m.slot,
                       row_number() over (partition by m.content_hash order by m.ordinality)
                           as nth_text,
                       row_number() over (partition by m.slot order by m.ordinality)
                           as nth_in_slot
                  from unnest(p_memories) with ordinality as m
               ) as c
          left join lateral (
                select true
                  from recall.memory_store as m
                 where m.user_id      = v_user_id
                   and m.content_hash = c.content_hash
                   and m.is_active
                 limit 1
               ) as same (is_there) on true
          left join lateral (
                select true
                  from recall.memory_store as m
                 where m.user_id = v_user_id
                   and m.slot    = c.slot
                   and m.is_active
                 limit 1
               ) as slotted (is_there) on c.slot is not null
         where c.nth_text = 1
           and (c.slot is null or c.nth_in_slot = 1)
           and same.is_there is null
           and slotted.is_there is null
           and c.place <> all (v_near)
         order by c.place);

    if v_plain <> '{}' then
        perform recall._insert_memories(
            array(select p_memories[p.place] from unnest(v_plain) as p (place)),
            case when p_embeddings is not null
                 then array(select p_embeddings[p.place] from unnest(v_plain) as p (place)) end,
            array(select p_models[p.place] from unnest(v_plain) as p (place)),
            p_job_id => p_job_id, p_settings => p_settings);
    end if;
    return v_plain;
end;
$function$;

comment on function recall._insert_plain_memories(recall.memory_store[], recall.jobs.vectors%type,
    text[], recall.settings, uuid) is
    'Insert those memories of a batch that resemble no other, and return their positions.';
