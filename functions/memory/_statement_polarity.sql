-- Tell whether folded words affirm (1) or deny (-1) a statement.
-- A request to forget, or "wrong", denies as well; "don't forget" affirms. More than one negation
-- is NULL.
create or replace function recall._statement_polarity(
    p_words text
)
returns integer
language plpgsql
immutable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_affirms constant text :=
        ' (not|never) forget | not only | nicht nur | (nicht|nie) vergessen | no olvides '
        '| pas oublier'
        ' | n oublie pas | non dimenticare | não esqueça | niet vergeten ';
    v_negates constant text :=
        ' (not|no|never|none|nothing|nobody|neither|nor|without|hardly|barely|unlike|except'
        '|stopped'
        '|stop|quit|former|formerly|used to|far from|anything but|nicht|nie|niemals|kein'
        '|keine|keinen'
        '|keinem|keiner|keines|ohne|weder|niemand|nichts|aufgehört|nunca|jamás|nada|nadie|ningún'
        '|ninguna|sin|tampoco|dejé|pas|plus|jamais|aucun|aucune|sans|rien|personne|ni'
        '|arrêté|non|mai'
        '|niente|nessuno|nessuna|senza|neanche|più|não|nem|ninguém|nenhum|nenhuma|sem|parei|niet'
        '|geen|nooit|zonder|niemand|niets|не|нет|никогда|без|ничего|никто|안|forget|delete|remove'
        '|erase|wrong|incorrect|false|untrue|vergiss|vergesse|lösche|entferne|falsch|olvida|borra'
        '|elimina|falso|falsa|incorrecto|oublie|oubliez|efface|supprime|faux|dimentica|cancella'
        '|sbagliato|esquece|esqueça|apaga|errado|vergeet|verwijder|onjuist|забудь|удали|неправда)'
        '(?= )';
    v_signs   constant text :=
        '[不没沒無未别非勿]|な い|な く|ま せ ん|忘 れ|忘 记|忘 掉|删 除|않|아니|없|못';
    v_words   text          := regexp_replace(' ' || p_words || ' ', v_affirms, ' ', 'g');
    v_count   integer;
begin
    v_words := regexp_replace(v_words, ' (no longer) ', ' no ', 'g');
    v_words := regexp_replace(v_words, ' (any ?more|mehr|больше|más|mais) ', ' ', 'g');
    v_count := regexp_count(v_words, v_negates) + regexp_count(v_words, v_signs);
    return case v_count when 0 then 1 when 1 then -1 end;
end;
$function$;

comment on function recall._statement_polarity(text) is
    'Whether folded words affirm (1) or deny (-1); NULL when that cannot be told.';
