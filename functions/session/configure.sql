-- Change settings of the installation.
-- CHECK constraints of the table validate the values.
-- Raises  RC003 unknown key or value out of range, RC007 a size fixed at installation, another
--         embedding model while there are vectors, or require_identity without roles.
create or replace function recall.configure(
    p_changes jsonb
)
returns void
language plpgsql
volatile
parallel unsafe
security definer
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_settings recall.settings;
begin
    perform recall._check_json(p_changes, 'p_changes');
    perform recall._check_settings_keys(p_changes, 'p_changes');

    select s.* into v_settings from recall.settings as s for update;
    if p_changes ? 'embedding_model'
       and p_changes ->> 'embedding_model' is distinct from v_settings.embedding_model
       and (v_settings.hidden_embedding_model is not null
            or exists (select e.user_id from recall.memory_embedding as e)
            or exists (select m.user_id from recall.message_search as m
                        where m.embedding is not null)) then
        raise exception using
            errcode = 'RC007',
            message = format('the vectors here are of %s, and those of two models cannot be '
                             'compared', v_settings.embedding_model),
            hint    = format('Make new ones meanwhile: pgrecall embeddings migrate --to %s',
                             p_changes ->> 'embedding_model');
    end if;
    perform recall._write_settings(v_settings, p_changes);
    if p_changes ? 'require_identity'
       and (select s.require_identity from recall.settings as s)
       and to_regrole(quote_ident(v_settings.role_prefix || '_writer')) is null then
        raise exception using
            errcode = 'RC007',
            message = 'require_identity needs the roles, and this installation has none',
            hint    = 'Each login here acts as the owner, who needs no identity. Install again by '
                      'a role with CREATEROLE, and set recall.owner to hand the schema over.';
    end if;
end;
$function$;

comment on function recall.configure(jsonb) is
    'Change settings of the installation: an object of column names of recall.settings. RC003: an '
    'unknown key, or a value out of range. RC007: a size that is fixed at installation, another '
    'embedding_model while there are vectors, or require_identity without roles.';
