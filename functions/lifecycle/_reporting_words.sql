-- Return the words by which an episode reports, whatever it is about.
-- Extraction begins most episodes alike ("User asked how …; that fixed it."), so these words do not
-- show that two episodes are about one matter. Each word is returned stemmed and unstemmed.
create or replace function recall._reporting_words(
    p_language regconfig
)
returns text[]
language plpgsql
immutable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_words constant text :=
        -- English
        'user users asked asking ask wanted wants want needed needs need wondered reported reports '
        'said says told complained mentioned requested tried tries got get gave made make used '
        'using use found find looked compared compare comparison chose decided planned wrote '
        'drafted learned helped help helps worked works working work fixed fix solved solve '
        'resolved problem problems issue issues trouble question answer suggested suggestion new '
        'one two three four five several today yesterday week day month time again first last '
        -- German
        'Nutzer Nutzerin Benutzer Benutzerin Anwender fragte fragt gefragt wollte will brauchte '
        'suchte sagte berichtete meldete verglich vergleichen verglichen erklären fand half hilft '
        'geholfen löste gelöst funktionierte Problem Probleme Frage Antwort erneut wieder neue '
        'neuen eins zwei drei vier heute gestern Woche Tag Monat plante schrieb ließ '
        -- Spanish
        'usuario usuaria preguntó pregunta pidió quería quiso necesitaba dijo informó buscó '
        'comparó eligió ayudó ayuda funcionó resolvió solucionó problema problemas nuevo nueva '
        'cómo qué uno dos tres cuatro hoy ayer semana día mes otra vez '
        -- French
        'utilisateur utilisatrice demandé demande voulait voulu cherché comparé choisi dit signalé '
        'aidé aide résolu fonctionné problème problèmes question réponse nouveau nouvelle comment '
        'un deux trois quatre encore aujourd hui hier semaine jour mois '
        -- Italian
        'utente chiesto chiede voleva cercato confrontato scelto detto segnalato aiutato aiuto '
        'risolto funzionato problema problemi domanda nuovo nuova come due tre oggi settimana '
        'giorno mese ancora '
        -- Portuguese
        'usuário utilizador perguntou pediu queria quis procurou comparou escolheu disse ajudou '
        'ajuda resolveu funcionou problema problemas novo nova dois duas três hoje semana dia mês '
        -- Dutch
        'gebruiker vroeg wilde zocht vergeleek koos zei meldde hielp hulp loste werkte probleem '
        'problemen vraag nieuw nieuwe twee drie vier vandaag week dag maand opnieuw '
        -- Polish
        'użytkownik użytkowniczka zapytał zapytała pytał chciał chciała szukał porównał wybrał '
        'powiedział zgłosił pomógł pomogło pomoc rozwiązał problem pytanie nowy nowa jak dwa trzy '
        'dzisiaj tydzień dzień miesiąc znowu '
        -- Russian
        'пользователь пользователя спросил спросила попросил попросила хотел хотела искал сравнил '
        'выбрал сказал сообщил помогло помог помощь решил проблема проблемы вопрос новый новая два '
        'три четыре сегодня неделя день месяц снова опять '
        -- Turkish
        'kullanıcı sordu istedi aradı karşılaştırdı seçti söyledi bildirdi yardım çözdü çalıştı '
        'sorun sorunu soru yeni iki üç bugün hafta gün ay yine tekrar';
begin
    return tsvector_to_array(recall._text_words(p_language, v_words)
                             || recall._text_words('pg_catalog.simple', v_words));
end;
$function$;

comment on function recall._reporting_words(regconfig) is
    'Words that episodes share whatever they are about.';
