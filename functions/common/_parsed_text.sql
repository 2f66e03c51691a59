-- Return the text that PostgreSQL's parser reads in place of a text.
-- Every tsvector is made of it, by _text_words. The parser starts over after each separator of a
-- run such as a_b_c, and at each <!-- without an end: 80,000 characters took more than 20 seconds.
-- So a run ends after 32 separators, and such a <!-- opens no comment. Other text is unchanged.
create or replace function recall._parsed_text(
    p_text text
)
returns text
language plpgsql
immutable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_run  constant text    := '(?:[A-Za-z0-9]*[-_./~]){32}';
    v_text text collate "C" := p_text;
    v_last integer;
begin
    -- Up to 256 characters the parser takes 0.3 ms at most, as long as compiling this expression.
    if length(v_text) > 256 and v_text ~ v_run then
        v_text := regexp_replace(v_text, v_run, '\& ', 'g');
    end if;
    if strpos(v_text, '<!--') > 0 then
        v_last := coalesce(length(v_text) - nullif(strpos(reverse(v_text), '>--'), 0), 0);
        v_text := left(v_text, v_last) || replace(substr(v_text, v_last + 1), '<!--', '< !--');
    end if;
    return v_text;
end;
$function$;

comment on function recall._parsed_text(text) is
    'The text that PostgreSQL''s parser reads in place of a text; bounds the parser''s cost.';
