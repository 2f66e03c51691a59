-- Measure the cosine similarity of unrelated texts under a model.
-- It compares memories of different users, two of each. o_users is 1 where nothing can be compared.
create or replace function recall._measure_unrelated(
    p_model         text,
    out o_users     bigint,
    out o_mean      real,
    out o_deviation real,
    out o_pairs     bigint
)
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, recall, pg_temp
as $function$
begin
    with some_user as materialized (
        select u.user_id
          from recall.users as u
         where u.active_memory_count > 0
         order by random()
         limit 200
    ),
    sample as materialized (
        select u.user_id, v.embedding
          from some_user as u
         cross join lateral (
                select e.embedding
                  from recall.memory_embedding as e
                 where e.user_id         = u.user_id
                   and e.embedding_model = p_model
                 order by random()
                 limit 2
               ) as v
    )
    select count(distinct a.user_id) + 1,
           avg(1 - recall._cosine_distance(a.embedding, b.embedding)),
           stddev_pop(1 - recall._cosine_distance(a.embedding, b.embedding)), count(*)
      into o_users, o_mean, o_deviation, o_pairs
      from sample as a
      join sample as b on a.user_id < b.user_id;
end;
$function$;

comment on function recall._measure_unrelated(text) is
    'Mean and deviation of the cosine similarity of unrelated texts under a model.';
