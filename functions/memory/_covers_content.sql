-- Tell whether folded lower-case words cover a memory's text, each word used once.
-- Every content word of the text must occur; above three words, one may be missing. Names and
-- numbers must be equal, and other words may be inflected.
create or replace function recall._covers_content(
    p_content text,
    p_words   text
)
returns boolean
language plpgsql
immutable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_empty constant text[] := string_to_array(
        'user users s a an the is are am was be been being has have had do does did to in '
        'at of for '
        'with as on and or that this it his her their they he she now very also by from der '
        'die das '
        'den dem ein eine einen einem ist hat zu mit als und im am el la los las un una es '
        'está en '
        'de del y con por le les des du est a au aux et dans il lo gli i è ha di e o os as '
        'é tem em '
        'no na um uma de het een is heeft op van en в на и с у не not keine kein nicht pas '
        'non não '
        'niet ya plus mehr no longer any more anymore never nie nunca jamais mai', ' ');
    v_left    text[]  := string_to_array(p_words, ' ');
    v_content text[]  := string_to_array(recall._statement_words(
        regexp_replace(p_content, 'ユーザー|用户|用戶|使用者|사용자[는가은의]?', ' ', 'g')), ' ');
    v_missing integer := 0;
    v_count   integer := 0;
    v_word    text;
    v_low     text;
    v_place   integer;
begin
    for v_index in 1 .. cardinality(v_content) loop
        v_word := v_content[v_index];
        v_low  := lower(v_word collate pg_c_utf8);
        continue when v_low = any (v_empty) or v_low ~ '^[ぁ-ゖー]$' or v_low = '';
        v_count := v_count + 1;
        select w.place
          into v_place
          from unnest(v_left) with ordinality as w (word, place)
         where w.word = v_low
            or left(w.word, 1) = left(v_low, 1)
               and recall._is_inflected(v_low, w.word,
                                        v_word ~ '\d' or v_index > 1 and v_word <> v_low)
         order by w.word = v_low desc, w.place
         limit 1;
        if v_place is null then
            v_missing := v_missing + 1;
            if v_word ~ '\d' or v_word <> v_low then
                return false;
            end if;
        else
            v_left[v_place] := '';
        end if;
    end loop;
    return v_count > 0 and v_missing <= (v_count > 3)::integer;
end;
$function$;

comment on function recall._covers_content(text, text) is
    'Whether words cover a memory''s text, word by word.';
