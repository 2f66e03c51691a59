-- Tell whether a message states something worth keeping.
-- Code, log lines and quotations are ignored; one clause of the rest that is a statement is enough.
-- The last clause of a question is not a statement. After a request and a colon comes the material
-- to work on. pgrecall.encryption._verbatim is the same in Python.
create or replace function recall._is_statement(
    p_text      text,
    p_min_words integer
)
returns boolean
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_text     text := translate(lower(normalize(left(p_text, 4000), nfkc) collate pg_c_utf8),
                                 '’‘', '''''');
    v_sentence text;
    v_clauses  text[];
    v_kind     text;
begin
    v_text := regexp_replace(v_text, '```.*?(```|$)', ' ', 'g');
    v_text := regexp_replace(
        v_text,
        '^[ \t]*>[^\n]*$|"[^"\n]* [^"\n]*"|«[^»\n]* [^»\n]*»|“[^”“\n]* [^”“\n]*[”“]'
        '|„[^”“\n]* [^”“\n]*[”“]|「[^」\n]*」|『[^』\n]*』', ' ', 'gn');
    v_text := regexp_replace(
        v_text,
        '^[ \t]*(?:[\[(]?[a-z_.]*(?:error|exception|traceback|fatal|panic|warn|warning)[\])]?'
        '(?: [0-9(][^:\n]*)?(?::| \()|\[?[0-9]{4}-[0-9]{2}-[0-9]{2}[t ][0-9]{2}:|[$] |>>> '
        '|at [a-z_.$]+\(|(?:select|insert into|update|delete from|create table|alter table'
        '|drop table) [^\n]*(?: from | values| set | where |;$)'
        '|(?:[^\n{}()<>=;|\\$_\[\]]{0,12}[{}()<>=;|\\$_\[\]]){3})[^\n]*', E'\n', 'gn');
    v_text := regexp_replace(regexp_replace(v_text, '[?؟]+', E' ?\n', 'g'),
                             ':(?![0-9/:])', E' :\u0001', 'g');

    foreach v_sentence in array regexp_split_to_array(
        v_text, '[.]+(?: |\n|$)|[!。।]+|\n')
    loop
        v_clauses := regexp_split_to_array(
            v_sentence,
            ',(?![0-9]| *(?:что|чтобы|щоб|що|dass|daß|że|żeby|żebyś|hogy) )|[、;()\u0001]'
            '| [-–—] ');
        for v_place in 1 .. cardinality(v_clauses) loop
            v_kind := recall._clause_kind(v_clauses[v_place], p_min_words);
            if v_kind = 'statement'
               and not (v_place = cardinality(v_clauses) and v_sentence like '% ?') then
                return true;
            end if;
            if v_kind = 'request' and v_clauses[v_place] like '% :' then
                return false;
            end if;
        end loop;
    end loop;
    return false;
end;
$function$;

comment on function recall._is_statement(text, integer) is
    'Whether a message states something worth keeping verbatim: a clause about its author, a '
    'standing instruction, or a statement of at least p_min_words words. Phrases: '
    'recall.verbatim_phrases.';
