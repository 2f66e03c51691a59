-- Return the words that make a longer text another fact than the shorter one.
-- Besides the negating words: an end, doubt, a condition, fiction, other people's words or
-- property, a multiple. A superfluous word in this list only keeps two memories apart; a missing
-- one merges different facts.
create or replace function recall._reversing_words()
returns text[]
language sql
immutable
parallel safe
return recall._negating_words()
    -- contradiction
    || string_to_array(
        'anti against contrary opposite opposed free false falsely wrong wrongly untrue '
        'incorrect fake', ' ')
    -- an end, or the past
    || string_to_array(
        'end ends ended ending finish finished former formerly ex previous previously past used '
        'anymore longer once earlier originally initially ago until till was were had did gone '
        'left leaving lost sold abandoned cancelled canceled dropped deleted removed retired '
        'resigned fired divorced separated died dead deceased late expired over discontinued '
        'switched replaced broke broken gave give gives given away off temporary temporarily '
        'revoked suspended next other starting be', ' ')
    -- doubt, wish, future
    || string_to_array(
        'would could might may maybe perhaps possibly probably apparently allegedly supposedly '
        'almost nearly want wants wanted wish wishes wished hope hopes hoped plan plans planned '
        'planning intend intends consider considers considered considering try tries tried '
        'trying going will should think thinks thought pretend pretends aspiring potential '
        'prospective future failed fails failing yet tomorrow', ' ')
    -- a condition, an exception, a contrast, a degree
    || string_to_array(
        'if unless whether except excluding but or instead rather than besides less least too '
        'provided providing supposing assuming case condition conditions long when while', ' ')
    -- fiction
    || string_to_array(
        'myth joke joking kidding fictional imaginary dream dreams dreamed novel novels story '
        'stories tale tales game games movie movies film films play plays theory fantasy '
        'imagination simulation role pretense rumor rumors rumour rumours mug motto television '
        'tv stage paper name', ' ')
    -- somebody else, or his words
    || string_to_array(
        'according says said say claims claimed tells told asks asked reports reported believes '
        'believed knows heard hears suspects assumes who whose whom someone somebody everyone '
        'everybody anyone mother father mom mum dad parent parents sister brother sibling wife '
        'husband spouse son daughter child children kid kids cousin aunt uncle niece nephew '
        'grandmother grandfather girlfriend boyfriend fiancé fiancée neighbor neighbour '
        'roommate landlord law', ' ')
    -- another name or office, a multiple
    || string_to_array(
        'new north south east west northern southern eastern western vice deputy assistant '
        'acting interim honorary half double twice triple dozen hundred thousand million '
        'billion percent', ' ')
    -- German, Russian
    || string_to_array(
        'früher ehemals ehemalig ehemaliger больше бывший', ' ');

comment on function recall._reversing_words() is
    'Words that keep two texts from being the same fact when only one text has them.';
