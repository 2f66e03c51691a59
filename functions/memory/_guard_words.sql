-- Return the words of a text in order, for the near-duplicate guard.
-- Lower case, without quotes, brackets and articles; a comma replaces any sign that sets a part
-- off. "doesn't" is "does not", and number words up to twelve are digits. Signs that may matter
-- (c++, -5, 10%, :-() stay.
-- Cost: 1 µs a word. A query with window functions took ten times as long.
create or replace function recall._guard_words(
    p_text text
)
returns text[]
language plpgsql
immutable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_numbers  constant text[] :=
        '{zero,one,two,three,four,five,six,seven,eight,nine,ten,eleven,twelve}'::text[];
    -- "a" after one of these is a letter
    v_labels   constant text   :=
        '^(vitamin|hepatitis|influenza|type|grade|class|group|plan|level|category|section|team'
        '|option|model|terminal|building|note|key|letter)s?$';
    v_parts    constant text[] := regexp_split_to_array(
        btrim(recall._written_out(translate(normalize(p_text, nfkc), '’‘', ''''''))
                  collate pg_c_utf8,
              E' \t\n\r'),
        '\s+');
    v_count    constant integer := cardinality(v_parts);
    v_words    text[]           := '{}'::text[];
    v_part     text collate pg_c_utf8;
    v_bare     text collate pg_c_utf8;
    v_previous text collate pg_c_utf8;
    v_is_kept  boolean;
begin
    for v_place in 1 .. v_count loop
        v_part := v_parts[v_place];
        v_bare := v_part;
        if v_part ~ '[^[:alnum:]]' then
            v_bare := regexp_replace(
                v_part, '^[][(){}"''“”«»„¿¡]+|[][(){}"''“”«».,;:!?…。、，！？]+$', '', 'g');
            if v_part ~ '^[[({“«„]|^[-–—]$' then
                v_words := v_words || ','::text;
            end if;
        end if;

        if v_bare in ('a', 'A') then
            v_is_kept := v_bare = 'A' and v_place > 1 or v_place = v_count
                         or lower(v_previous) ~ v_labels;
        elsif v_bare = '' then
            v_is_kept := v_part !~ '^([-–—&/|•*]|[]["''“”«».,;!?…。、，！？]+)$';
        else
            v_is_kept := v_bare not in ('an', 'the')
                         and not (v_place = 1 and v_bare in ('An', 'The'));
        end if;
        if v_is_kept and v_part <> '' then
            v_words := v_words || coalesce(
                (array_position(v_numbers, lower(coalesce(nullif(v_bare, ''), v_part))) - 1)::text,
                lower(coalesce(nullif(v_bare, ''), v_part)));
        end if;

        if v_place < v_count and v_part ~ '[],;:)}”»]$' then
            v_words := v_words || ','::text;
        end if;
        v_previous := v_bare;
    end loop;
    return v_words;
end;
$function$;

comment on function recall._guard_words(text) is
    'Words of a text in order: lower case, without articles; a comma for each break.';
