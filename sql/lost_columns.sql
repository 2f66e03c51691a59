-- Refuse to upgrade a schema whose columns with vectors were dropped together with their extension.
-- The statements on these columns would fail one by one, and name no remedy.
-- Raises  RC007 with the missing columns.
do $lost_columns$
declare
    v_lost text;
begin
    if current_setting('recall.is_upgrade')::boolean then
        v_lost := recall._lost_columns();
    end if;
    if v_lost is not null then
        raise exception using
            errcode = 'RC007',
            message = format('columns of schema recall are missing: %s', v_lost),
            detail  = 'An extension was dropped, and its columns with it. The texts are still '
                      'there.',
            hint    = 'Keep the schema, and restore a backup from before. Without a backup see "A '
                      'dropped extension" in docs/operations/upgrade.md.';
    end if;
end;
$lost_columns$;
