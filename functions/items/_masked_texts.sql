-- Mask secrets in a list of texts, unless settings.secrets is keep.
create or replace function recall._masked_texts(
    p_texts    text[],
    p_settings recall.settings
)
returns text[]
language sql
immutable
parallel safe
as $function$
    select array(
        select recall._masked(t.item, p_settings)
          from unnest(p_texts) with ordinality as t (item, n)
         order by t.n);
$function$;

comment on function recall._masked_texts(text[], recall.settings) is
    'A list of texts with masked secrets, unless settings.secrets is keep.';
