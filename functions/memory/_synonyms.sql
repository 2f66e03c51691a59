-- Return the words of a language that mean the same as another one, as {word: concept}.
-- The list has only words with that meaning in every context. Words with an empty concept carry no
-- information: "is called", "has".
create or replace function recall._synonyms(
    p_language text
)
returns jsonb
language sql
immutable
parallel safe
return (
    select coalesce(jsonb_object_agg(t.word, c.concept), '{}')
      from (values
        ('english', '', 'has have having use uses using name names suffers currently really '
                        'language'),
        ('english', 'live', 'lives live living resides residing home dwells'),
        ('english', 'afraid', 'afraid scared fear fears frightened terrified'),
        ('english', 'mother', 'mother mom mum mommy mama'),
        ('english', 'father', 'father dad daddy papa'),
        ('english', 'child', 'child children kid kids'),
        ('english', 'job', 'job profession occupation'),
        ('english', 'answer', 'answer answers reply replies response responses'),
        ('english', 'short', 'short brief concise'),
        ('english', 'begin', 'begin begins start starts starting'),
        ('english', 'buy', 'buy buys buying purchase purchases'),
        ('english', 'class', 'class classes lesson lessons'),
        ('english', 'movie', 'movie movies film films'),
        ('english', 'car', 'car cars automobile'),
        ('english', 'bike', 'bike bikes bicycle bicycles'),
        ('english', 'apartment', 'apartment apartments flat flats'),
        ('english', 'phone', 'phone phones telephone'),
        ('english', 'dish', 'dish dishes food foods meals cuisine'),
        ('english', 'km', 'km kilometer kilometers kilometre kilometres'),
        ('english', 'kg', 'kg kilo kilos kilogram kilograms'),
        ('english', 'minute', 'min mins minute minutes'),
        ('english', 'hour', 'h hr hrs hour hours'),
        ('english', 'euro', 'euro euros eur €'),
        ('english', 'dollar', 'dollar dollars usd $'),
        ('english', 'percent', 'percent % per-cent'),
        ('english', 'favorite', 'favorite favourite'),
        ('english', 'color', 'color colour colors colours'),
        ('english', 'postgres', 'postgres postgresql'),
        ('german', '', 'hat haben nutzt verwendet benutzt heißt namens gerade sprache'),
        ('german', 'wohnt', 'wohnt lebt wohnen leben wohnhaft'),
        ('german', 'beruf', 'beruf arbeitet tätig'),
        ('german', 'angst', 'angst fürchtet'),
        ('german', 'mutter', 'mutter mama'),
        ('german', 'vater', 'vater papa'),
        ('german', 'kurz', 'kurz kurze knappe knapp'),
        ('french', '', 'a ont utilise appelle nomme souffre actuellement'),
        ('french', 'habite', 'habite vit réside'),
        ('french', 'travaille', 'travaille métier profession emploi'),
        ('french', 'peur', 'peur craint'),
        ('french', 'court', 'courtes courte court brève brèves bref concises'),
        ('spanish', '', 'tiene usa utiliza llama llamado llamada actualmente sufre'),
        ('spanish', 'vive', 'vive reside mora'),
        ('spanish', 'trabaja', 'trabaja profesión empleo'),
        ('spanish', 'corto', 'corta cortas corto cortos breve breves'),
        ('italian', '', 'ha usa utilizza chiama chiamato chiamata attualmente soffre'),
        ('italian', 'vive', 'vive abita risiede'),
        ('italian', 'lavora', 'lavora lavoro professione'),
        ('italian', 'breve', 'breve brevi corte corta conciso concise'),
        ('portuguese', '', 'tem usa utiliza chama chamado chamada atualmente sofre é'),
        ('portuguese', 'mora', 'mora vive reside'),
        ('portuguese', 'trabalha', 'trabalha profissão emprego'),
        ('portuguese', 'curto', 'curta curtas curto curtos breve breves'),
        ('dutch', '', 'heeft gebruikt heet genaamd momenteel'),
        ('dutch', 'woont', 'woont leeft'),
        ('dutch', 'werkt', 'werkt beroep'),
        ('russian', '', 'есть использует зовут сейчас имеет язык'),
        ('russian', 'живёт', 'живёт живет проживает'),
        ('russian', 'работает', 'работает профессия'),
        ('russian', 'учит', 'учит изучает'),
        ('cjk', '', 'いる ある です ます する している います あります という')
           ) as c (language, concept, words)
     cross join unnest(string_to_array(c.words, ' ')) as t (word)
     where c.language = p_language
);

comment on function recall._synonyms(text) is
    'Words of a language with the same meaning, with the concept they share.';
