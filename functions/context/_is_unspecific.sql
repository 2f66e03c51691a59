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
set search_path from current
as $function$
declare
    v_query constant text := normalize(lower(left(p_query, 1000) collate pg_c_utf8), nfkc);
begin
    return v_query collate pg_c_utf8 ~
           ('\m(about|know|remember|describe|profile|summari[sz]e) (me|myself)\M|\mwho am i\M'
            '|\mknow of me\M|\müber mich\M|\mvon mir\M|\mwer bin ich\M|\mkennst du mich\M'
            '|\merinnerst du dich an mich\M|\mbeschreib\w* mich\M'
            '|\m(sur|de) moi\M|\mqui suis[ -]je\M|\mme connais\M|\mdécris[ -]moi\M'
            '|\m(de|sobre|a) mí\M|\mquién soy\M|\mme (conoces|recuerdas)\M'
            '|\m(di|a) me\M|\mchi sono\M|\mmi conosci\M'
            '|\m(sobre|de) mim\M|\mquem (sou eu|eu sou)\M|\mme conhece'
            '|\mover (mij|me)\M|\mwie ben ik\M|\mom mig\M|\mvem är jag\M|\mo mnie\M|\mkim jestem\M'
            '|\mhakkımda\M|\mben kimim\M|\mbeni tanı'
            '|\mобо мне\M|\mкто я\M|\mменя (знаешь|помнишь)\M'
            '|(私|僕|俺|わたし|自分)(について|のこと|は誰)|(了解|知道|关于|關於|记得|記得)我|我是[谁誰]'
            '|(나|저)에 대해|내가 누구|제가 누구|عني|من أنا')
        or v_query collate pg_c_utf8 ~
           ('^\W*(hi|hiya|hello|hey|good (morning|afternoon|evening)|hallo|moin|servus|grüß gott'
            '|guten (tag|morgen|abend)|bonjour|bonsoir|salut|coucou|hola|buenos días'
            '|buenas (tardes|noches)|ciao|salve|buongiorno|buonasera|olá|oi|bom dia'
            '|boa (tarde|noite)|hoi|goede(morgen|navond)|hej|hejsan|cześć|dzień dobry|merhaba'
            '|selam|günaydın|привет|здравствуйте|добрый день|こんにちは|おはよう(ございます)?'
            '|こんばんは|你好|您好|안녕(하세요)?|مرحبا|السلام عليكم)'
            '( (there|again|zusammen|all|you|everyone))?\W*$')
        or to_tsvector(p_language, v_query) = '';
end;
$function$;

comment on function recall._is_unspecific(text, regconfig) is
    'Whether a query names nothing to look for: no words, a greeting, or the user as a whole.';
