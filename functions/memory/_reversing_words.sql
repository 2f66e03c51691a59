-- recall._reversing_words() -> words that make a longer text another fact than the shorter one
-- Negation, an end, doubt, a condition, somebody else's words or property, a multiple: when one of
-- them is all that two texts differ by, they do not say the same. Common languages side by side; a
-- word too many only keeps two memories apart, a word too few merges what is different.
create or replace function recall._reversing_words()
returns text[]
language sql
immutable
parallel safe
return string_to_array(
    -- negation
    'no not non none never neither nor nobody nothing nowhere without cannot cant dont doesnt '
    'didnt isnt arent wasnt werent wont hardly barely scarcely rarely seldom little few lacks '
    'lacking lack anti against contrary opposite opposed free unable impossible false falsely '
    'wrong wrongly untrue incorrect fake myth joke joking kidding fictional imaginary '
    -- an end, or the past
    'stop stops stopped stopping quit quits quitting end ends ended ending finish finished former '
    'formerly ex previous previously past used anymore longer once earlier originally '
    'initially ago until till was were had did gone left leaving lost sold abandoned cancelled '
    'canceled dropped deleted removed retired resigned fired divorced separated died dead deceased '
    'late expired over discontinued switched replaced broke broken gave give gives given away off '
    'temporary temporarily '
    -- doubt, wish, future
    'would could might may maybe perhaps possibly probably apparently allegedly supposedly almost '
    'nearly want wants wanted wish wishes wished hope hopes hoped plan plans planned planning '
    'intend intends consider considers considered considering try tries tried trying going will '
    'should think thinks thought dream dreams pretend pretends aspiring potential prospective '
    'future failed fails failing refuses refused rejects rejected denies denied avoids hates '
    'dislikes fears yet tomorrow '
    -- a condition, an exception, a contrast, a degree
    'if unless whether except excluding only but or instead rather than besides less least too '
    -- somebody else, or his words
    'says said say claims claimed tells told asks asked reports reported believes believed knows '
    'heard hears suspects assumes who whose whom someone somebody everyone everybody anyone '
    'mother father mom mum dad parent parents sister brother sibling wife husband '
    'spouse son daughter child children kid kids cousin aunt uncle niece nephew grandmother '
    'grandfather girlfriend boyfriend fiancé fiancée neighbor neighbour roommate landlord '
    -- another name or office, a multiple
    'new north south east west northern southern eastern western vice deputy assistant acting '
    'interim honorary half double twice triple dozen hundred thousand million billion percent '
    -- German, Dutch, French, Spanish, Portuguese, Italian, Polish, Swedish, Turkish, Russian
    'nicht kein keine keinen nie niemals ohne früher ehemals ehemalig ehemaliger niet geen nooit '
    'zonder ne pas jamais sans plus aucun aucune nunca jamás sin ya tampoco não nem sem mai senza '
    'nie bez nigdy inte aldrig utan değil yok не нет никогда без больше бывший', ' ');

comment on function recall._reversing_words() is
    'Words whose surplus keeps two texts from being the same fact.';
