-- Return the words that deny, end or limit what they stand with.
-- As a surplus they change a fact. In both texts they reverse the effect of detail: "eats no fish
-- after noon" says less than "eats no fish".
create or replace function recall._negating_words()
returns text[]
language sql
immutable
parallel safe
return string_to_array(
    'no not non none never neither nor nobody nothing nowhere without cannot cant dont doesnt '
    'didnt isnt arent wasnt werent wont hardly barely scarcely rarely seldom little few lacks '
    'lacking lack unable impossible only zero 0 '
    'stop stops stopped stopping quit quits quitting avoid avoids avoiding refuse refuses refused '
    'reject rejects rejected deny denies denied hate hates hated dislike dislikes disliked fear '
    'fears distrusts distrust opposes oppose forbids forbid bans skips skip '
    -- German, Dutch, French, Spanish, Portuguese, Italian, Polish, Swedish, Turkish, Russian
    'nicht kein keine keinen nie niemals ohne niet geen nooit zonder ne pas jamais sans plus aucun '
    'aucune nunca jamás sin ya tampoco não nem sem mai senza nie bez nigdy inte aldrig utan değil '
    'yok не нет никогда без', ' ');

comment on function recall._negating_words() is
    'Words that deny, end or limit what they stand with, in several languages.';
