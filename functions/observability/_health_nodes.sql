-- Report the nodes of a Citus cluster that do not answer, or have another release of the schema.
-- Returns no row on a server that is not distributed.
create or replace function recall._health_nodes()
returns table (
    name   text,
    status text,
    detail text,
    hint   text
)
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_count  bigint;
    v_silent text;
    v_other  text;
begin
    if not recall._is_distributed() then
        return;
    end if;

    execute 'select count(distinct (c.to_nodename, c.to_nodeport)),'
            '       string_agg(distinct format(''%s:%s from %s:%s'', c.to_nodename, c.to_nodeport,'
            '                                  c.from_nodename, c.from_nodeport), '', '')'
            '       filter (where c.result is not true)'
            '  from pg_catalog.citus_check_cluster_node_health() as c'
       into v_count, v_silent;
    if v_silent is null then
        execute 'select string_agg(format(''%s:%s has %s'', w.nodename, w.nodeport, w.result),'
                '                  '', '')'
                '  from pg_catalog.run_command_on_workers(''select recall.version()'') as w'
                ' where w.result <> recall.version()'
           into v_other;
    end if;

    return query
    select 'nodes',
           case when v_silent is null and v_other is null then 'ok' else 'fail' end,
           coalesce('no connection to ' || v_silent, v_other || ', this node ' || recall.version(),
                    format('%s nodes answer each other', v_count)),
           case when v_silent is not null
                then 'Start the node, and let recall''s owner connect to it from the others.'
                when v_other is not null then 'select recall.distribute();' end;
end;
$function$;

comment on function recall._health_nodes() is
    'Health of a Citus cluster: whether its nodes answer each other and have the same release; no '
    'row on one server.';
