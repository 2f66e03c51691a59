-- Say whether a query names nothing to look for: no words, a greeting, or the user as a whole.
-- It tests the phrases of all languages. A missing phrase costs a context its memories; a wrong one
-- only packs memories that would have been left out.
create or replace function recall._is_unspecific(
    p_query    text,
    p_language regconfig
)
returns boolean
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_query constant text := normalize(lower(left(p_query, 1000) collate pg_c_utf8), nfkc);
begin
    -- One \m before all phrases: before each, the match takes three times as long.
    return v_query collate pg_c_utf8 ~
           ('\m(?:(?:about|know|remember|describe|profile|summari[sz]e) (?:me|myself)|who am i'
            '|know of me|über mich|von mir|wer bin ich|kennst du mich|erinnerst du dich an mich'
            '|beschreib\w* mich'
            '|(?:sur|de) moi|qui suis[ -]je|me connais|décris[ -]moi'
            '|(?:de|sobre|a) mí|quién soy|me (?:conoces|recuerdas)'
            '|(?:di|a) me|chi sono|mi conosci'
            '|(?:sobre|de) mim|quem (?:sou eu|eu sou)'
            '|over (?:mij|me)|wie ben ik|om mig|vem är jag|o mnie|kim jestem'
            '|hakkımda|ben kimim|обо мне|кто я|меня (?:знаешь|помнишь))\M'
            '|\m(?:me conhece|beni tanı)'
            '|(?:私|僕|俺|わたし|自分)(?:について|のこと|は誰)|(?:了解|知道|关于|關於|记得|記得)我|我是[谁誰]'
            '|(?:나|저)에 대해|내가 누구|제가 누구|عني|من أنا')
        or v_query collate pg_c_utf8 ~
           ('^\W*(hi|hiya|hello|hey|good (morning|afternoon|evening)|hallo|moin|servus|grüß gott'
            '|guten (tag|morgen|abend)|bonjour|bonsoir|salut|coucou|hola|buenos días'
            '|buenas (tardes|noches)|ciao|salve|buongiorno|buonasera|olá|oi|bom dia'
            '|boa (tarde|noite)|hoi|goede(morgen|navond)|hej|hejsan|cześć|dzień dobry|merhaba'
            '|selam|günaydın|привет|здравствуйте|добрый день|こんにちは|おはよう(ございます)?'
            '|こんばんは|你好|您好|안녕(하세요)?|مرحبا|السلام عليكم)'
            '( (there|again|zusammen|all|you|everyone))?\W*$')
        or recall._text_words(p_language, v_query) = '';
end;
$function$;

comment on function recall._is_unspecific(text, regconfig) is
    'Whether a query names nothing to look for: no words, a greeting, or the user as a whole.';
