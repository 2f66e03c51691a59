-- Return the numbers two to twelve as words of a language, as {word: number}.
create or replace function recall._number_words(
    p_language text
)
returns jsonb
language sql
immutable
parallel safe
return (
    select coalesce(jsonb_object_agg(w.word, (w.place + 1)::text), '{}')
      from (values
            ('english', 'two three four five six seven eight nine ten eleven twelve'),
            ('german', 'zwei drei vier fünf sechs sieben acht neun zehn elf zwölf'),
            ('french', 'deux trois quatre cinq six sept huit neuf dix onze douze'),
            ('spanish', 'dos tres cuatro cinco seis siete ocho nueve diez once doce'),
            ('italian', 'due tre quattro cinque sei sette otto nove dieci undici dodici'),
            ('portuguese', 'dois três quatro cinco seis sete oito nove dez onze doze'),
            ('portuguese', 'duas'),
            ('dutch', 'twee drie vier vijf zes zeven acht negen tien elf twaalf'),
            ('russian', 'два три четыре пять шесть семь восемь девять десять'),
            ('russian', 'две'),
            ('russian', 'двух трёх четырёх пяти шести семи восьми девяти десяти'),
            ('cjk', '二 三 四 五 六 七 八 九 十'),
            ('cjk', '两')
           ) as n (language, words)
     cross join unnest(string_to_array(n.words, ' ')) with ordinality as w (word, place)
     where n.language = p_language
);

comment on function recall._number_words(text) is
    'Number words of a language, two to twelve.';
