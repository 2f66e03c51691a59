-- Split Chinese, Japanese or Korean text into words, and replace signs by their meaning.
-- ない and 不 become " #not ". Each Han character becomes a word. Single hiragana and common verb
-- endings, which are grammar, are removed.
create or replace function recall._spaced_signs(
    p_text text
)
returns text
language plpgsql
immutable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_text    text collate pg_c_utf8 := regexp_replace(
        p_text, 'ユーザー|用户|用戶|使用者|사용자(는|가|의|에게|은)?', ' ', 'g');
    v_meaning text;
    v_signs   text;
begin
    for v_meaning, v_signs in
        select m.meaning, m.signs
          from (values
            ('not', 'ません|ない|なく|なかった|不|没|沒|無|无|非|别|未|않|안 |못|없|아니'),
            ('end', 'もう|もはや|やめ|辞め|止め|再也|再|戒|그만|더 이상'),
            ('like', '好き|好む|好み|気に入|喜欢|喜歡|爱|愛|偏好|좋아|선호|즐'),
            ('only', 'だけ|のみ|しか|只|仅|오직|만 '),
            ('except', '以外|除|外に|제외|외에'),
            ('if', 'たら|なら|場合|とき|時に|如果|若|只要|면 '),
            ('maybe', 'かもしれ|たぶん|恐らく|おそらく|也许|可能|或许|大概|아마|수도'),
            ('wish', 'たい|つもり|予定|希望|想|打算|计划|싶|계획|예정'),
            ('must', 'べき|必要|必须|应该|必須|해야'),
            ('past', 'ました|でした|だった|かつて|以前|曾|过去|過去|었|았|였|했'),
            ('always', 'いつも|常に|毎|全て|すべて|总|每|一直|항상|매일|매주|모든'),
            ('some', '時々|ときどき|有时|가끔'),
            ('cause', 'せいで|おかげ|ので|ため|だから|因为|所以|由于|때문|해서'),
            ('often', 'よく|普段|経常|通常|经常|平时|자주|보통'),
            ('rarely', 'めったに|あまり|ほとんど|很少|거의'),
            ('before', 'まで|之前|전에|까지'),
            ('after', 'から|以降|之后|以后|부터'),
            ('than', 'より|比|보다'),
            ('or', 'または|或|또는|あるいは'),
            ('too', 'すぎ|太')) as m (meaning, signs)
         -- Each sign compiles a regular expression, and most texts have few of them.
         where exists (
                   select from string_to_table(m.signs, '|') as s (sign)
                    where strpos(v_text, rtrim(s.sign)) > 0)
    loop
        v_text := regexp_replace(v_text, v_signs, format(' #%s ', v_meaning), 'g');
    end loop;
    v_text := regexp_replace(v_text, '([一-鿿])', ' \1 ', 'g');
    v_text := regexp_replace(v_text, '([ァ-ヿ][ァ-ヿー]*|[[:ascii:]]+)', ' \1 ', 'g');
    v_text := regexp_replace(
        v_text, 'をしている|している|っている|いている|んでいる|ている|でいる|である|です|ます|います|あります'
                '|いる|ある|する|には|では|という|职业|職業', ' ', 'g');
    v_text := regexp_replace(v_text, '([ぁ-ゖ]{2,})|[ぁ-ゖ]', ' \1 ', 'g');
    v_text := regexp_replace(
        v_text, '([가-힣]{2,}?)(은|는|이|가|을|를|에|에서|의|와|과|도|로|으로|하고)(?=[\s.,]|$)', '\1 ', 'g');
    return regexp_replace(v_text, '([。！？；.!?;])', ' \1 ', 'g');
end;
$function$;

comment on function recall._spaced_signs(text) is
    'A Chinese, Japanese or Korean text as words with spaces between them.';
