-- The phrases by which verbatim extraction tells a statement from a question, a request, a courtesy
-- or a remark on the assistant's work: see recall._is_statement. A phrase has one meaning for all
-- languages. Rows that an installation has changed stay as they are.
insert into recall.verbatim_phrases (phrase, place, meaning, language)
select regexp_replace(p.phrase, '([\u0e00-\u0fff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-'
                                '\u9fff\uf900-\ufaff])(?!$)', '\1 ', 'g'),
       v.place, v.meaning, v.language
  from (values
    -- English
    ('en', 'first', 'question',
     'what|what''s|whats|how|how''s|who|who''s|whose|whom|which|why|where|where''s|when|'
     'when''s|is|are|am i|do|does|did|can|can''t you|could|would|will|should|shall|may i|has|'
     'have you|have we|isn''t|aren''t|don''t you|doesn''t|didn''t|won''t|wouldn''t|couldn''t|'
     'wonder|i wonder|i was wondering|im wondering|i''m wondering|do you|what if|what about|'
     'how about|how come|is there|are there any|any chance|any idea|any ideas|any tips|'
     'any suggestions|mind if|who else|and what|and how|and you|and why|or is|or should|best|'
     'cheapest|flights from|flights to|trains from|trains to|directions to|opening hours|'
     'nearest|alternatives to|pros and cons|list of|examples of|history of|causes of|cost of|'
     'number of|capital of|weather in|weather for|weather on|weather today|weather tomorrow|'
     'meaning of|definition of|population of|height of|recipe for|synonyms for|synonym for|'
     'difference between|distance from|distance between|price of|time in|translation of|'
     'symptoms of|side effects of'),
    ('en', 'first', 'request',
     'write|rewrite|translate|summarize|summarise|sum up|explain|show|tell|give|list|fix|make|'
     'create|find|search|look|check|help|compare|draft|shorten|expand|continue|try|add|remove|'
     'change|generate|convert|calculate|compute|read|open|send|sort|run|suggest|recommend|'
     'describe|draw|correct|improve|proofread|edit|go|stop|wait|repeat|sing|play|count|define|'
     'build|implement|refactor|debug|test|update|delete|print|let''s|lets|let me|let us|put|'
     'turn|set|get|pick|choose|take|come up|brainstorm|outline|analyze|analyse|review|'
     'rephrase|paraphrase|simplify|elaborate|design|format|extract|classify|solve|plan|'
     'organize|organise|provide|keep going|carry on|do it|do that|do this|say|see if|'
     'have a look|teach|guess|imagine|pretend|act as|act like|roleplay|book|order|schedule|'
     'remind me how|remind me what|walk me|talk me through|i want you to|i''d like you to|'
     'i would like you to|i need you to|i want to see|i want to know|i''d like to see|'
     'i''d like to know|i would like to know|i need help|i need ideas|answer the|answer this|'
     'answer my|answer that|reply to|respond to|ask|quiz|test me|use this|use the|use that|'
     'replace|move|apply|finish|start|begin|merge|split|cut|reduce|increase|double|one more|'
     'shorter|longer|now do|now write|now make|another one|another example|another version|'
     'another joke|another question|more about|more on|more like|more detail|more details|'
     'more examples|more of|less formal|less text|same for|same thing|same with|same in|'
     'again please|again but|next one|next question|next step|next chapter|next part|rate|'
     'rank|quote|highlight|capitalize|spell|pronounce|transcribe|decode|encode|parse|fetch|'
     'download|rename|recap|evaluate|assess|critique|judge|predict|estimate|identify|'
     'determine|figure out|work out|investigate|research|demonstrate|illustrate|interpret|'
     'justify|prove|derive|plot|sketch|compose|invent|craft|produce|prepare|arrange|combine|'
     'swap|clean up|polish|optimize|optimise|validate|verify|confirm|double check|google|'
     'browse|pull up|point out|break down|break this|break it|tweak|adjust|tone down|reword|'
     'try again|once more|one more time|in one sentence|in other words|in english|in french|'
     'go back|go on|go deeper|name a|name one|name some|name three|name five|name all|'
     'name the|i want a short|i want a list|i want a summary|i want a poem|i want a recipe|'
     'i want a joke|i want an example|i want a better|i want a new version|i want the|'
     'i''d like a list|i''d like a short|i''d like a summary|i''d like an example|'
     'i''d like a recipe|i''d like some ideas|i''d like some help|i would like a list|'
     'i would like a summary|i need a recipe|i need a list|i need a summary|i need a short|'
     'i need a quick|i need an example|i need an idea|i need a poem|i need a joke|'
     'i need some help|i need some ideas|i need your help|i need a hand|i need a translation|'
     'i''m looking for a recipe|i''m looking for ideas|i''m looking for an example|cite|'
     'find out|add a|add some|assume|suppose|let''s say|keep it short|keep it brief|make it|'
     'help me|be more|be less|be brief|be concise today|shall we|come back to|'
     'i''d like option|i want option|i need a regex|i need an explanation|i need an answer|'
     'i need a better|i need a new version|i need a table|i need a version|i need this|'
     'i need that|i need it|i need the|i want a table|i want an answer|i want it|i want this|'
     'i want that|i want another|i want more|i want fewer|i want less|i want two|i want three|'
     'i want five|i want ten|i''d rather have a|i''d rather have it|i''d rather have the|'
     'i would rather have a|i''d like it|i''d like more|i''d like to hear|i''d like a version|'
     'i''d like a table|i''d like another'),
    ('en', 'first', 'courtesy',
     'back in five minutes|back in ten|back in a minute|be right back|i''ll be right back|'
     'i''ll paste it|gimme a|'
     'i reloaded|i''ve reloaded|reloading|reloaded|i reran|i retried|'
     'thanks|thank|thx|ty|cheers|many thanks|much appreciated|appreciate|i appreciate|'
     'i''m grateful|ok|okay|k|okey|alright|all right|all good|sure|fine|great|good|nice|cool|'
     'awesome|perfect|excellent|amazing|wonderful|fantastic|brilliant|lovely|super|neat|sweet|'
     'wow|haha|hahaha|lol|lmao|hehe|yay|hmm|hm|oops|sorry|my bad|excuse me|pardon|no problem|'
     'no worries|no thanks|no thank|no need|no idea|no way|no rush|no that''s|no it''s|no you|'
     'no not|no i mean|no please|no go|no wait|no stop|no wonder|no doubt|hello|hi|hey|hiya|'
     'yo|greetings|bye|goodbye|good bye|see you|see ya|cya|talk to you|take care|welcome|'
     'you''re welcome|congrats|congratulations|merry|got it|gotcha|understood|i see|i get it|'
     'i got it|i agree|i disagree|i think so|i think you|i think that''s|i think this|'
     'i think it|i guess|i hope|i suppose|i believe you|i mean|i meant|i don''t understand|'
     'i don''t get|i dont get|i dont understand|i don''t know|i dont know|i don''t think|'
     'i don''t follow|i didn''t get|i didn''t understand|i didn''t mean|i didn''t ask|i asked|'
     'i said|i have a question|i''ve got a question|i have another|i have one more|'
     'i have some questions|i have a few questions|i''m back|i''m here|i''m done|i''m ready|'
     'i''m bored|i''m tired|i''m fine|i''m ok|i''m okay|i''m sorry|i''m sure|i''m not sure|'
     'i''m confused|i''m glad|i''m happy with|i''m kidding|im bored|im fine|im sorry|'
     'im confused|i''m stuck|i love it|i love that|i love this|i like it|i like that|'
     'i like this|i love your|i like your|i hate it|i''ll try|i will try|i''ll do|i''ll think|'
     'i''ll check|i''ll be back|i''ll let you|i can''t believe|i wish you|we''ll see|'
     'we''re done|me too|me neither|my pleasure|my question|my mistake|don''t worry|'
     'don''t bother|do not worry|don''t do that|don''t stop|never mind|nevermind|exactly|'
     'absolutely|definitely|indeed|agreed|wrong|interesting|funny|how nice|how funny|'
     'how interesting|how cool|what a|yes that|yes it|yes this|yes the|yes do|yes go|yep|yup|'
     'yeah that|yeah it|nope|done|sounds|makes sense|fair enough|well done|good job|not bad|'
     'you too|same here|oh no|oh wow|oh i see|ah i see|one moment|one sec|hang on|hold on|brb|'
     'just kidding|kidding|just joking|just curious|just checking|testing|whatever|i get that|'
     'i get your|i get the|i get an error|i get this|i know that|i know this|i know what|'
     'i know you|i know but|i know right|i tried that|i tried this|i tried it|i tried your|'
     'i tried the|i can''t see the|i can''t see it|i can''t see your|i like the second|'
     'i like the first|i like the idea|i like the way|i like the last|i like the new|'
     'i like the tone|i love the idea|i love the way|i love how|i like how you|'
     'i''m just kidding|i''m just joking|i''m just asking|i''m just curious|i''m just testing|'
     'i''m just checking|see you later|happy birthday|happy new|happy holidays|happy friday|'
     'happy to help|i understand that|i understand now|i understand the|i understand your|'
     'i understand what|i understand but|happy monday|right on|right so|that''s true|'
     'true that|sounds good|works for me|works now|works great|works perfectly|works fine|'
     'let me think|let me see|let me check|let me try|let me know|let me get back|'
     'give me a second|give me a minute|long time no|hope you|hope that|hope this|wish me|'
     'nice to meet|nice work|nice one|pleased to|how are you|how''s it|what''s up|'
     'good to know|good point|good idea|good luck|good question|good work|so cool|so nice|'
     'so funny|so true|so good|very good|very nice|very funny|very interesting|very helpful|'
     'very cool|really good|really nice|really cool|really helpful|really funny|pretty good|'
     'pretty cool|love it|love this|love that|like it|ugh|meh|argh|damn|yikes|phew|aww|bless|'
     'as i said|like i said|as i told|as mentioned|i already told|i already said|i told you|'
     'you know what|guess what|i''m listening|i''m waiting|i''m thinking|i''m curious|'
     'i''m impressed|i''m intrigued|i''m with you|i''m all ears|i''ll wait|i''ll take|'
     'i''ll pass|i''ll read|i''ll look|i''ll use|i''ll go with|i doubt|i suppose so|i see now|'
     'i feel better|i was just|i was kidding|i was joking|i was hoping you|i was thinking you|'
     'i still don''t understand|i still don''t get|i still get|i thought you|i thought that|'
     'i thought it|i can do that|i can see|i could use|i couldn''t agree|i beg|i bet|i swear|'
     'i wish it|we''re good|we are done|we can stop|we should stop|we already|i''ll run|'
     'i hadn''t thought|i didn''t think of|i haven''t tried|i haven''t read|i haven''t seen|'
     'i''m not convinced|i put it|i put the|i closed|i opened|i lost the|i was expecting|'
     'i expected|we lost the|i overlooked|i missed the|i missed that|i skipped|tried|i''d cut|'
     'i''d remove|i''d change|i''d move|i''d keep|i''d add|i''d say|i''d start|i''d use|'
     'i''d go|i''d prefer the|i just woke|i just noticed|i just realized|i just realised|'
     'i just remembered|i just wanted|i just want|i just need|we covered|we did|we said|'
     'we talked about|we discussed|we''ve been over|i''ll send|i''ll show|i''ll post|'
     'i''ll paste|i''ll share|i''ll start|i''ll rewrite|i''ll fix|i''ll change|'
     'i''ll keep that|i''ll leave it|one second|no luck|no dice|no change|no difference|'
     'no errors|no error|no output|no response|no result|no results|no comment|no question|'
     'no questions|no more questions|no further|i''m reading it|i''m reading this|'
     'i''m reading your|i restarted|i refreshed|i reinstalled|i pressed|i hit enter|'
     'i saved it|i picked|i chose|i''ll go|i''m going with|going with|i''m trying it|'
     'i''m trying that|trying now|trying it|i''m looking for a word|i''m looking for the|'
     'i''m stuck on|i keep getting|i still see|i still have the|i get a|i get no|'
     'i get nothing|i got an error|i got the|i got this|i got nothing|i made a typo|i misread|'
     'i misclicked|i think you''re|i think you are|i think your|i think the|i think we should|'
     'i think we can|i think i get|i''ll take a look|i''ll have a look|i''ll ask|i will ask|'
     'i''ll come back|i will come back|i will check|i will look|i will let|i will think|'
     'i''ll see|i''ll copy|i can''t open|i cannot open|i can''t find the|i can''t read|'
     'i can''t access|i cannot access|i can''t get it|i can''t get this|i can''t get the|'
     'i can''t reproduce|i can''t run|i didn''t expect|i don''t see|i dont see|'
     'i don''t like this|i don''t like the|i don''t like it|i don''t need this|'
     'i don''t need that|i don''t need the|i don''t want the|i don''t want this|'
     'i don''t want that|i don''t have that option|i''ve read|i have read the|i read your|'
     'i read the|i ran it|i ran the|i ran this|i ran your|i pasted|i copied|i clicked|i typed|'
     'i deleted that|i deleted the|i removed the|i changed the|i added the|i fixed|'
     'i just tried|i just ran|i just saw|i already did|i already have that|i''ve tried|'
     'i''ve done that|i''ve already|i did that|i did it|i see the|i see a|i''m getting|'
     'i am getting|i''m seeing|i''m looking at|i''m asking|i''m talking about|'
     'i''m trying to understand|i''m trying to open|i''m trying to run|i''m off|i need to go|'
     'i have to go|i''ve got to go|i must go|i gotta go|gotta go|i have to run|'
     'i have to leave|i need to think|i have to think|i need more time|i like number|'
     'i like option|i like both|i like these|i like those|i prefer the first|'
     'i prefer the second|i prefer the other|i prefer the last|i prefer option|i prefer this|'
     'i prefer that|i was talking|i was asking|i was referring|i was looking|i was wrong|'
     'i was confused|i forgot to paste|i forgot to mention the|i noticed|we can do|'
     'we can skip|we can leave|we can move|we can use|we can try|we can go|we could|we should|'
     'we got it|we were talking|we need to fix|we have to fix|we still have|we still get|'
     'we''re almost|we tried|my guess|my point'),
    ('en', 'first', 'remark',
     'the total|the totals|the sum|'
     'that|that''s|thats|this|it|it''s|its|these|those|there|there''s|here|here''s|looks|'
     'seems|you|you''re|you''ve|youre|your|the answer|the code|the output|the result|'
     'the response|the last|the first|the second|the third|the link|the example|the previous|'
     'the other|the weather|the list|the above|the summary|the translation|the text|the poem|'
     'neither|all of|some of|too|still|perhaps|maybe|what i meant|what i said|what i asked|'
     'not what|not that|not this|not quite|not really|not exactly|not yet|not sure|'
     'not working|not good|not it|not helpful|not the|not again|both are|both look|both sound|'
     'both work|both options|none of|nothing works|nothing happens|everything works|'
     'everything is|something is wrong|something went|still not|still no|still broken|'
     'still the same|still wrong|still getting|almost|close but|closer|getting there|'
     'getting closer|much better|better|worse|way too|a bit|a little too|kind of|sort of|'
     'same error|same problem|same result|again the|the explanation|the formatting|the format|'
     'the joke|the story|the recipe|the picture|the image|the table|the title|the tone|'
     'the wording|the sentence|the word|the paragraph|the script|the function|the error|'
     'the page|the file|the one|the rest|the end|the point|the question|the problem is|'
     'the sun|the sky|sentence|paragraph|weird|strange|what a day|nice day|beautiful day|'
     'lovely day|lovely weather|traffic|it is raining|it''s raining|too long|too short|'
     'nothing shows|nothing changed|page is|same as before|not loading|still loading|'
     'still failing|keeps|crashed|the font|the logo|the color|the colour|the graph|the plot|'
     'the model|the query|the loop|the import|the package|the install|the download|the upload|'
     'the video|the audio|the tests|the test|the build|the cursor|the screen|the button|'
     'the website|the site|the server|the command|the method|the class|the variable|'
     'the console|the log|the logs|the new version|the old version|the line|the column|'
     'the columns|the row|the colors|the colours|the layout|the letter|the email|the essay|'
     'the intro|the introduction|the ending|the conclusion|the plan looks|the formula|'
     'the math|the numbers|the chart|the app crashes|the app is'),
    ('en', 'first', 'statement',
     'call me|call my|remember|please remember|don''t forget|do not forget|note|note that|'
     'keep in mind|bear in mind|from now on|in future|in the future|going forward|no|don''t|'
     'do not|dont|avoid|stop using|stop calling|allergic|born|married|divorced|engaged|single|'
     'retired|diabetic|vegan|vegetarian|based in|living in|working at|working as|working in|'
     'lives in|it''s my|it''s our|its my|this is my|that''s my|that''s our|this is our|'
     'it is my|it is our|when i|when my|when we|where i|where my|how i like|what i like|'
     'what i love|what i hate|what i want from|there are|there is|the first of|the second of|'
     'the first day|speak|talk to me|address me|i want to learn|i want to be|i want to become|'
     'i want to move|i want to lose|i want to run|i want to stop|i want to start|'
     'i need to lose|make sure you always|happy to be|just moved|just had|just got|'
     'just started|good at|fluent in|single mother|single father|i like the color|'
     'i like the colour|i like the sea|use metric|use british|use american|use short|'
     'use simple|use formal|i''m just over|i like it when|i like it if|next week|next month|'
     'next year|next summer|next spring|next fall|next winter|next weekend|next monday|'
     'next tuesday|next wednesday|next thursday|next friday|next saturday|next sunday|will be|'
     'not a fan|not a big|not married|here in|works as|works at|works for|i''m good at|'
     'i''m good with|i know how to|both my|both of my|both of us|this is how i|these are my|'
     'those are my|there''s a|there''s no|it''s just me|that was my|that is my|can''t eat|'
     'can''t drink|can''t stand|cannot eat|cannot stand|love to|prefer|you can call me|'
     'feel free to call me|people call me|just call me|i want a dog|i need a wheelchair|'
     'speak to me|please call me|please use|refer to me|best friend|got laid off|got fired|'
     'got promoted|got accepted|got hired|got diagnosed|got back from|only have|only had|'
     'use they|use he|use she|used to|left my|quit my|bought a|bought an|bought my|sold my|'
     'sold the|started my|adopted|learning to|studying|training for|saving for|saving up|'
     'trying to quit|trying to lose|trying to learn|play the|play in|own a|drive a|have two|'
     'have three|got a new|got into|got married|turned|lost my|broke my|dating|raised|'
     'hoping to|planning to|getting married|getting divorced|expecting a|expecting our|metric|'
     'imperial|book club|work from home|please never|please always|no more than|'
     'british spelling|american spelling'),
    ('en', 'first', 'filler',
     'and|but|so|well|oh|ah|um|uh|also|actually|anyway|btw|by the way|fyi|please|pls|plz|'
     'just so you know|just fyi|hi there|hey there|hello there|yes|yeah|this year|this month|'
     'this week|this weekend|this summer|this winter|this spring|this autumn|this fall|'
     'this morning|this evening|this semester|then|ok so|ok but|okay so|okay but|lol ok but|'
     'ok and|lol but|because|since|however|besides|plus|correction|for the record|'
     'for your information|for context|to be honest|honestly|tbh|imo|hi i''m|hello i''m|now|'
     'just|simply|later this|later today|earlier this|as for me|as a side note|side note|'
     'one more thing|another thing|unfortunately|sadly|luckily|fortunately|fun fact|heads up|'
     'small correction|to clarify|to be clear|in fact|in case it matters|in case you|'
     'personally|currently|right now|at the moment|these days|nowadays|at work|at home|'
     'as a kid|as a child|yes and|yeah and|nah|thanks but|thank you but|sorry but|'
     'ok thanks but|no thanks but|great but|nice but'),
    ('en', 'last', 'question',
     'isn''t it|aren''t they|right ?|anyone|or what|or not'),
    ('en', 'last', 'remark',
     'recipe|recipes|ideas|tips|examples|synonyms|synonym|joke|jokes|poem|haiku|limerick|'
     'quotes|template|cheat sheet'),
    ('en', 'last', 'courtesy',
     'already|lol|haha|to me|in a minute|in a sec|in a second|in a moment|in a bit|that|this|'
     'it|that later|this later|it later|that now|it now|this now|it again|that again|'
     'this again|that one|this one|that part|this part|that step|that yet|it yet|talk later|'
     'talk tomorrow'),
    ('en', 'any', 'self',
     'i|i''m|i''ve|i''d|i''ll|im|ive|my|me|mine|myself|we|we''re|we''ve|we''d|we''ll|our|ours|'
     'us'),
    ('en', 'any', 'always',
     'always|never|every time|from now on|in future|only in'),
    ('en', 'any', 'you',
     'you|your|yours|you''re|you''ve|u|ur'),
    ('en', 'any', 'personal',
     'turning 18|turning 21|turning 30|turning 40|turning 50|turning 60|screen reader|kidney|'
     'second hand|loft|laid off|fired|grandson|grandsons|granddaughter|granddaughters|'
     'grandchild|grandchildren|grandkids|chickens|goats|horse|horses|rabbit|parrot|hamster|'
     'truck|bike|my car|our car|ex wife|ex husband|my ex|stepson|stepdaughter|stepmom|stepdad|'
     'godson|newborn|toddler|toddlers|teenager|teenagers|preschool|kindergarten|high school|'
     'my house|our house|hometown|native|fluent|religion|muslim|jewish|catholic|christian|'
     'hindu|buddhist|church|mosque|synagogue|ramadan|shabbat|christmas|easter|diwali|hanukkah|'
     'volunteer|volunteering|retirement|pension|savings|loan|loans|debt|insurance|taxes|hobby|'
     'hobbies|favorite|favourite|shoe size|shoes|blood type|weigh|kilos|lbs|years|engineer|'
     'developer|designer|doctor|doctor''s|lawyer|accountant|chef|baker|farmer|electrician|'
     'plumber|carpenter|mechanic|pilot|soldier|navy|army|pharmacist|librarian|journalist|'
     'musician|photographer|architect|scientist|professor|barista|firefighter|paramedic|'
     'social worker|veterinarian|hairdresser|knitting|climbing|swimming|skiing|surfing|drums|'
     'cello|saxophone|karate|judo|ballet|football|soccer|basketball|cancer|chemo|back pain|'
     'my knee|my knees|blood pressure|thyroid|epilepsy|arthritis|eczema|insomnia|ptsd|autism|'
     'physio|hearing aid|hearing aids|shellfish|peanuts|lactose|keto|neighbor|neighbour|'
     'neighbors|neighbours|garden|balcony|spicy|mom|mom''s|mum|mum''s|mother|mother''s|dad|'
     'dad''s|father|father''s|parents|parents''|sister|sister''s|brother|brother''s|siblings|'
     'wife|wife''s|husband|husband''s|daughter|daughter''s|my son|our son|my son''s|son is|'
     'kid|kids|kid''s|kids''|children|two boys|two girls|baby|baby''s|twins|grandma|'
     'grandma''s|grandmother|grandpa|grandfather|nana|granny|aunt|uncle|cousin|niece|nephew|'
     'girlfriend|girlfriend''s|boyfriend|boyfriend''s|fiancé|fiancée|fiance|fiancee|roommate|'
     'roommates|flatmate|flatmates|in laws|he''s|she''s|he is|she is|dog|dog''s|puppy|kitten|'
     'my cat|our cat|two cats|allergy|allergies|allergic|intolerant|intolerance|diabetic|'
     'diabetes|asthma|celiac|coeliac|vegan|vegetarian|gluten|dairy|halal|kosher|pescatarian|'
     'pregnant|surgery|adhd|autistic|dyslexic|dyslexia|migraine|migraines|medication|meds|'
     'insulin|wheelchair|disability|therapist|dentist|depression|anxiety|deaf|colorblind|'
     'colour blind|color blind|sober|job|boss|boss''s|coworker|coworkers|nurse|teacher|'
     'night shift|night shifts|shifts|freelance|freelancer|freelancing|self employed|retired|'
     'unemployed|student|phd|thesis|dissertation|master''s|bachelor''s|university|uni|college|'
     'semester|exam|exam''s|exams|interview|internship|salary|at work|works at|work at|'
     'work as|work for|work in|job at|team of|landlord|rent|landlord''s|mortgage|apartment|'
     'my flat|our flat|live in|living in|living with|live with|lived in|lives in|moved to|'
     'moved out|moving to|moving in|moving out|grew up|raised in|born in|from home|birthday|'
     'wedding|anniversary|funeral|married|engaged|divorced|broke up|honeymoon|due in|'
     'graduated|graduation|years old|year old|flight|vacation|visa|passport|marathon|gym|'
     'tennis|guitar|piano|violin|choir|orchestra|hiking|yoga|budget|my budget|pronouns|'
     'nickname|my name|first language|native language|mother tongue|monday|mondays|tuesday|'
     'tuesdays|wednesday|wednesdays|thursday|thursdays|friday|fridays|saturday|saturdays|'
     'sunday|sundays|weekends|january|february|in march|april|in may|june|july|august|'
     'september|october|november|december|next year|last year|every morning|every day|'
     'every week|left handed|right handed'),
    ('en', 'any', 'material',
     'by accident|by mistake|accidentally|my example|the example|the ending|the folder|'
     'the window|the formatting|the thread|the download|the number|a number|the quotes|'
     'on my side|on my end|my side|my end|the browser tab|the wording|page|pages|numbers|'
     'graph|chart|button|draft|drafts|font|logo|layout|axis|footnote|footnotes|intro|outro|'
     'stanza|verse|equation|spreadsheet|dropdown|popup|pop up|menu|tab|url|download|upload|'
     'caption|subtitle|placeholder|branch|merge conflict|pull request|crashes|crashing|'
     'crashed|timeout|times out|loading|null|error|errors|bug|bugs|compile|compiles|compiling|'
     'syntax|cursor|screen|link|links|regex|typo|typos|paragraph|paragraphs|sentence|'
     'sentences|last bullet|first bullet|second bullet|third bullet|bullet is|bullet one|'
     'bullet two|bullet three|column|columns|your answer|your answers|your reply|'
     'your response|your code|your last|the answer|the code|my code|this code|that code|'
     'the file|this file|that file|that line|this line|on line|in line|the output|'
     'the variable|the function|permission denied|traceback|stack trace|404|screenshot|tests|'
     'the browser|my browser|my internet|the internet|localhost|my terminal|the terminal|'
     'option two|option one|question two|question three|question four|question 2|question 3|'
     'question 4|step two|step three|step 2|step 3|number two|number three|wording'),
    ('en', 'whole', 'courtesy',
     'i like|i love|i know|i do|i did|i am|i will|i can|i understand|i will do|i think|'
     'i''m good|yes i do|my bad|me too|you too|we did|i see|i tried|thank you|it works|my turn'),
    -- German
    ('de', 'first', 'question',
     'was|wie|wer|wen|wem|wessen|welche|welcher|welches|welchen|warum|wieso|weshalb|wo|wohin|'
     'woher|wann|womit|wozu|wofür|wovon|woran|ist|sind|kannst|kann|könntest|könnte|könnten|'
     'würdest|würde|wirst|hast|habt|haben|hat|hättest|gibt|gibt''s|darf|soll|sollte|sollen|'
     'weißt|muss|müsste|willst|magst|möchtest|bist|seid|macht|geht|stimmt das|kennst|meinst|'
     'glaubst|denkst|findest|ich frage mich|wäre|hauptstadt von|wetter in|wetter heute|'
     'wetter morgen|bedeutung von|rezept für|unterschied zwischen|synonyme für|synonym für|'
     'entfernung von|einwohner von'),
    ('de', 'first', 'request',
     'schreib|schreibe|übersetz|übersetze|fass|fasse|erklär|erkläre|zeig|zeige|gib|nenne mir|'
     'mach|mache|erstell|erstelle|finde|such|suche mir|suche nach|hilf|vergleiche|vergleich|'
     'entwirf|kürze|kürz|erweitere|fahre|fahr|versuch|versuche|probier|probiere|füge|füg|'
     'entferne|ändere|änder|generiere|berechne|rechne|lies|öffne|schick|schicke|sende|'
     'sortiere|sortier|führe|empfiehl|empfehle mir|schlag|schlage|beschreib|beschreibe|'
     'zeichne|male|korrigier|korrigiere|verbessere|verbesser|überarbeite|prüfe|prüf|überprüfe|'
     'warte|wart|wiederhole|wiederhol|spiel|zähl|zähle|definiere|bau|baue|teste|aktualisiere|'
     'lösche|lösch|lass|lass uns|lasst|nimm|nehmen wir|wähle|such dir|sag|sage|erzähl|erzähle|'
     'stell dir|stelle|formuliere|formulier|analysiere|vereinfache|gestalte|formatiere|löse|'
     'plane|liste|liefere|bring mir|erläutere|bitte um|ich möchte dass|ich will dass|'
     'ich möchte gern wissen|ich möchte wissen|ich will wissen|weiter|mehr davon|'
     'mehr beispiele|nochmal|ersetze|verwende|nutze|benutze|setz|setze|mach weiter|denk|'
     'überleg|schau|guck|sieh|hol|dann mach|dann schreib|ich brauche hilfe|ich brauche deine|'
     'ich brauche ideen|ich brauche einen text|ich brauche ein rezept|'
     'ich brauche ein beispiel|ich brauche eine liste|ich brauche eine übersetzung|'
     'ich brauche kurz|ich brauche mal|ich bräuchte|ich hätte gern eine|ich hätte gern ein|'
     'ich hätte gerne eine|ich hätte gerne ein|noch ein|noch eine|noch einmal|noch mal|'
     'noch kürzer|noch drei|nenne ein|nenne drei|nenne die|nenne alle|nenn mir|bewerte|'
     'zitiere|markiere|buchstabiere|lade|speichere|kopiere|ermittle|finde heraus|untersuche|'
     'recherchiere|beweise|skizziere|erfinde|bereite|ordne|kombiniere|tausche|optimiere|'
     'bestätige|verrate|beantworte|antworte auf die frage|fang an|fange an|hör auf|geh zurück|'
     'geh|gehen wir|machen wir|reden wir|sprechen wir|lerne mit mir|hilf mir|frag mich|'
     'frage mich|stell mir|gib mir|mal mir|bitte schreib|versetze dich|tu so|nochmal bitte|'
     'kürzer|länger|formeller|ausführlicher|auf englisch|auf deutsch bitte|in einem satz|führ|'
     'verfasse|ergänze|streiche|wandle|konvertiere|installiere|starte|beende|nehmen wir an|'
     'angenommen|nur den code|nur die liste|nur die antwort|nur das ergebnis|nur den text|'
     'ich brauche drei|ich brauche fünf|ich brauche zehn|ich brauche zwei|'
     'ich brauche eine tabelle|ich brauche das|ich hätte es|ich hätte das|'
     'ich hätte lieber eine|ich will eine tabelle|ich will das|ich möchte eine tabelle|'
     'ich möchte das|noch eins|noch einen'),
    ('de', 'first', 'courtesy',
     'gleich wieder da|bin gleich wieder|bin gleich zurück|ich kopiere es|ich kopiere dir|'
     'ich füge es|ich schicke es|kurz weg|'
     'ich habe neu geladen|hab neu geladen|neu geladen|hab''s nochmal|ich hab''s nochmal|'
     'danke|dankeschön|vielen|besten dank|herzlichen|tausend dank|merci|oke|alles klar|'
     'alles gut|klar|gut|sehr gut|toll|prima|perfekt|klasse|spitze|wunderbar|schön|schönes|'
     'schönen|genial|geil|krass|hihi|aha|achso|ach so|ach ja|entschuldigung|entschuldige|'
     'tut mir leid|kein problem|keine ahnung|keine sorge|keine ursache|kein ding|kein stress|'
     'keine frage|kein thema|hallo|moin|servus|grüß|grüezi|guten|gute|tschüss|tschüs|ciao|'
     'auf wiedersehen|mach''s gut|machs gut|schlaf gut|bitte sehr|bitteschön|genau|richtig|'
     'stimmt|falsch|korrekt|verstehe|verstanden|ich verstehe|ich habe verstanden|'
     'ich hab verstanden|ich denke schon|ich glaube|ich meinte|ich meine|ich finde das|'
     'ich finde deine|ich habe eine frage|ich habe noch|ich hab eine frage|ich hab noch|'
     'ich hätte eine frage|ich bin wieder|ich bin da|ich bin müde|ich bin bereit|'
     'ich bin fertig|ich bin verwirrt|ich bin gespannt|ich kann nicht sehen|ich mag das|'
     'ich mag deine|jetzt verstehe|jetzt ist|jetzt hab|jetzt weiß|mir geht''s|mir geht es|'
     'mir ist langweilig|jo|jep|jawohl|nein danke|nein das|nein nicht|nee|nö|doch|egal|'
     'macht nichts|nicht schlimm|interessant|lustig|witzig|das freut mich|freut mich|'
     'willkommen|glückwunsch|frohe|frohes|also gut|einverstanden|von mir aus|meine frage|'
     'mein fehler|gleichfalls|ebenso|passt|läuft|fertig|moment|sekunde|weiter so|gerne doch|'
     'gern geschehen|gerne geschehen|bis morgen|bis dann|bis später|bis bald|bis gleich|'
     'bis nächste|bis zum nächsten|na ja|na gut|na wie|na klar|na dann|na also|ich weiß nicht|'
     'ich weiß das|ich weiß schon|ich weiß was|ich bin da anderer|ich bin zufrieden|'
     'ich bin beeindruckt|ich bin einverstanden|ich bin ganz ohr|ich bin mir|ich bin unsicher|'
     'ich bin froh dass|ich denke darüber|ich denke das|ich denke du|ich denke mal|'
     'ich überlege|ich überleg|ich versuch|ich versuche es|ich habe es|ich hab es|ich hab''s|'
     'ich habe das|ich habe dich|ich habe nichts verstanden|ich habe mich vertippt|'
     'ich hatte gehofft|ich hatte gefragt|ich hatte gesagt|ich habe gefragt|ich habe gesagt|'
     'ich wollte sagen|ich wollte nur|ich will nur|ich verstehe nicht|ich kapier|ich check|'
     'ich sehe|ich sehe nichts|ich hoffe|ich freue mich dass|ich melde mich|ich nehme die|'
     'ich nehme das|ich danke|ich bekomme einen fehler|ich kriege einen fehler|ich frage nur|'
     'ich teste|ich stimme|wir sind fertig|wir sehen uns|meine güte|mein gott|mir egal|'
     'mir gefällt das|mir gefällt die|mir gefällt der|mir gefällt deine|mir auch|mir reicht|'
     'wie schön|wie lustig|wie nett|wie cool|was für ein|hm klappt|herrlich|lass mich|'
     'lass gut|okay cool|sehr schön|sehr interessant|sehr hilfreich|sehr nett|echt gut|'
     'echt cool|echt jetzt|echt nett|ganz gut|ganz okay|ganz nett|nett|lieb|mega|top|hammer|'
     'stark|wahnsinn|respekt|uff|puh|mist|schade|oje|freut|viel spaß|viel erfolg|viel glück|'
     'gute idee|gute frage|guter punkt|gute arbeit|wird gemacht|mach ich|gut so|passt so|'
     'passt schon|soweit|so weit so gut|wie gesagt|schon gut|schon okay|schon klar|'
     'bin gespannt|bin dabei|bin da|bin zurück|bin fertig|bin bereit|bin müde|habe verstanden|'
     'hab verstanden|hab ich|daran hatte|daran habe|darauf bin|ich sehe zwei|ich sehe drei|'
     'ich habe das fenster|ich hab das fenster|beides probiert|beides ausprobiert|ausprobiert|'
     'probiert|den rest|ich schicke dir|ich schick dir|ich zeige dir|ich poste|ich füge|'
     'ich probiere|ich probier|ich schaue|ich schau|ich gucke|ich lese es|ich lese das|'
     'ich lese gerade|ich lese mir|ich sehe das|ich sehe es|ich sehe kein|ich muss los|'
     'ich muss weg|ich muss gehen|ich muss jetzt|ich muss nachdenken|ich hab mich vertippt|'
     'ich habe vergessen|ich hab das|ich habe deine|ich kann die|ich kann den|ich kann das|'
     'ich kann es|ich bekomme|ich kriege|ich erhalte|ich bin gleich|ich bin gerade|ich frage|'
     'ich finde die|ich finde den|ich nehme|ich rede von|ich spreche von|'
     'ich wollte eigentlich|wir können das|wir können später|wir sollten|wir könnten|'
     'schaue ich|schau ich|mache ich|lese ich|probiere ich|probier ich|hab mich|'
     'mein bildschirm|mein internet|mein browser|mein code|bin gleich|bin wieder|muss los'),
    ('de', 'first', 'remark',
     'die summe|die summen|'
     'das ist|das war|das stimmt|das hat|das geht|das funktioniert|das klappt|das klingt|'
     'das sieht|das reicht|das passt|das verstehe|das meinte|das meine|das hilft|das macht|'
     'das gefällt|das wäre|das habe|das hab|das kann|das wird|das soll|das ergibt|das kenne|'
     'das weiß|das finde|das glaube|das bringt|das gibt|das läuft|das wetter|das ergebnis|'
     'das beispiel|das zweite|das erste|das letzte|das nicht|dies|dieser|diese|dieses|dein|'
     'deine|deinen|deiner|es|hier ist|hier sind|hier steht|die antwort|die zweite|die erste|'
     'die letzte|die lösung|der code|der text|der link|der erste|der zweite|der letzte|'
     'die variante|die übersetzung|zu lang|zu kurz|vielleicht|beides|keins|heute ist|ist ja|'
     'sieht|klingt|funktioniert|klappt|geht nicht|scheint|nicht schlecht|nicht ganz|nicht das|'
     'nicht so|nicht richtig|nicht wirklich|nicht nötig|es ist zu|es ist falsch|es ist gut|'
     'es ist richtig|es geht|es funktioniert|es klappt|es tut mir leid|es regnet|es ist kalt|'
     'es ist heiß|es ist schön|es ist warm|es fehlt|es kommt|es war|es hat|es sieht|es klingt|'
     'du|da ist|da fehlt|da steht|da stimmt|das sind|das wars|das war''s|das alles|das andere|'
     'das thema|das bild|das rezept|das gedicht|das klang|das hast|das hatte|das hatten|'
     'das haben|das problem|das wort|das deutsche|die zusammenfassung|die liste|die idee|'
     'die formulierung|die erklärung|die tabelle|die funktion|die datei|die seite|der satz|'
     'der witz|der vorschlag|der tipp|der fehler|der ton|der titel|der absatz|der rest|'
     'die ersten|die letzten|die anderen|der andere|immer noch nicht|immer noch|schon besser|'
     'viel besser|besser|fast|fast richtig|noch nicht|etwas zu|ein bisschen|zu viel|'
     'zu kompliziert|zu formell|zu einfach|gleicher fehler|derselbe fehler|wieder|wetter|'
     'draußen|was ich meinte|was ich sagte'),
    ('de', 'first', 'statement',
     'nenn mich|nenne mich|merk|merke|denk daran|denk dran|denke daran|vergiss nicht|'
     'vergiss bitte|beachte|ab jetzt|ab sofort|von nun an|künftig|in zukunft|zukünftig|kein|'
     'keine|keinen|bitte keine|bitte kein|bitte nie|duze|duz|sieze|siez|bitte duze|'
     'bitte sieze|sprich|rede|red mit|antworte|antwort|bitte antworte|vermeide|verzichte|'
     'das ist mein|das ist meine|das ist unser|das ist unsere|es ist mein|dies ist mein|'
     'dies ist meine|allergisch|vertrage|verheiratet|ledig|geschieden|geboren|bei uns|bei mir|'
     'seit|wohne|lebe|arbeite|trinke|rauche|hasse|liebe|bevorzuge|fahre nach|fahre gern|laufe|'
     'studiere|lerne|habe|heiße|bin|ich suche seit|ich brauche morgens|ich bin müde von|'
     'ich glaube an|es gibt|hier in|da ich|da wir|wenn ich|als ich|als wir|heute ist mein|'
     'immer wenn|da wo ich|die idee ist von mir|immer noch vegetarisch|du kannst mich|'
     'du darfst mich|ihr könnt mich|sprich mich|nur damit du|am liebsten|am besten erreichst|'
     'gerne esse|gern esse|auf arbeit|zu hause|zuhause|ich mag das meer|das sind meine|'
     'der erste mai|wie ich|wo ich|schlag nichts|schlage nichts|schlag mir nichts|'
     'empfiehl nichts|empfiehl mir nichts|bitte immer|kein gluten|keine milch|bin seit|'
     'komme aus|wohne in|arbeite als|arbeite in|arbeite bei|habe zwei|habe drei'),
    ('de', 'first', 'filler',
     'und|aber|übrigens|eigentlich|naja|bitte|ach|dieses jahr|diesen monat|diese woche|'
     'dieses wochenende|diesen sommer|außerdem|weil|denn|zur info|nur zur info|nur so|'
     'nebenbei|ok aber|ja und|ehrlich gesagt|im übrigen|korrektur|ja|jetzt|leider|einfach|nur|'
     'mal|doch nur|nein|inzwischen|mittlerweile|momentan|derzeit|aktuell|zurzeit|heute|'
     'gestern|morgen|kleine korrektur|noch was|noch etwas|eins noch|nur zur information|'
     'kurze info|zum glück|persönlich|ja aber|ja also|danke aber|sorry aber|nein danke aber|'
     'moment aber|schön aber'),
    ('de', 'last', 'question',
     'oder|oder nicht|nicht wahr|gell'),
    ('de', 'last', 'request',
     'bitte zusammen|in zwei sätzen zusammen'),
    ('de', 'last', 'remark',
     'rezept|rezepte|gedicht|witz|synonyme|beispiele|ideen|tipps'),
    ('de', 'last', 'courtesy',
     'bis später|später an|gleich wieder da|gleich aus|es gerade|gleich nochmal|das gleich|'
     'das später'),
    ('de', 'any', 'self',
     'ich|mir|mich|mein|meine|meinem|meinen|meiner|meines|wir|uns|unser|unsere|unserem|'
     'unseren|unserer|unseres|bin|hab'),
    ('de', 'any', 'always',
     'immer|nie|niemals|künftig|in zukunft|ab jetzt|ab sofort|von nun an|jedes mal'),
    ('de', 'any', 'you',
     'du|dir|dich|dein|deine|deinen|deinem|deiner|ihr'),
    ('de', 'any', 'personal',
     'gekündigt|entlassen|enkel|enkelin|enkelkinder|hühner|ziegen|pferd|pferde|kaninchen|lkw|'
     'auto|fahrrad|ex mann|ex frau|stiefsohn|stieftochter|kita|grundschule|gymnasium|schule|'
     'heimat|muttersprachler|kirche|moschee|weihnachten|ostern|ehrenamt|rente|kredit|schulden|'
     'versicherung|steuern|hobbys|lieblings|ferien|hörgeräte|trage|fahre|arzt|ärztin|'
     'ingenieur|ingenieurin|entwickler|entwicklerin|anwalt|anwältin|koch|köchin|bäcker|bauer|'
     'elektriker|tischler|soldat|apotheker|apothekerin|hebamme|journalistin|architekt|'
     'architektin|fußball|handball|schwimmen|klettern|krebs|rücken|blutdruck|schilddrüse|'
     'epilepsie|schlafstörungen|brille|hörgerät|nachbar|nachbarin|nachbarn|garten|balkon|'
     'schuhgröße|kilo|jahren|der op|meine op|eine op|mein kind|unser kind|ein kind|mama|'
     'mutter|papa|vater|eltern|schwester|bruder|geschwister|frau|ehefrau|ehemann|mein mann|'
     'tochter|töchter|sohn|söhne|kinder|kindern|zwillinge|oma|opa|großmutter|großvater|tante|'
     'onkel|cousine|nichte|neffe|freundin|verlobte|verlobter|mitbewohner|mitbewohnerin|hund|'
     'welpe|katze|kater|allergie|allergien|nussallergie|allergisch|intoleranz|diabetiker|'
     'diabetikerin|zöliakie|veganer|veganerin|vegetarier|vegetarierin|vegetarisch|laktose|'
     'glutenfrei|schwanger|operation|migräne|medikamente|rollstuhl|zahnarzt|zahnärztin|'
     'arzttermin|therapeutin|beruf|chefin|kollegen|lehrer|lehrerin|krankenpfleger|'
     'krankenschwester|nachtschicht|nachtschichten|schicht|schichtdienst|freiberuflich|'
     'selbstständig|rentner|rentnerin|arbeitslos|studentin|studium|doktorarbeit|masterarbeit|'
     'bachelorarbeit|universität|prüfung|prüfungen|klausur|vorstellungsgespräch|praktikum|'
     'ausbildung|gehalt|homeoffice|home office|vermieter|miete|wohnung|umzug|umgezogen|ziehe|'
     'wohne|aufgewachsen|geboren|geburtstag|hochzeit|jahrestag|beerdigung|verheiratet|verlobt|'
     'geschieden|ledig|jahre alt|flug|urlaub|visum|reisepass|fitnessstudio|gitarre|klavier|'
     'geige|chor|orchester|muttersprache|montag|montags|dienstag|dienstags|mittwoch|mittwochs|'
     'donnerstag|donnerstags|freitag|freitags|samstag|samstags|sonntag|sonntags|wochenende|'
     'januar|februar|märz|juni|juli|oktober|dezember|nächstes jahr|letztes jahr|jeden tag|'
     'jeden morgen|jede woche|linkshänder|linkshänderin'),
    ('de', 'any', 'material',
     'beispiel|beispiele|fenster|ordner|aus versehen|versehentlich|formatierung|lädt|seite|'
     'seiten|zahlen|grafik|diagramm|knopf|entwurf|schrift|schriftart|formel|gleichung|menü|'
     'fußnote|einleitung|schluss|code|variable|funktion|fehler|fehlermeldung|bildschirm|'
     'browser|absatz|satz|sätze|spalte|zeile|tabelle|überschrift|antwort|datei|der code|'
     'den code|mein code|vertippt|variante|frage'),
    ('de', 'whole', 'courtesy',
     'ich auch|mag ich|ich mag es|ich weiß|das mag ich|bin ich|mir gut|wir auch|ich nicht|'
     'mir egal|liebe ich|ich liebe es|gefällt mir'),
    -- French
    ('fr', 'first', 'question',
     'que|qu''est-ce|qu est ce|qu''est|quoi|quelle|quels|quelles|qui|où|quand|comment|'
     'pourquoi|combien|est-ce|est ce|peux-tu|peux tu|pouvez-vous|pouvez vous|pourrais-tu|'
     'pourrais tu|pourriez-vous|pourriez vous|tu peux|tu pourrais|vous pouvez|vous pourriez|'
     'as-tu|as tu|avez-vous|avez vous|sais-tu|sais tu|connais-tu|connais tu|y a-t-il|y a t il|'
     'il y a quoi|c''est quoi|ça veut dire|faut-il|faut il|dois-je|dois je|puis-je|puis je|'
     'je me demande|je voudrais savoir|j''aimerais savoir|je veux savoir|veux-tu|veux tu|'
     'es-tu|es tu|êtes-vous|êtes vous|d''où|à quelle|de quoi|à quoi|capitale du|capitale de|'
     'météo|recette de|définition de|différence entre|synonymes de|synonyme de|'
     'signification de|traduction de'),
    ('fr', 'first', 'request',
     'écris|écrivez|ecris|traduis|traduisez|traduit|résume|résumez|resume|explique|expliquez|'
     'montre|montrez|dis|dites|donne|donnez|listez|corrige|corrigez|fais|faites|crée|créez|'
     'trouve|trouvez|cherche|cherchez|vérifie|vérifiez|aide|aidez|comparez|rédige|rédigez|'
     'raccourcis|développe|continuez|essaie|essaye|essayez|ajoute|ajoutez|enlève|enlevez|'
     'supprime|changez|modifie|génère|générez|convertis|calcule|calculez|lis|lisez|ouvre|'
     'envoie|envoyez|trie|lance|suggère|propose|proposez|propose-moi|recommande|recommandez|'
     'décris|décrivez|dessine|améliore|améliorez|reformule|reformulez|relis|attends|attendez|'
     'répète|répétez|chante|joue|compte|définis|définissez|construis|mets|mettez|rends|rend|'
     'prends|prenez|choisis|choisissez|analysez|simplifie|allons|allez|vas-y|vas y|passons|'
     'passe|peux|raconte|racontez|je voudrais que|je veux que|j''aimerais que|je souhaite que|'
     'remplace|utilise|planifie|réponds à|répondez à|citez|laisse|recommence|refais|réécris|'
     'plus court|plus courte|plus long|plus simple|plus d''exemples|plus formel|encore un|'
     'encore une|encore plus|encore des|j''ai besoin que|j''ai besoin d''aide|'
     'j''ai besoin d''un coup|j''ai besoin de ton|j''ai besoin de toi|j''ai besoin d''idées|'
     'j''ai besoin d''une idée|je cherche une recette|je cherche un exemple|'
     'je cherche une idée|je cherche un mot|je voudrais un résumé|je voudrais un exemple|'
     'je voudrais une liste|je voudrais une recette|je voudrais des idées|'
     'je voudrais de l''aide|je veux un résumé|je veux une liste|évalue|note ce|note sur|'
     'classe|épelle|prononce|transcris|télécharge|identifie|détermine|prépare|invente|échange|'
     'valide|confirme|précise|détaille|approfondis|clarifie|illustre|démontre|prouve|commence|'
     'arrête|retourne|revenons|reprends|reprenons|parlons|faisons|disons|supposons|allons-y|'
     'allons y|interroge|teste-moi|aide-moi|montre-moi|explique-moi|donne-moi|dis-moi|'
     'raconte-moi|fais-moi|trouve-moi|écris-moi|en une phrase|en français|en anglais|complète|'
     'transforme|conjugue|souligne|copie|colle|sauvegarde|annule|ouvre-moi|parle moi de|'
     'parle-moi de|parlez-moi de|corrige-moi|relis-moi|fais un|fais une|juste le code|'
     'juste la réponse|juste la liste|juste le texte|je veux un texte|je veux une version|'
     'je veux un tableau|je préfère un|je préfère une liste|je préfère la première|'
     'je préfère la deuxième|je préfère la seconde|je préfère le premier|'
     'je préfère le deuxième|je préfère cette|j''aimerais un|j''aimerais une|il me faut un|'
     'il me faut une'),
    ('fr', 'first', 'courtesy',
     'je te le colle|je te le recolle|je te le copie|je le colle|je le copie|je te l''envoie|'
     'j''ai rechargé|je recharge|j''ai actualisé|j''ai relancé|'
     'mille mercis|grand merci|un grand merci|d''accord|oki|parfait|génial|bien|très bien|'
     'très drôle|magnifique|formidable|chouette|bravo|waouh|ha|ha ha|mdr|hum|euh|désolé|'
     'désolée|excuse|excusez|excuse-moi|excuse moi|pas de souci|pas de soucis|pas de problème|'
     'pas de quoi|pas mal|pas grave|pas du tout|pas vraiment|pas encore|pas exactement|'
     'pas la peine|bonjour|bonsoir|salut|coucou|bonne|bon|à demain|à bientôt|à plus|à tout|'
     'au revoir|adieu|de rien|je vous en prie|je t''en prie|avec plaisir|exactement|exact|'
     'tout à fait|c''est ça|bien sûr|bien sur|vrai|faux|compris|je comprends|je vois|'
     'j''ai compris|je ne comprends|je comprends pas|je ne sais|je sais pas|je pense que tu|'
     'je pense que c|je crois|je suis d''accord|je suis prêt|je suis prête|je suis de retour|'
     'je suis perdu|je suis perdue|je suis fatigué|je suis fatiguée|je suis désolé|'
     'je suis désolée|je voulais dire|je veux dire|j''ai une question|'
     'j''ai une autre question|j''ai encore|j''ai d''autres|j''ai un problème|j''espère|'
     'j''ai dit|j''ai demandé|j''adore ta|j''adore ça|j''aime bien ta|j''aime bien cette|'
     'j''aime ça|j''aime cette|ma question|moi aussi|moi non plus|ouais|non merci|non c''est|'
     'non ce|non pas|peu importe|tant pis|tant mieux|quel dommage|quelle bonne|quelle belle|'
     'quelle chance|félicitations|joyeux|joyeuse|bienvenue|intéressant|drôle|entendu|'
     'ça marche|ça roule|ça va|ça y est|nickel|impeccable|voilà|un instant|une seconde|'
     'un moment|pareil|je sais que|je sais bien|je sais ça|je sais déjà|laisse-moi|laisse moi|'
     'laissez-moi|j''aime bien le ton|j''aime beaucoup ta|j''aime beaucoup cette|'
     'j''aime l''idée|j''adore l''idée|j''adore cette|j''ai hâte|j''ai essayé|j''ai bien reçu|'
     'j''ai vu|j''ai lu ta|j''ai pas compris|j''ai rien compris|j''ai mal compris|'
     'j''ai une erreur|j''ai eu une erreur|j''ai déjà dit|je te remercie|je vous remercie|'
     'je réfléchis|je vais réfléchir|je vais essayer|je vais voir|je teste|je prends la|'
     'je prends le deuxième|je plaisante|je rigole|je blague|je parlais|je demandais|'
     'je disais|je demande juste|je veux juste|je suis impressionné|je suis content|'
     'je suis contente|je suis là|je suis curieux|je suis curieuse|je t''écoute|je t''ai|'
     'je te|je vous ai|je ne vois|je vois pas|je doute|je suppose|je trouve ça|'
     'je trouve que c|je trouve ta|je reviens|on verra|on continue|on y va|on a fini|'
     'on s''arrête|on peut|on reprend|ma faute|mon erreur|mon dieu|moi ça|trop bien|'
     'trop drôle|trop cool|trop fort|trop mignon|très intéressant|très utile|très clair|'
     'très joli|très bonne|vraiment bien|vraiment cool|plutôt bien|pas bête|pas faux|pas sûr|'
     'pas sûre|pas tout à fait|pas ça|pas comme ça|pas bon|pas maintenant|pas aujourd''hui|'
     'pas si|bien joué|bien vu|bien reçu|bonne idée|bonne question|bonne journée|bonne soirée|'
     'bonne nuit|bon travail|bon courage|bon appétit|bon week-end|joli|jolie|beau|belle|'
     'mignon|sympa|pfff|zut|mince|oups|aïe|ouf|hé|comment vas|comment ça va|comment allez|'
     'enchanté|enchantée|comme je l''ai dit|comme je disais|comme je te|quelle coïncidence|'
     'je n''y avais|j''y avais|j''en vois|j''ai fermé|j''ai ouvert|essayé|je t''envoie|'
     'je vous envoie|je t''envoie la|je prends|je choisis|je garde|je colle|je copie|'
     'je regarderai|je regarde|je lis|j''essaie|je vais tester|je me suis trompé|'
     'je me suis trompée|je dois y aller|je dois partir|je dois filer|je dois réfléchir|'
     'je verrai|je parle de|je n''arrive pas à ouvrir|j''arrive pas à ouvrir|'
     'je n''ai pas compris|je n''ai pas demandé|j''obtiens|j''ai toujours|j''ai supprimé|'
     'j''ai copié|j''ai collé|j''ai cliqué|j''ai oublié de|mon écran|mon code|mon navigateur|'
     'ma connexion|on peut passer|on pourrait|on devrait|nous pouvons passer|à plus tard'),
    ('fr', 'first', 'remark',
     'le total|la somme|'
     'ça|ca|cela|ceci|ce|c''est|c''était|ce n''est|ce sont|cette|ces|cet|tu|vous|ta|ton|tes|'
     'votre|vos|il fait|il y a une erreur|il pleut|il manque|la réponse|le texte|le code|'
     'le lien|la deuxième|la première|la dernière|le deuxième|le premier|le dernier|'
     'le résultat|l''exemple|la traduction|trop|dommage|tout est|ici|là|peut-être|rien|'
     'pas celui|pas celle|quel temps|on dirait|toujours pas|toujours le même|toujours la même|'
     'encore faux|même erreur|même problème|même résultat|presque|c''est presque|'
     'beaucoup mieux|mieux|un peu trop|pas assez|le ton|le titre|le reste|la phrase|la blague|'
     'la recette|la liste|l''idée|l''explication|l''erreur|l''image|le tableau|le résumé|'
     'la fonction|le mot|la suite|ton explication|il ne marche|il marche|il neige|il est tard|'
     'le temps|quel|aucune de|aucun de|rien ne|rien de|tout marche|tout fonctionne|'
     'ce que je voulais|ce que j''ai dit|il y a un bug|il y a une faute|celui|celle|les deux|'
     'comme ça|bizarre|étrange'),
    ('fr', 'first', 'statement',
     'appelle-moi|appelle moi|appelez-moi|appelez moi|retiens|retenez|souviens-toi|'
     'souviens toi|rappelle-toi|rappelle toi|souvenez-vous|n''oublie pas|n''oubliez pas|'
     'note que|notez que|note bien|garde en tête|à partir de maintenant|dorénavant|désormais|'
     'à l''avenir|tutoie|tutoie-moi|tutoie moi|vouvoie|vouvoie-moi|vouvoie moi|tutoyez|'
     'vouvoyez|parle-moi|parle moi|parlez-moi|réponds-moi|réponds moi|réponds|répondez|évite|'
     'évitez|pas de|plus de|jamais de|né|née|marié|mariée|divorcé|divorcée|allergique|'
     'végétarien|végétarienne|chez nous|chez moi|moi c''est|moi je|on|c''est mon|c''est ma|'
     'c''est mes|c''est notre|ce sont mes|ne me|ne m''|n''utilise|n''utilise pas|ne mets|'
     'quand je|quand j''étais|il y a|je cherche du travail|je cherche un emploi|'
     'je cherche un appartement|je veux un enfant|ce mois je|ça fait|c''est moi|je crois en|'
     'tu peux m''appeler|vous pouvez m''appeler|on m''appelle|aucun produit|plus jamais|'
     'le premier mai|plus de 500|il me faut|il est interdit|toujours écrire|toujours utiliser|'
     'là où je|là où j''habite|quel que soit|on est|on a|on part|on habite|on mange|'
     'c''est pour mon|c''est pour ma|c''est pour mes|je viens de|je viens d''|pas de gluten|'
     'notre budget'),
    ('fr', 'first', 'filler',
     'et|mais|donc|alors|au fait|en fait|d''ailleurs|s''il te plaît|s''il vous plaît|stp|svp|'
     'cette année|ce mois-ci|ce mois ci|cette semaine|ce week-end|ce week end|cet été|'
     'cet hiver|pour info|parce que|car|puis|bonjour je|salut je|bonjour moi|petite précision|'
     'précision|oui mais|oui et|non mais|bref|bon alors|oui|juste|simplement|seulement|'
     'maintenant|actuellement|en ce moment|aujourd''hui|hier|demain|ce soir|ce matin|ce mois|'
     'malheureusement|heureusement|perso|personnellement|petite correction|autre chose|'
     'encore une chose|une précision|pour préciser|ah oui|et puis|merci mais|désolé mais|'
     'désolée mais|non merci mais|super mais'),
    ('fr', 'last', 'question',
     'n''est-ce pas|n''est ce pas|ou pas|ça va|hein'),
    ('fr', 'last', 'courtesy',
     'plus tard|ça|cela|tout de suite|de touche|à plus'),
    ('fr', 'any', 'self',
     'je|moi|mon|ma|mes|nous|notre|nos|j''ai|j''aime|j''adore|j''habite|j''apprends|'
     'j''utilise|j''étudie|j''étais|j''avais|j''irai|j''aurai|j''écris|j''y|j''en|j''arrête|'
     'j''aimais|j''attends|j''essaie|j''évite|j''enseigne|j''élève'),
    ('fr', 'any', 'always',
     'toujours|jamais|désormais|dorénavant|à l''avenir|à chaque fois|chaque fois'),
    ('fr', 'any', 'you',
     'tu|toi|ton|ta|tes|vous|votre|vos|te'),
    ('fr', 'any', 'personal',
     'licencié|licenciée|virée|petit fils|petite fille|petits enfants|chèvres|poules|cheval|'
     'chevaux|lapin|camion|ma voiture|vélo|ex mari|ex femme|beau fils|crèche|maternelle|'
     'collège|lycée|école|église|mosquée|noël|pâques|bénévole|bénévolat|crédit|dettes|'
     'assurance|impôts|loisir|loisirs|préféré|préférée|appareils auditifs|médecin|ingénieur|'
     'ingénieure|avocat|avocate|cuisinier|cuisinière|boulanger|boulangère|agriculteur|'
     'électricien|plombier|menuisier|pilote|pharmacien|pharmacienne|sage femme|journaliste|'
     'architecte|foot|natation|escalade|mal de dos|tension|thyroïde|épilepsie|insomnie|'
     'lunettes|voisin|voisine|voisins|jardin|balcon|pointure|maman|mère|père|sœur|soeur|frère|'
     'ma femme|sa femme|épouse|mari|fille|filles|mon fils|un fils|deux fils|enfant|enfants|'
     'bébé|jumeaux|jumelles|grand mère|grand père|mamie|papi|oncle|nièce|neveu|ma copine|'
     'mon copain|colocataire|chien|chienne|chiot|mon chat|chats|allergique|intolérance|'
     'intolérant|intolérante|diabète|diabétique|asthme|asthmatique|cœliaque|végétarien|'
     'végétarienne|végane|enceinte|opération|médicament|médicaments|insuline|fauteuil roulant|'
     'dentiste|dépression|métier|boulot|patron|patronne|collègues|infirmier|infirmière|'
     'professeur|institutrice|équipe de nuit|retraité|retraitée|retraite|chômage|étudiant|'
     'étudiante|thèse|mémoire|fac|université|semestre|examen|examens|concours|entretien|stage|'
     'salaire|télétravail|propriétaire|loyer|appartement|colocation|déménage|déménagé|habite|'
     'grandi|né|née|anniversaire|mariage|enterrement|marié|mariée|divorcé|divorcée|'
     'célibataire|ans|vol pour|vacances|passeport|salle de sport|guitare|violon|chorale|'
     'langue maternelle|lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche|janvier|février|'
     'mars|avril|juin|juillet|août|septembre|octobre|novembre|décembre|l''année prochaine|'
     'l''année dernière|chaque matin|chaque jour|gaucher|gauchère'),
    ('fr', 'any', 'material',
     'exemple|fenêtre|dossier|téléchargement|par erreur|sans faire exprès|mise en forme|'
     'mise en page|chiffres|graphique|bouton|brouillon|formule|équation|note de bas|'
     'introduction|conclusion|la suite|le reste|fonction|erreur|erreurs|lien|liens|écran|'
     'navigateur|paragraphe|phrase|phrases|colonne|ligne|tableau|titre|réponse|fichier|le code'),
    ('fr', 'whole', 'courtesy',
     'j''aime|j''adore|j''aime bien|je sais|je comprends|moi aussi|j''aime beaucoup|me voilà|'
     'on y va|à moi|je vois'),
    -- Spanish
    ('es', 'first', 'question',
     'qué|que es|que son|que significa|que hora|cómo|como se|como puedo|como hago|cuál|cuáles|'
     'quién|quiénes|dónde|donde|cuándo|cuánto|cuánta|cuántos|cuántas|por qué|por que|para qué|'
     'puedes|puede|podrías|podría|podéis|me puedes|me podrías|me lo puedes|sabes|sabías|'
     'tienes|hay algún|hay alguna|es posible|debería|debo|crees|conoces|quieres|a qué|de qué|'
     'en qué|me pregunto|quisiera saber|me gustaría saber|quiero saber|cual es|quien es|'
     'cuando es|tenéis|puedo|capital de|capital del|receta de|significado de|definición de|'
     'diferencia entre|sinónimos de|sinónimo de|clima en|traducción de'),
    ('es', 'first', 'request',
     'escribe|escríbeme|escriba|escribir|traduce|tradúceme|traduzca|tradúcelo|resúmeme|resuma|'
     'explica|explícame|muestra|muéstrame|muéstreme|enséñame|di|dime|dígame|da|dame|deme|'
     'lista|enumera|corrígeme|corrija|haz|hazme|hazlo|haga|crea|créame|cree un|encuentra|'
     'busca|búscame|comprueba|revisa|revise|ayuda|ayúdame|ayúdeme|compara|redacta|acorta|'
     'amplía|continúa|continua|sigue|siga|intenta|prueba|añade|agrega|quita|elimina|cambia|'
     'modifica|genera|convierte|calcula|lee|abre|envía|envíame|ordena|ejecuta|sugiere|'
     'sugiéreme|recomienda|recomiéndame|dibuja|mejora|reformula|espera|repite|canta|juega|'
     'cuenta|cuéntame|construye|pon|ponme|ponlo|elige|escoge|toma|analiza|simplifica|vamos|'
     'imagina|quiero que|quisiera que|me gustaría que|necesito que|necesito ayuda|'
     'necesito ideas|otra vez|reemplaza|usa|utiliza|organiza|planifica|propón|proponme|'
     'responde a|empieza|termina|desarrolla|resuelve|dale|hagamos|reescribe|házmelo|pásame|'
     'necesito un texto|necesito un ejemplo|necesito una receta|necesito una lista|'
     'necesito una idea|necesito un resumen|necesito tu|quiero un resumen|quiero una lista|'
     'quiero un ejemplo|quisiera un resumen|quisiera una lista|busco una receta|busco ideas|'
     'otro ejemplo|otra versión|otra opción|otro más|otra más|más corto|más largo|'
     'más ejemplos|más formal|más simple|más despacio|más sobre|más divertido|más breve|'
     'evalúa|califica|valora|puntúa|cita|deletrea|pronuncia|descarga|identifica|determina|'
     'investiga|averigua|demuestra|ilustra|interpreta|justifica|inventa|compón|prepara|'
     'combina|intercambia|optimiza|valida|confirma|precisa|detalla|profundiza|aclara|comienza|'
     'para|detente|vuelve|volvamos|hablemos|supongamos|digamos|pregúntame|en una frase|'
     'en inglés|completa|transforma|conjuga|copia|pega|guarda|dibújame|léeme|mándame|házme|'
     'recuérdame qué|háblame de|sigamos|continuemos|empecemos|veamos|a ver si|échale|mira si|'
     'fíjate|aumenta|divide|suma|solo el código|sólo el código|solo la respuesta|'
     'solo la lista|quiero otra|quiero otro|quiero una versión|quiero una tabla|'
     'quiero un texto|otro pero|otra pero|uno más|una más|espérame|lo prefiero en|lo quiero|'
     'la quiero|prefiero la primera|prefiero la segunda|prefiero el primero|'
     'prefiero el segundo|prefiero esta|prefiero este|prefiero una tabla'),
    ('es', 'first', 'courtesy',
     'vuelvo en cinco|vuelvo en diez|vuelvo en un|ahora vuelvo|vuelvo enseguida|te lo pego|'
     'te lo copio|te lo mando|lo copio|'
     'lo pego|sigue igual|sigue saliendo|'
     'lo he vuelto|lo he recargado|lo recargué|he recargado|recargué|'
     'gracias|muchas gracias|muchísimas|mil gracias|te agradezco|agradezco|se agradece|vale|'
     'perfecto|muy bien|muy bueno|muy buena|bueno vale|excelente|estupendo|fantástico|'
     'maravilloso|increíble|guay|chévere|bárbaro|jaja|jajaja|jajajaja|jeje|guau|uy|mmm|perdón|'
     'perdona|perdone|disculpa|disculpe|lo siento|no pasa nada|no hay problema|no hay de qué|'
     'no te preocupes|no importa|no gracias|no sé|no lo sé|no entiendo|no lo entiendo|'
     'no comprendo|no es|no era|no está|no funciona|no va|no me funciona|no así|no eso|'
     'no me refería|no me sirve|no me has|no quería|no me ha gustado tu|no te entiendo|'
     'no tengo ni idea|no estoy de acuerdo|hola|buenos|buenas|buen|adiós|hasta|nos vemos|chao|'
     'chau|que descanses|que tengas|saludos|un saludo|un abrazo|de nada|con gusto|a ti|exacto|'
     'exactamente|correcto|por supuesto|desde luego|entiendo|ya entiendo|ya veo|lo entiendo|'
     'comprendo|entendido|de acuerdo|estoy de acuerdo|tengo una pregunta|tengo otra pregunta|'
     'tengo una duda|tengo otra duda|tengo un problema con|tengo dudas|me refería|'
     'quería decir|quiero decir|creo que sí|creo que no|creo que es|creo que está|'
     'creo que tienes|espero|supongo|mi pregunta|si por favor|claro que|qué bueno|qué bien|'
     'qué interesante|qué divertido|felicidades|enhorabuena|feliz|bienvenido|interesante|'
     'me alegro|me has ayudado|me ayudó|me ha servido|me sirve|me parece bien|me encanta tu|'
     'me gusta tu|me gusta esa|me gusta esta|me gusta eso|me gusta así|me encanta esta|'
     'me encanta eso|listo|un momento|un segundo|igualmente|yo también|tranquilo|da igual|'
     'ni idea|estoy cansado|estoy cansada|estoy aburrido|estoy aburrida|estoy listo|'
     'estoy lista|estoy bien|ya estoy|he vuelto|ya me lo|ya lo|ya está|ya te|ya sé|ya vale|'
     'ya funciona|cierto es|déjame|me alegra|me gusta cómo quedó|me gusta la idea|'
     'me gusta el tono|me gusta la segunda|me gusta la primera|me gusta mucho tu|'
     'me gusta mucho así|me lo pienso|me rindo|me da igual|me da lo mismo|me quedo con|me has|'
     'me hace gracia|me da error|me sale|me dio error|me aparece|me interesa tu|'
     'no me gusta tu|no me gusta así|no me gusta cómo|no me gusta eso|no me gusta esta|'
     'no me gusta esa|no me convence|no me sale|no me parece|no veo|no hace falta|no tan|'
     'no del todo|no exactamente|no tengo claro|no tengo más|no tengo preguntas|no creo|no te|'
     'no quise|no mucho|no pasa|no puede ser|no sabía|no te sigo|no te creas|lo he probado|'
     'lo probé|lo intenté|lo voy a|lo pensaré|lo sé|lo mismo|lo tengo|he probado|probé|'
     'estoy perdido|estoy perdida|estoy confundido|estoy confundida|estoy aquí|estoy pensando|'
     'estoy probando|estoy impresionado|estoy de vuelta|quería|quise decir|solo preguntaba|'
     'solo quería|era broma|es broma|mi error|mi culpa|dios mío|qué gracioso|qué risa|'
     'qué chulo|qué lindo|qué bonito|qué guay|qué raro|qué pena|qué lástima|qué tal|'
     'qué maravilla|qué curioso|muy interesante|muy útil|muy claro|muy gracioso|muy amable|'
     'muy bonito|buena idea|buena pregunta|buen trabajo|buen punto|bien hecho|bonito|lindo|'
     'divertido|gracioso|curioso|raro|oye|ey|uf|ups|vaya|anda|ostras|mucho gusto|encantado|'
     'encantada|cómo estás|como dije|como te dije|como decía|cuídate|que te vaya|que pases|'
     'que duermas|a mí también|yo tampoco|nada mal|nada más|nada que ver|te quiero|'
     'te entiendo|no había pensado|no lo había|no se me|veo dos|veo tres|veo un|veo una|'
     'cerré la|cerré el|abrí el|abrí la|te mando|te envío|ahora te|elijo|escojo|copio|pego|'
     'luego lo|luego la|ahora lo|lo miro|lo veo|lo leo|lo pruebo|lo reviso|lo estoy|la estoy|'
     'estoy leyendo|estoy mirando|voy a probar|voy a leer|me tengo que ir|tengo que irme|'
     'tengo que pensar|me voy|me equivoqué|me he equivocado|yo me refería|se me congeló|'
     'se me ha|no puedo abrir|no lo veo|no me abre|he leído|he borrado|ya lo he|ya lo probé|'
     'mi pantalla|mi código|mi navegador|mi internet|podemos saltar|podemos seguir|podríamos|'
     'deberíamos'),
    ('es', 'first', 'remark',
     'la suma|el total|'
     'eso|esto|ese|esa|este|esta|esos|estos|así|aquí|ahí|tus|su respuesta|tú|usted|'
     'es correcto|es muy|es demasiado|es un poco|es perfecto|está bien|está mal|está muy|'
     'parece|suena|la respuesta|el texto|el código|la segunda|la primera|la última|el segundo|'
     'el primero|el último|el enlace|el resultado|el ejemplo|la traducción|demasiado|hoy hace|'
     'hace calor|hace frío|hace mucho calor|hace mucho frío|hace buen|qué calor|qué frío|'
     'quizás|ninguno|ambos|eres|estás|te has|lo que dije|lo que dices|lo que quería|sigue sin|'
     'todavía no|aún no|mismo error|el mismo error|mismo problema|casi|mucho mejor|mejor así|'
     'mejor|peor|un poco más|un poco|un poquito|el tono|el título|el resto|el chiste|'
     'el resumen|el poema|la frase|la receta|la lista|la idea|la explicación|la tabla|'
     'la función|la imagen|el error|el archivo|la página|los dos|las dos|ninguna|ninguno de|'
     'nada funciona|todo funciona|todo bien|hace viento|hace sol|está lloviendo|llueve|'
     'hay un error|falta|faltan|sobra|extraño|hoy está|te falta|te equivocas|te equivocaste|'
     'te pasaste|te olvidaste|te he|te dije|te lo'),
    ('es', 'first', 'statement',
     'es mi|es nuestro|es nuestra|llámame|llámeme|recuerda|recuerde|acuérdate|no olvides|'
     'no te olvides|ten en cuenta|tenga en cuenta|apunta|anota|a partir de ahora|'
     'de ahora en adelante|en adelante|en el futuro|contéstame|respóndeme|háblame|tutéame|'
     'evita|nada de|sin|nunca|soy|estoy casado|estoy casada|alérgico|alérgica|casado|casada|'
     'vegetariano|este año|este mes|este fin de semana|esta semana|este verano|esta es mi|'
     'este es mi|ese es mi|esa es mi|cuando era|cuando tenía|busco trabajo|busco piso|'
     'era profesor|hace dos años|hace tres años|hace un año|hace años|responde en|'
     'responde siempre|contesta|habla en|hay que|usa siempre|trátame|no es mi|no es mía|'
     'no es mío|donde vivo|donde trabajo|como carne|como pescado|como mucho|como poco|'
     'como fuera|como en casa|como sin|como de todo|ya no|puedes llamarme|podéis llamarme|'
     'me puedes llamar|me dicen|me llaman|háblame de tú|es para mi|es para mí|ninguno de mis|'
     'todavía no tengo|todavía vivo|aún vivo|mejor amigo|nada picante|qué me gusta|más de 500|'
     'escribe siempre|hoy cumplo|lo mío|es para mis|no bebo|no fumo|no como|vengo de|'
     'nunca como|sin gluten|me mudo|me casé'),
    ('es', 'first', 'filler',
     'y|pero|pues|bueno|entonces|por cierto|en realidad|la verdad|de hecho|por favor|además|'
     'porque|hola soy|hola yo|o sea|para que sepas|para que lo sepas|corrección|eh|mira|sí y|'
     'sí pero|ya|sí|ahora|ahora mismo|solo|sólo|simplemente|actualmente|hoy|ayer|mañana|'
     'desgraciadamente|por desgracia|por suerte|afortunadamente|personalmente|otra cosa|'
     'una cosa más|una cosa|pequeña corrección|para aclarar|por si acaso|que conste|ah sí|'
     'ah y|eso sí|bueno y|gracias pero|perdona pero|perdón pero|no gracias pero|lo siento pero'),
    ('es', 'last', 'question',
     'qué tal|verdad|no crees|cómo estás|qué hay'),
    ('es', 'last', 'courtesy',
     'más tarde|luego seguimos|luego|eso|esto|de tecla'),
    ('es', 'any', 'self',
     'yo|mí|mis|conmigo|nosotros|nosotras|nuestro|nuestra|nuestros|nuestras|soy|tengo|vivo|'
     'trabajo|prefiero|odio|llevo|uso|hablo|bebo|no como|estudio|aprendo|nací|juego|quiero|'
     'necesito|puedo|suelo|conduzco|tenemos|vivimos|somos|estamos|estoy|usamos|trabajamos|mi|'
     'manejo|toco|cocino|corro|nado|escribo|colecciono|vendo|enseño|tomo|duermo|madrugo|cuido|'
     'entreno|practico|viajo|pago|gano|sufro|padezco|fumo|canto|bailo|pinto|monto en|crío|'
     'cultivo|nos mudamos|me mudé|me casé|me divorcié|me jubilé|perdí|compré|vendí|empecé|'
     'dejé|nací en'),
    ('es', 'any', 'always',
     'siempre|nunca|jamás|a partir de ahora|de ahora en adelante|cada vez'),
    ('es', 'any', 'you',
     'tú|tus|ti|usted|ustedes|vosotros'),
    ('es', 'any', 'personal',
     'divorciarme|divorciarnos|separarme|'
     'despidieron|despedido|despedida|nieto|nieta|nietos|cabras|gallinas|caballo|caballos|'
     'conejo|camión|coche|carro|bicicleta|ex marido|ex mujer|hijastro|hijastra|guardería|'
     'instituto|colegio|escuela|religión|iglesia|mezquita|ramadán|navidad|semana santa|'
     'voluntario|voluntaria|hipoteca|préstamo|deudas|seguro médico|impuestos|afición|'
     'aficiones|favorito|favorita|audífonos|médico|médica|ingeniero|ingeniera|abogado|abogada|'
     'cocinero|cocinera|panadero|panadera|agricultor|electricista|fontanero|carpintero|piloto|'
     'soldado|farmacéutico|farmacéutica|periodista|arquitecto|arquitecta|fútbol|natación|'
     'escalada|cáncer|espalda|tensión|tiroides|epilepsia|insomnio|gafas|vecino|vecina|vecinos|'
     'jardín|balcón|talla|mamá|madre|papá|padre|padres|hermana|hermano|hermanas|hermanos|'
     'esposa|esposo|marido|mi mujer|hija|hijas|hijo|hijos|niños|bebé|gemelos|gemelas|abuela|'
     'abuelo|tía|tío|sobrina|sobrino|novia|novio|prometida|prometido|compañero de piso|perro|'
     'perra|cachorro|gato|gata|gatos|alergia|alergias|alérgico|alérgica|intolerante|'
     'intolerancia|diabético|diabética|asma|celíaco|celíaca|vegano|vegana|vegetariano|'
     'vegetariana|lactosa|embarazada|cirugía|operación|operaron|migraña|migrañas|medicación|'
     'insulina|silla de ruedas|dentista|depresión|empleo|jefe|jefa|enfermero|enfermera|'
     'profesor|profesora|maestra|turno de noche|autónomo|autónoma|jubilado|jubilada|'
     'jubilación|desempleado|estudiante|tesis|universidad|exámenes|oposiciones|entrevista|'
     'prácticas|sueldo|teletrabajo|trabajo nuevo|nuevo trabajo|trabajo en|casero|alquiler|'
     'piso|apartamento|mudanza|nacido|nacida|cumpleaños|cumple|boda|aniversario|casado|casada|'
     'divorciado|divorciada|soltero|soltera|años|vuelo|vacaciones|visado|pasaporte|maratón|'
     'gimnasio|tenis|guitarra|violín|coro|presupuesto|lengua materna|lunes|martes|miércoles|'
     'jueves|viernes|sábado|sábados|domingo|domingos|enero|febrero|marzo|abril|mayo|junio|'
     'julio|agosto|septiembre|octubre|noviembre|diciembre|el año que viene|cada mañana|'
     'todos los días|zurdo|zurda'),
    ('es', 'any', 'material',
     'ejemplo|ventana|carpeta|descarga|sin querer|por error|formato|página|páginas|números|'
     'gráfico|gráfica|botón|borrador|fuente|fórmula|ecuación|menú|nota al pie|introducción|'
     'conclusión|el resto|código|función|errores|fallo|enlace|enlaces|pantalla|navegador|'
     'párrafo|frase|frases|columna|columnas|línea|tabla|título|respuesta|archivo|el código|'
     'pregunta|versión|opción|tecla'),
    ('es', 'whole', 'courtesy',
     'me gusta|me encanta|me gusta mucho|yo también|a mí también|lo sé|yo no|a mí no|'
     'no quiero|no puedo|me sirve|ya lo tengo|no tengo|soy yo|me parece'),
    -- Italian
    ('it', 'first', 'question',
     'che cosa|cosa|cos''è|che ore|che ora|che differenza|che significa|che tempo|come|chi|'
     'dove|dov''è|quando|quanto|quanta|quanti|quante|quale|quali|qual|qual è|perché|puoi|'
     'potresti|può|potrebbe|mi puoi|mi potresti|sai|sapresti|hai|c''è un|ci sono|è possibile|'
     'dovrei|credi|conosci|vuoi|mi chiedo|vorrei sapere|a che|di che|in che|capitale del|'
     'capitale della|capitale di|ricetta della|ricetta del|ricetta per|significato di|'
     'definizione di|differenza tra|sinonimi di|sinonimo di|meteo'),
    ('it', 'first', 'request',
     'scrivi|scrivimi|scriva|traduci|traducilo|traducimi|traduca|riassumi|riassuma|spiega|'
     'spiegami|spieghi|mostra|mostrami|dimmi|dai|dammi|mi dia|elenca|correggi|fai|fallo|fammi|'
     'fa|creami|trova|trovami|cerca|cercami|controlla|verifica|aiuta|aiutami|confronta|'
     'accorcia|amplia|prosegui|procedi|prova|aggiungi|togli|rimuovi|converti|calcola|leggi|'
     'apri|invia|manda|ordina|esegui|suggerisci|suggeriscimi|consiglia|consigliami|descrivi|'
     'disegna|migliora|riformula|aspetta|ripeti|gioca|conta|raccontami|racconta|definisci|'
     'costruisci|metti|mettilo|scegli|prendi|analizza|semplifica|andiamo|immagina|vorrei che|'
     'voglio che|un altro|un''altra|adesso scrivi|adesso fai|sostituisci|utilizza|organizza|'
     'pianifica|proponi|proponimi|rispondi a|rispondi alla|inizia|finisci|sviluppa|risolvi|'
     'rendilo|rendi|riscrivi|vai|ho bisogno di aiuto|ho bisogno di una mano|ho bisogno che|'
     'ho bisogno di idee|ho bisogno di un testo|ho bisogno di un esempio|mi serve un|'
     'mi serve una|mi servono|vorrei un riassunto|vorrei un esempio|vorrei una lista|'
     'vorrei una ricetta|vorrei delle idee|vorrei un consiglio|vorrei dei consigli|'
     'vorrei aiuto|cerco una ricetta|cerco idee|ancora un|ancora una|più corto|più breve|'
     'più lungo|più semplice|più esempi|più formale|valuta|giudica|classifica|sillaba|'
     'trascrivi|scarica|indaga|scopri|dimostra|illustra|giustifica|componi|scambia|ottimizza|'
     'conferma|approfondisci|chiarisci|comincia|smetti|fermati|torna|torniamo|parliamo|'
     'parlami di|facciamo|supponiamo|diciamo|fingi|interrogami|chiedimi|fai una|fai un|'
     'in una frase|in inglese|trasforma|coniuga|sottolinea|incolla|salva|leggimi|mandami|'
     'passami|fammelo|rifallo|rifai|continuiamo|iniziamo|vediamo|proviamo|guarda se|riduci|'
     'dividi|somma|aggiungici|solo il codice|solo la risposta|voglio un testo|'
     'voglio una tabella|voglio una lista|voglio un''altra|vorrei una tabella|'
     'vorrei un''altra|un altro ma|un''altra ma|preferisco la prima|preferisco la seconda|'
     'preferisco il primo|preferisco il secondo|preferisco questa|preferisco questo|'
     'preferisco una tabella|lo preferisco'),
    ('it', 'first', 'courtesy',
     'torno tra cinque|torno tra dieci|torno tra poco|torno tra un attimo|torno subito|'
     'te lo incollo|lo incollo|'
     'ho ricaricato|ho riavviato|ho rilanciato|'
     'grazie|mille grazie|tante grazie|ti ringrazio|la ringrazio|va bene|va benissimo|'
     'perfetto|ottimo|bene|molto bene|benissimo|fantastico|bellissimo|bellissima|stupendo|'
     'splendido|eccellente|magnifico|figo|ahah|ahaha|ahahah|uhm|boh|mah|scusa|scusami|scusi|'
     'mi scusi|mi dispiace|nessun problema|non c''è problema|non c''è di che|non fa niente|'
     'non importa|non preoccuparti|non ti preoccupare|non capisco|non ho capito|non lo so|'
     'non so|non è|non era|non va|non funziona|non intendevo|non mi hai|non mi funziona|'
     'non mi piace la tua|non mi è chiaro|non sono d''accordo|niente male|niente di|no grazie|'
     'salve|buongiorno|buonasera|buona|buonanotte|buon|arrivederci|a domani|a presto|a dopo|'
     'ci vediamo|ci sentiamo|prego|di niente|figurati|volentieri|esatto|esattamente|giusto|'
     'corretto|certamente|sicuro|ovvio|capito|capisco|ho capito|adesso capisco|ora capisco|'
     'lo so|d''accordo|sono d''accordo|ho una domanda|ho un''altra domanda|ho un dubbio|'
     'ho ancora|ho un problema con|intendevo|volevo dire|voglio dire|penso di sì|'
     'penso che sia|credo di sì|credo che sia|spero|suppongo|la mia domanda|si grazie|'
     'si certo|che bello|che bella|che interessante|che divertente|che figata|complimenti|'
     'congratulazioni|auguri|buone|benvenuto|interessante|sono contento|sono contenta|'
     'sono stanco|sono stanca|sono pronto|sono pronta|sono tornato|sono tornata|sto bene|'
     'mi hai|mi è stato|mi va bene|mi piace la tua|mi piace questo|mi piace questa|'
     'mi piace così|un attimo|un secondo|anch''io|anche io|altrettanto|fa niente|fatto|'
     'vedo che|vedo grazie|certo che|fammi pensare|fammi vedere|fammi provare|fammi capire|'
     'lasciami|mi piace l''idea|mi piace la seconda|mi piace la prima|mi piace il tono|'
     'mi piace come|mi piace molto così|mi arrendo|mi è uguale|mi dà errore|mi da errore|'
     'mi fa ridere|mi sembra|mi spiace|mi aspettavo|mi riferivo|mi sono perso|mi sono persa|'
     'mi correggo|me l''avevi|me lo hai|me l''hai|te l''ho|non mi convince|non mi sembra|'
     'non mi serve più|non mi piace così|non mi piace questo|non mi piace questa|non vedo|'
     'non serve|non proprio|non del tutto|non esattamente|non credo|non ti|non volevo|'
     'non molto|non può essere|non sapevo|non ti seguo|non male|non ho domande|non ho altro|'
     'non ci siamo|non ci credo|l''ho provato|ho provato|ci ho provato|ci penso|ci provo|'
     'ci siamo|ci sono arrivato|ci sta|ho un errore|ho chiesto|ho detto|ho visto|'
     'ho letto la tua|sono confuso|sono confusa|sono qui|sono curioso|sono curiosa|'
     'sono impressionato|sono colpito|sto scherzando|scherzo|sto pensando|sto provando|'
     'volevo solo|volevo sapere|chiedevo|era uno scherzo|colpa mia|errore mio|mio dio|'
     'che ridere|che carino|che carina|che peccato|che strano|che meraviglia|che forte|'
     'che schifo|molto interessante|molto utile|molto chiaro|molto gentile|molto carino|'
     'buona idea|bella idea|buona domanda|bella domanda|buon lavoro|ben fatto|bello|bella|'
     'carino|carina|divertente|strano|simpatico|gentilissimo|gentile|ehi|ops|caspita|'
     'accidenti|cavolo|piacere|molto piacere|come ho detto|come dicevo|come ti dicevo|'
     'stammi bene|buona giornata|buona serata|buona notte|a te|anche a te|neanche io|'
     'tutto chiaro|tutto bene|tutto ok|niente da fare|non ci avevo|non avevo pensato|ne vedo|'
     'vedo due|vedo un|vedo una|ho chiuso|ho aperto|provati|provato|provata|scelgo|prendo la|'
     'ti mando|ti invio|incollo|lo guardo|lo leggo|lo provo|lo vedo|provo subito|provo ora|'
     'sto leggendo|sto guardando|devo andare|devo scappare|devo pensarci|mi sono sbagliato|'
     'mi sono sbagliata|ho sbagliato|mi dà|mi da ancora|mi esce|mi appare|mi si è|'
     'non riesco ad aprire|non mi serve|non mi apre|ho letto|ho cancellato|ho copiato|'
     'il mio schermo|il mio codice|la mia connessione|possiamo saltare|possiamo continuare|'
     'potremmo|dovremmo|ho un''altra'),
    ('it', 'first', 'remark',
     'la somma|il totale|'
     'questo|questa|questi|queste|quello|quella|quelli|ciò|così|qua|lì|la tua|il tuo|le tue|'
     'i tuoi|lei ha|è corretto|è sbagliato|è troppo|è perfetto|è molto|è un po''|sembra|suona|'
     'la risposta|il testo|il codice|la seconda|la prima|l''ultima|il secondo|il primo|'
     'l''ultimo|il link|il risultato|l''esempio|la traduzione|troppo|oggi fa|fa caldo|'
     'fa freddo|che caldo|che freddo|piove|forse|nessuno|entrambi|sei|hai fatto|quello che|'
     'ancora non|non ancora|stesso errore|lo stesso errore|stesso problema|quasi|molto meglio|'
     'meglio così|meglio|peggio|un po'' più|un po'' troppo|un po''|il tono|il titolo|il resto|'
     'il riassunto|la ricetta|l''idea|la spiegazione|la tabella|la funzione|l''immagine|'
     'l''errore|il file|la pagina|la barzelletta|la poesia|tutti e due|nessuno dei|'
     'niente funziona|tutto funziona|c''è vento|c''è il sole|c''è un errore|manca|mancano|'
     'nevica|oggi è|è bello|è brutto|è freddo|è caldo|è ancora|era questo|quel che|'
     'hai sbagliato|hai dimenticato|hai ragione|hai torto|ti sei|ti manca|ti avevo|ti ho'),
    ('it', 'first', 'statement',
     'chiamami|mi chiami|ricorda|ricordati|si ricordi|non dimenticare|non dimenticarti|'
     'tieni presente|tieni a mente|tenga presente|segnati|annota|d''ora in poi|da ora in poi|'
     'in futuro|rispondimi|rispondi in|rispondi sempre|parlami|dammi del|niente|nessun|'
     'nessuna|senza|sono|allergico|allergica|sposato|sposata|vegetariana|quest''anno|'
     'questo mese|questa settimana|questo weekend|questa è mia|questa è la mia|'
     'questo è il mio|questo è mio|questi sono i miei|quando ero|quando avevo|cerco lavoro|'
     'cerco casa|ho bisogno di dormire|dove lavoro|usa sempre|da quando|da piccolo|da piccola|'
     'ci sono due|mi puoi chiamare|puoi chiamarmi|mi chiamano|mi dicono|oggi compio|'
     'oggi è il mio|non è mio|non è mia|niente latticini|quando lavoro|come carne|'
     'scrivi sempre|ti ho detto che sono|ancora vivo|vedo male|è il mio|è mia|è mio|'
     'tutti i miei|c''è mia|ho bisogno di occhiali|non|è per mia|è per mio|è per i miei|'
     'vengo da|vengo dalla|vengo dal|non bevo|non fumo|non mangio|senza glutine|'
     'mi trasferisco|mi sono sposato|mi sono sposata'),
    ('it', 'first', 'filler',
     'e|ma|però|allora|quindi|poi|comunque|tra l''altro|a proposito|in realtà|veramente|'
     'a dire il vero|per favore|per piacere|inoltre|ciao sono|ciao io|per tua informazione|'
     'sappi che|perché io|correzione|ok ma|sì ma|insomma|beh|sì|ora|adesso|soltanto|'
     'semplicemente|attualmente|oggi|ieri|domani|purtroppo|per fortuna|fortunatamente|'
     'un''altra cosa|altra cosa|piccola correzione|per chiarire|per la cronaca|ah e|ah sì|'
     'grazie ma|scusa ma|no grazie ma|mi dispiace ma'),
    ('it', 'last', 'question',
     'vero|giusto|no|come stai|come va|tutto bene'),
    ('it', 'last', 'courtesy',
     'più tardi|dopo|a dopo|subito|questo|questa cosa'),
    ('it', 'any', 'self',
     'io|mio|mia|miei|mie|noi|nostro|nostra|nostri|nostre|ci|sono|ho|abito|lavoro|preferisco|'
     'detesto|adoro|amo|sto|studio|parlo|bevo|mangio|faccio|suono|abbiamo|siamo|usiamo|'
     'abitiamo|viviamo|posso|voglio|vorrei|nacqui|guido|gioco a|cucino|nuoto|scrivo|'
     'colleziono|insegno|dormo|mi alleno|pratico|viaggio|guadagno|soffro|ballo|dipingo|allevo|'
     'coltivo'),
    ('it', 'any', 'always',
     'sempre|mai|d''ora in poi|in futuro|ogni volta'),
    ('it', 'any', 'you',
     'tuo|tua|tuoi|tue|voi|vostro|vostra|suo|sua'),
    ('it', 'any', 'personal',
     'licenziato|licenziata|nipoti|capre|galline|cavallo|cavalli|coniglio|macchina|automobile|'
     'bicicletta|ex marito|ex moglie|figliastro|asilo|liceo|scuola|religione|chiesa|moschea|'
     'natale|pasqua|volontario|volontaria|volontariato|mutuo|prestito|debiti|assicurazione|'
     'tasse|preferito|preferita|apparecchi acustici|medico|ingegnere|avvocato|avvocata|cuoca|'
     'fornaio|panettiere|agricoltore|elettricista|idraulico|falegname|pilota|soldato|'
     'farmacista|giornalista|architetto|calcio|arrampicata|cancro|tumore|mal di schiena|'
     'pressione|tiroide|epilessia|insonnia|occhiali|vicino di casa|vicini|giardino|balcone|'
     'chili|mamma|papà|genitori|sorella|sorelle|fratello|fratelli|moglie|marito|figlia|figlie|'
     'figlio|figli|bambini|bambina|bambino|neonato|gemelli|gemelle|nonna|nonno|nonni|zia|zio|'
     'cugina|cugino|nipote|fidanzata|fidanzato|ragazza|coinquilino|coinquilina|cane|cagnolino|'
     'gatto|gatta|gatti|allergia|allergico|allergica|intollerante|intolleranza|diabete|'
     'diabetico|diabetica|celiaco|celiaca|glutine|lattosio|incinta|intervento|operazione|'
     'emicrania|farmaci|sedia a rotelle|depressione|impiego|capo|infermiere|infermiera|'
     'insegnante|professore|professoressa|cuoco|turno di notte|turni di notte|'
     'libero professionista|pensionato|pensionata|pensione|disoccupato|disoccupata|studente|'
     'studentessa|tesi|università|esame|esami|colloquio|tirocinio|stipendio|smart working|'
     'da casa|lavoro in|lavoro nuovo|nuovo lavoro|padrone di casa|affitto|appartamento|'
     'trasloco|trasferita|nato|nata|cresciuto|cresciuta|compleanno|matrimonio|anniversario|'
     'funerale|sposato|sposata|divorziato|divorziata|anni|volo per|vacanza|vacanze|passaporto|'
     'maratona|palestra|chitarra|pianoforte|violino|madrelingua|lunedì|martedì|mercoledì|'
     'giovedì|venerdì|sabato|domenica|gennaio|febbraio|aprile|maggio|giugno|luglio|settembre|'
     'ottobre|dicembre|l''anno prossimo|ogni mattina|ogni giorno|mancino|mancina'),
    ('it', 'any', 'material',
     'esempio|finestra|cartella|scaricamento|per sbaglio|per errore|formattazione|pagina|'
     'pagine|numeri|grafico|pulsante|bozza|equazione|nota a piè|introduzione|conclusione|'
     'il resto|codice|variabile|funzione|errore|errori|schermo|paragrafo|frasi|colonna|riga|'
     'tabella|titolo|risposta|il codice|domanda|versione|opzione'),
    ('it', 'whole', 'courtesy',
     'mi piace|mi piace molto|anch''io|lo adoro|adoro|lo so|io no|io sì|non posso|non voglio|'
     'mi va|ci sto|ho fatto|ho finito|ci sono|sono io|mi basta'),
    -- Portuguese
    ('pt', 'first', 'question',
     'o que|que horas|que dia|o quê|quais|quem|onde|quantos|quantas|por quê|porque é que|'
     'para que|como|pode|podes|você pode|você poderia|poderia|poderias|consegue|consegues|'
     'sabe|você sabe|você tem|tem como|há algum|há alguma|existe|existem|é possível|deveria|'
     'acha|achas|você acha|conhece|quer|será|me pergunto|queria saber|gostaria de saber|'
     'quero saber|em que|de que|a que|cadê|você conhece|capital do|capital da|receita de|'
     'definição de|diferença entre|sinônimos de|clima em|previsão do tempo|tradução de'),
    ('pt', 'first', 'request',
     'escreva|escreve|escreva-me|traduza|traduz|explica-me|me explica|me explique|mostre|'
     'mostra-me|me mostra|me mostre|diga|diz|me diga|me diz|dê|dá|me dê|me dá|dá-me|dê-me|'
     'enumere|faça|faz|crie|cria|encontre|encontra|procure|procura|busque|verifique|ajude|'
     'ajuda|me ajuda|me ajude|ajuda-me|redija|encurte|encurta|amplie|pode continuar|segue|'
     'tente|tenta|experimente|adicione|adiciona|acrescente|tire|remova|elimine|mude|muda|'
     'altere|modifique|gere|gera|converta|converte|leia|lê|abra|envie|envia|mande|ordene|'
     'execute|sugira|sugere|recomende|recomenda|descreva|descreve|desenhe|melhore|melhora|'
     'reescreva|espere|repita|repete|cante|jogue|conte|me conta|me conte|defina|construa|'
     'ponha|coloque|coloca|deixe|deixa|escolha|escolhe|pegue|analise|analisa|simplifique|'
     'vamos lá|vamos continuar|vamos ver|vamos para|vamos fazer|quero que|queria que|'
     'gostaria que|preciso que|preciso de ajuda|preciso de ideias|outra vez|agora faça|'
     'agora escreva|substitua|use|utilize|planeje|proponha|responda a|responda à|'
     'responda essa|comece|termine|desenvolva|resolva|pode fazer|pode mandar|pode seguir|'
     'preciso de um texto|preciso de um exemplo|preciso de uma receita|preciso de uma lista|'
     'preciso de um resumo|preciso da sua|quero um resumo|quero uma lista|quero um exemplo|'
     'queria um resumo|queria uma lista|procuro uma receita|outro exemplo|outra versão|'
     'outra opção|mais curto|mais longo|mais exemplos|mais formal|mais simples|mais devagar|'
     'mais sobre|mais um|mais uma|avalie|avalia|classifique|soletre|pronuncie|transcreva|'
     'baixe|identifique|investigue|descubra|demonstre|ilustre|interprete|justifique|componha|'
     'troque|otimize|detalhe|aprofunde|esclareça|pare|volte|voltemos|vamos voltar|vamos falar|'
     'vamos começar|vamos supor|finja|me pergunte|pergunte|em uma frase|numa frase|em inglês|'
     'complete|cole|me manda|me mande|me passa|me fala|me fale|me lê|refaça|refaz|veja se|'
     'vê se|olhe|reduza|aumente|divida|some|fale sobre|me ensina|me ensine|explica isso|'
     'me faz|me faça|põe|bota|arruma|corrija isso|só a resposta|só a lista|quero outra|'
     'quero outro|quero uma tabela|quero um texto|quero uma versão|só o código|'
     'prefiro a primeira|prefiro a segunda|prefiro o primeiro|prefiro o segundo|prefiro essa|'
     'prefiro esse|prefiro em tabela'),
    ('pt', 'first', 'courtesy',
     'volto em cinco|volto em dez|volto já|colo outra vez|copio outra vez|mando outra vez|'
     'vou colar|vou copiar|'
     'recarreguei|atualizei a página|'
     'obrigado|obrigada|muito obrigado|muito obrigada|muitíssimo|valeu|brigado|brigada|'
     'agradeço|grato|grata|tá|tá bom|ta bom|está bem|tudo bem|tudo bom|tudo certo|beleza|blz|'
     'perfeito|ótimo|ótima|óptimo|legal|muito bom|muito boa|muito bem|bem|bom dia|boa|'
     'maravilha|maravilhoso|incrível|massa|bacana|fixe|porreiro|kkk|kkkk|kkkkk|rs|rsrs|uau|'
     'nossa|desculpa|desculpe|perdão|sinto muito|sem problema|sem problemas|sem pressa|'
     'não tem problema|não faz mal|não se preocupe|não te preocupes|não importa|não obrigado|'
     'não obrigada|não sei|não entendi|não entendo|não percebi|não é|não foi|não era|não está|'
     'não funciona|não funcionou|não deu|não deu certo|não quis|não gostei|não concordo|oi|'
     'olá|opa|e aí|tchau|adeus|até|falou|abraço|abraços|por nada|com prazer|às ordens|exato|'
     'exatamente|correto|com certeza|entendi|entendo|já entendi|já percebi|percebi|'
     'agora entendi|agora sim|compreendo|saquei|concordo|de acordo|tenho uma dúvida|'
     'tenho uma pergunta|tenho outra|tenho dúvidas|tenho um problema com|eu quis dizer|'
     'quis dizer|quero dizer|eu entendo|eu entendi|eu concordo|acho que sim|acho que não|'
     'acho que é|acho que está|suponho|minha dúvida|minha pergunta|que legal|que bom|'
     'que ótimo|que interessante|que engraçado|que bacana|que lindo|que massa|parabéns|'
     'bem-vindo|fico feliz|estou cansado|estou cansada|estou pronto|estou pronta|estou bem|'
     'voltei|estou de volta|me ajudou|ajudou|adorei|gostei|gosto dessa|gosto disso|'
     'gosto da sua|amei|um momento|um segundo|só um|eu também|tanto faz|pronto|feito|'
     'verdade mesmo|eu sei disso|eu sei que|deixa eu|deixe-me|deixa-me|me deixa pensar|'
     'gostei da|gostei do|gosto da ideia|gosto assim|gosto desse|gosto do tom|me confundi|'
     'me enganei|me expressei|me refiro|me dá erro|me deu erro|me parece|me rendo|'
     'não consigo ver|não vejo|não precisa|não muito|não exatamente|não totalmente|não tão|'
     'não gosto da sua|não gosto desse|não gosto disso|não me serve|não me parece|não acho|'
     'não acredito|não te|não pode ser|não sabia|não tenho perguntas|não ficou|não quero mais|'
     'não quero isso|tentei|já tentei|eu tentei|vou tentar|vou pensar|vou ver|vou testar|'
     'vou usar|vou ler|já volto|já sei|já está|já chega|já me|já tinha|tenho um erro|'
     'tenho mais|deu erro|estou confuso|estou confusa|estou perdido|estou perdida|estou aqui|'
     'estou curioso|estou curiosa|estou pensando|estou testando|estou impressionado|'
     'estou brincando|brincadeira|tô brincando|só queria|só perguntei|era brincadeira|'
     'meu erro|minha culpa|meu deus|que fofo|que pena|que estranho|que maravilha|que coisa|'
     'que nada|muito interessante|muito útil|muito claro|muito gentil|muito legal|'
     'muito engraçado|boa ideia|boa pergunta|boa noite|boa tarde|bom trabalho|bom ponto|'
     'bem feito|linda|engraçado|estranho|ei|ufa|puxa|caramba|eita|poxa|prazer|muito prazer|'
     'como vai|como eu disse|como eu falei|se cuida|bom fim|bom descanso|boa sorte|'
     'pra você também|nem eu|tudo ótimo|tudo claro|nada mau|nada demais|amei a|adorei a|'
     'adorei o|foi mal|fechado|combinado|eu agradeço|eu quero que|eu queria que|'
     'eu preciso que|não tinha pensado|estou vendo|vejo dois|vejo um|vejo uma|fechei|abri o|'
     'abri a|testei|fico com|te envio|escolho|colo|depois eu|depois vejo|vou olhar|'
     'estou lendo|estou olhando|tô lendo|tenho que ir|tenho que pensar|preciso ir|errei|'
     'dá erro|não consigo abrir|não abre|li sua|apaguei|copiei|minha tela|meu código|'
     'meu navegador|minha internet|podemos pular|podemos continuar|poderíamos|deveríamos|'
     'até mais'),
    ('pt', 'first', 'remark',
     'a soma|o total|'
     'isso|isto|esse|essa|esses|estes|aquilo|aquele|assim|aqui|aí|a sua|o seu|sua|seu|tua|teu|'
     'a tua|o teu|você|é correto|é muito|é demais|é um pouco|está errado|está certo|'
     'está muito|ficou|soa|a resposta|o texto|o código|a segunda|a primeira|a última|'
     'o segundo|o primeiro|o último|o link|o resultado|o exemplo|a tradução|demais|hoje está|'
     'está calor|está frio|que calor|que frio|talvez|nenhum|vocês|foi|era isso|o que eu disse|'
     'ainda não|ainda está|mesmo erro|o mesmo erro|mesmo problema|quase|muito melhor|'
     'melhor assim|melhor|pior|um pouco mais|um pouco|um pouquinho|o tom|o título|o resto|'
     'o resumo|o poema|a frase|a receita|a lista|a ideia|a explicação|a tabela|a função|'
     'a imagem|o erro|o arquivo|a página|a piada|os dois|nenhuma|nenhum dos|tudo funciona|'
     'está ventando|está chovendo|chove|tem um erro|faltou|hoje tá|tá quente|tá frio|'
     'está quente|faz calor|faz frio|errou|você errou|o que eu|o que você'),
    ('pt', 'first', 'statement',
     'pode me chamar|pode chamar|me chame|me chama|chama-me|chame-me|me chamo|chamo-me|lembre|'
     'lembre-se|lembra|lembra-te|lembre-se de|não esqueça|não se esqueça|não te esqueças|'
     'tenha em mente|tem em conta|leve em conta|anote|a partir de agora|de agora em diante|'
     'daqui em diante|no futuro|responda|responde|responda-me|fale|fala comigo|me responda|'
     'evite|sem|não|sou|este ano|este mês|neste|nesta|essa é minha|essa é a minha|'
     'esse é o meu|este é o meu|esta é a minha|quando eu|procuro emprego|preciso de óculos|'
     'bem casado|a gente|use sempre|me trate|trate-me|você pode me chamar|podem me chamar|'
     'me chamam|como peixe|como muito|como pouco|como fora|como de tudo|hoje faço|não é meu|'
     'não é minha|ainda moro|ainda não tenho filhos|nenhum dos meus|já não|não consigo comer|'
     'não consigo dormir|é o meu|é a minha|é meu|é minha|escreva sempre|o que eu gosto|'
     'o que eu mais|melhor amigo|tudo que eu|é para minha|é para meu|é para a minha|'
     'é para o meu|é pra minha|é pro meu|venho do|venho da|venho de|não bebo|não fumo|'
     'não como|sem glúten|vou me casar'),
    ('pt', 'first', 'filler',
     'mas|então|bom então|pois|aliás|na verdade|a propósito|por sinal|pfv|além disso|oi eu|'
     'olá eu|oi sou|olá sou|para sua informação|só para você saber|correção|bem eu|ok mas|'
     'sim mas|sim e|olha|sim|agora|só|somente|simplesmente|atualmente|hoje|ontem|amanhã|'
     'infelizmente|felizmente|pessoalmente|outra coisa|mais uma coisa|uma coisa|'
     'pequena correção|para esclarecer|ah sim|já|bom|obrigado mas|obrigada mas|desculpa mas|'
     'não obrigado mas|valeu mas'),
    ('pt', 'last', 'question',
     'né|não é|tudo bem|tudo bom|como vai'),
    ('pt', 'last', 'courtesy',
     'depois|mais tarde|isso|isto|até mais'),
    ('pt', 'any', 'self',
     'eu|mim|meu|minha|meus|minhas|comigo|nós|nosso|nossa|nossos|nossas|sou|tenho|moro|'
     'trabalho|prefiro|odeio|gosto|estou|falo|estudo|nasci|torço|parei|temos|moramos|quero|'
     'preciso|pretendo|a gente|compro|acolhemos|criamos|dirijo|conduzo|cozinho|leio|escrevo|'
     'coleciono|ensino|durmo|treino|ganho|sofro|danço|crio|comprei|vendi|comecei|larguei|'
     'perdi|casei|me formei|me aposentei'),
    ('pt', 'any', 'always',
     'a partir de agora|de agora em diante|toda vez'),
    ('pt', 'any', 'you',
     'você|vocês|teu|seu'),
    ('pt', 'any', 'personal',
     'demitido|demitida|neto|neta|netos|galinhas|cavalo|cavalos|coelho|caminhão|ex mulher|'
     'enteado|enteada|creche|colégio|escola|religião|igreja|mesquita|ramadã|natal|páscoa|'
     'voluntário|voluntária|empréstimo|dívidas|seguro de saúde|impostos|aparelho auditivo|'
     'aparelhos auditivos|engenheiro|engenheira|cozinheiro|cozinheira|padeiro|eletricista|'
     'encanador|carpinteiro|farmacêutico|farmacêutica|jornalista|arquiteto|arquiteta|futebol|'
     'natação|câncer|costas|tireoide|insônia|óculos|vizinho|vizinha|vizinhos|jardim|varanda|'
     'quilos|mãe|pai|pais|irmã|irmão|irmãs|irmãos|minha mulher|filha|filhas|filho|filhos|'
     'criança|crianças|bebê|gêmeos|gémeos|avó|avô|tia|tio|sobrinha|sobrinho|namorada|namorado|'
     'noiva|noivo|colega de quarto|cachorra|cão|intolerância|glúten|grávida|cirurgia|operação|'
     'enxaqueca|remédio|remédios|cadeira de rodas|depressão|pressão alta|emprego|chefe|'
     'enfermeiro|enfermeira|professora|advogado|advogada|turno da noite|aposentado|aposentada|'
     'desempregado|desempregada|estudante|tese|universidade|faculdade|prova na|prova de|'
     'provas|vestibular|estágio|salário|teletrabalho|trabalho em|trabalho novo|novo emprego|'
     'aluguel|mudança|nascido|nascida|aniversário|casamento|solteiro|solteira|anos|voo para|'
     'férias|passaporte|academia|tênis|violão|ioga|orçamento|língua materna|segundas|terças|'
     'quartas|quintas|sextas|segunda feira|terça feira|quarta feira|quinta feira|sexta feira|'
     'na sexta|janeiro|fevereiro|março|maio|junho|julho|setembro|outubro|novembro|dezembro|'
     'ano que vem|todo dia|toda manhã|canhoto|canhota'),
    ('pt', 'any', 'material',
     'exemplo|janela|sem querer|por engano|formatação|botão|rascunho|fonte|equação|'
     'nota de rodapé|introdução|conclusão|o resto|variável|função|erro|erros|tela|parágrafo|'
     'coluna|colunas|linha|tabela|resposta|arquivo|ficheiro|o código|pergunta|versão|opção'),
    ('pt', 'whole', 'courtesy',
     'gosto|gostei|adorei|eu gosto|eu também|eu sei|eu não|gosto muito|amei|não posso|'
     'não quero|pode ser|eu quero|sou eu|é isso'),
    -- Dutch
    ('nl', 'first', 'question',
     'wat|hoe|hoeveel|welke|welk|waarom|waar|wanneer|waarmee|waarvoor|zijn|kun|kan|kunt|'
     'kunnen|zou|zouden|wil|wilt|heb je|heeft|hebt|weet je|mag|moet|ben je|bent|ga je|denk je|'
     'vind je|ken je|ik vraag me af|ik wil graag weten|klopt het|hoofdstad van|weer in|'
     'recept voor|betekenis van|verschil tussen|synoniemen voor'),
    ('nl', 'first', 'request',
     'schrijf|herschrijf|vertaal|vat|leg|toon|laat|geef|noem drie|noem vijf|noem een|maak|'
     'zoek|vind|controleer|vergelijk|verkort|kort|ga|probeer|voeg|verwijder|verander|wijzig|'
     'genereer|reken|bereken|lees|stuur|sorteer|voer|stel|raad|adviseer|beschrijf|teken|'
     'verbeter|corrigeer|wacht|herhaal|zing|speel|tel|definieer|bouw|zet|neem|kies|analyseer|'
     'vereenvoudig|laten we|stel je voor|ik wil dat|ik zou willen|ik heb nodig|ik heb hulp|'
     'vervang|gebruik|zeg|vertel|bedenk|kijk|beantwoord|doe|nog een|nog eens|nog één|'
     'nog korter|nog drie|meer voorbeelden|meer over|meer details|ik zoek een recept|'
     'ik zoek ideeën|ik zou graag een|ik zou graag willen|ik wil graag een|ik heb hulp nodig|'
     'ik heb een voorbeeld|ik heb ideeën nodig|beoordeel|citeer|spel|onderzoek|bewijs|verzin|'
     'bereid|combineer|optimaliseer|bevestig|hou op|praat met me over|overhoor|vraag me|'
     'korter|langer|in één zin|in het engels|vul|zoek uit|som|noem|formuleer|herformuleer|'
     'werk|pas|haal|neem aan|stel dat|doe alsof|denk na'),
    ('nl', 'first', 'courtesy',
     'bedankt|dank|dankjewel|dankje|dank je|hartelijk|heel erg bedankt|heel erg|oké|heel goed|'
     'geweldig|fantastisch|tof|gaaf|wauw|excuses|geen probleem|geen idee|geen dank|'
     'geen zorgen|geen punt|hoi|dag|doei|goedemorgen|goedemiddag|goedenavond|goedenacht|'
     'welterusten|graag gedaan|graag|precies|juist|klopt|inderdaad|fout|snap|snap ik|begrepen|'
     'ik snap|ik begrijp|ik weet|ik bedoel|ik bedoelde|ik denk het|ik denk dat je|ik geloof|'
     'ik heb een vraag|ik heb nog|ik ben er|ik ben terug|ik ben moe|ik ben klaar|ik ben het|'
     'ik hoop|mijn vraag|nee dank|nee dat|nee niet|nou|natuurlijk|zeker|akkoord|grappig|'
     'gefeliciteerd|fijne|maakt niet|niet erg|jammer|wat leuk|wat een|wat grappig|wat mooi|'
     'klaar|momentje|ik ook|mij ook|laat maar|tot morgen|tot ziens|tot straks|tot later|'
     'tot snel|tot de volgende|slaap lekker|mooi zo|mooi gedaan|leuk hoor|leuk om|fijn dat|'
     'lekker weertje|goed zo|goed gedaan|goed idee|goede vraag|goed om|goed dat|heel mooi|'
     'heel leuk|heel fijn|heel interessant|heel duidelijk|erg goed|erg leuk|erg fijn|'
     'erg bedankt|echt leuk|echt goed|laat me denken|laat me even|ik denk na|ik denk erover|'
     'ik heb het geprobeerd|ik heb dat geprobeerd|ik heb het door|ik heb je|ik heb gezegd|'
     'ik heb een fout|ik krijg een fout|ik krijg een foutmelding|ik krijg nog steeds|'
     'ik zie het|ik zie niets|ik zie wat|ik snap het|ik ga het|ik zal het|ik zal erover|'
     'ik vind het goed|ik vind het mooi|ik vind je|ik vind dit|ik vind dat|ik twijfel|'
     'ik maak een grapje|ik kies|ik neem de|ik vroeg|ik zei|ik wilde alleen|ik ben benieuwd|'
     'ik ben in de war|ik ben onder de indruk|ik ben blij|we zien wel|we zijn klaar|mijn fout|'
     'mijn excuses|mijn god|mij best|grapje|oeps|tjonge|nou ja|zoals ik|hoe gaat|hoe is het|'
     'aangenaam|fijne dag|fijn weekend|succes|veel plezier|niet slecht|niet nodig|'
     'niet helemaal|niet echt|niet goed|ik kijk|ik probeer het|ik lees het|ik lees dit|'
     'ik moet gaan|ik moet weg|ik krijg een|ik kan het niet openen|mijn scherm|mijn code|'
     'mijn browser|we kunnen dat|we kunnen later'),
    ('nl', 'first', 'remark',
     'dat|dit|deze|die is|die klopt|die werkt|die was|zo is|zo ja|hier is|hier zijn|daar|'
     'het antwoord|het werkt|het klopt|het is te|het is een|het resultaat|het weer|'
     'het is mooi|de tweede|de eerste|de laatste|de code|de tekst|de link|je antwoord|'
     'je uitleg|je bent|je hebt|je code|je tekst|je moet|je kunt|je vertaling|jij|jouw|uw|'
     'te lang|te kort|te veel|klinkt|werkt|misschien|ziet er|vandaag is het|er klopt|er staat|'
     'niet wat|niet dat|niet die|niet deze|nog steeds niet|nog steeds|nog niet|zelfde fout|'
     'dezelfde fout|bijna|veel beter|beter|slechter|een beetje|iets te|de toon|de titel|'
     'de rest|de samenvatting|de zin|de lijst|de uitleg|de tabel|de functie|de fout|de grap|'
     'het gedicht|het recept|het idee|het bestand|het lukt|het regent|het waait|het is koud|'
     'het is warm|het is goed|het is niet|het is nog|het was|het klinkt|het ziet|'
     'wat ik bedoelde|wat een weer'),
    ('nl', 'first', 'statement',
     'noem me|noem mij|onthoud|vergeet niet|let op|houd er rekening|hou er rekening|vanaf nu|'
     'voortaan|in het vervolg|in de toekomst|antwoord|spreek|praat|tutoyeer|vermijd|geen|'
     'gebruik nooit|gebruik altijd|getrouwd|gescheiden|dit is mijn|dat is mijn|dit zijn mijn|'
     'het is mijn|deze week|deze maand|dit jaar|dit weekend|bij ons|bij mij|toen ik|als ik|'
     'sinds|je mag me|je kunt me|mensen noemen me|niet getrouwd|mijn naam|'
     'nog steeds vegetariër|leuk om te|ik zoek een baan|ik zoek een huis|ik zoek werk|'
     'schrijf mijn naam altijd|lekker vind ik'),
    ('nl', 'first', 'filler',
     'en|maar|dus|trouwens|eigenlijk|overigens|alsjeblieft|alstublieft|aub|bovendien|omdat|'
     'want|hoi ik|hallo ik|ter info|correctie|oké maar|ja maar|ja en|nu|gewoon|alleen|'
     'momenteel|vandaag|gisteren|helaas|gelukkig|persoonlijk|nog iets|kleine correctie|'
     'ter verduidelijking|bedankt maar|dank je maar|sorry maar|nee dank je maar'),
    ('nl', 'last', 'question',
     'toch|hè|of niet'),
    ('nl', 'last', 'remark',
     'recept|recepten|mop|synoniemen|voorbeelden|ideeën'),
    ('nl', 'last', 'courtesy',
     'later|straks|dat|dit'),
    ('nl', 'any', 'self',
     'ik|mij|mijn|wij|ons|onze|ben|m''n|mezelf'),
    ('nl', 'any', 'always',
     'altijd|nooit|voortaan|vanaf nu|elke keer'),
    ('nl', 'any', 'you',
     'jij|jou|jouw|uw|jullie'),
    ('nl', 'any', 'personal',
     'ontslagen|kleinzoon|kleindochter|kleinkinderen|geiten|kippen|paard|paarden|konijn|'
     'vrachtwagen|fiets|ex man|ex vrouw|stiefzoon|school|middelbare school|religie|kerk|'
     'moskee|kerst|pasen|vrijwilliger|pensioen|hypotheek|lening|verzekering|belasting|'
     'favoriete|hoorapparaten|dokter|advocaat|kok|bakker|boer|elektricien|timmerman|piloot|'
     'soldaat|voetbal|zwemmen|kanker|rugpijn|bloeddruk|schildklier|slapeloosheid|bril|buurman|'
     'buurvrouw|buren|tuin|schoenmaat|jaar geleden|moeder|vader|ouders|zus|broer|vrouw|'
     'echtgenoot|dochter|dochters|zoon|zonen|kinderen|tweeling|oom|neef|vriendin|verloofde|'
     'huisgenoot|hond|kat|poes|notenallergie|astma|coeliakie|veganist|vegetariër|zwanger|'
     'operatie|medicijnen|rolstoel|tandarts|depressie|baan|baas|collega''s|verpleegkundige|'
     'leraar|lerares|nachtdienst|nachtdiensten|gepensioneerd|werkloos|studie|scriptie|'
     'universiteit|tentamen|sollicitatiegesprek|salaris|thuiswerken|huisbaas|huur|verhuisd|'
     'verhuis|opgegroeid|verjaardag|jarig|bruiloft|getrouwd|verloofd|gescheiden|vrijgezel|'
     'jaar oud|vlucht|vakantie|paspoort|sportschool|gitaar|viool|koor|moedertaal|maandag|'
     'dinsdag|woensdag|donderdag|vrijdag|zaterdag|zondag|januari|februari|maart|mei|augustus|'
     'volgend jaar|elke dag|elke ochtend|linkshandig'),
    ('nl', 'any', 'material',
     'voorbeeld|venster|per ongeluk|opmaak|cijfers|grafiek|knop|lettertype|vergelijking|'
     'voetnoot|inleiding|conclusie|de rest|variabele|functie|fout|foutmelding|scherm|alinea|'
     'zinnen|kolom|tabel|titel|antwoord|bestand|de code|vraag|versie|optie'),
    ('nl', 'whole', 'courtesy',
     'ik ook|ik niet|vind ik leuk|ik weet het|leuk|ik zie het|ik ben het|mij ook|ik snap het'),
    -- Russian
    ('ru', 'first', 'question',
     'что|как|кто|кого|кому|где|куда|откуда|когда|почему|зачем|сколько|который|какой|какая|'
     'какое|какие|чей|чем|можно|можешь|можете|мог бы|могли бы|не мог бы|не могли бы|ты можешь|'
     'вы можете|знаешь|знаете|есть ли|стоит ли|правда ли|ли|мне интересно|хочу узнать|'
     'хотел узнать|хотела узнать|хотел бы узнать|а что|а как|а где|а когда|а почему|а если|'
     'в чем|в чём|о чем|для чего|до какого|умеешь|разве|неужели|столица|погода в|погода на|'
     'значение слова|разница между|синонимы к|синонимы слова|перевод слова'),
    ('ru', 'first', 'request',
     'напиши|напишите|перепиши|переведи|переведите|перескажи|перескажите|объясни|объясните|'
     'покажи|покажите|скажи|скажите|дай|дайте|перечисли|исправь|исправьте|сделай|сделайте|'
     'создай|создайте|найди|найдите|поищи|проверь|проверьте|помоги|помогите|сравни|составь|'
     'составьте|сократи|сократите|расширь|продолжай|продолжи|продолжайте|попробуй|попробуйте|'
     'добавь|добавьте|убери|уберите|удали|измени|поменяй|сгенерируй|преобразуй|посчитай|'
     'рассчитай|вычисли|прочитай|открой|отправь|отсортируй|запусти|предложи|предложите|'
     'посоветуй|посоветуйте|порекомендуй|опиши|опишите|нарисуй|улучши|переформулируй|подожди|'
     'подождите|повтори|повторите|спой|сыграй|определи|построй|поставь|выбери|возьми|'
     'проанализируй|упрости|давай|давайте|пошли|представь|расскажи|расскажите|подскажи|'
     'подскажите|придумай|придумайте|назови|назовите|подведи|резюмируй|кратко изложи|'
     'я хочу чтобы|хочу чтобы|хотел бы чтобы|мне нужно чтобы|мне нужна помощь|мне нужен текст|'
     'нужен|нужна|нужно|нужны|замени|используй|организуй|спланируй|ответь на|начни|закончи|'
     'реши|разбери|оформи|приведи|пиши|ещё один|ещё раз|ещё пример|ещё короче|ещё идей|'
     'ещё одну|еще один|еще раз|еще пример|еще одну|больше примеров|больше деталей|'
     'больше подробностей|ищу рецепт|ищу идеи|оцени|оцените|процитируй|выдели|скачай|выясни|'
     'узнай|исследуй|докажи|изобрази|сочини|изобрети|подготовь|подбери|собери|объедини|'
     'оптимизируй|подтверди|уточни|уточните|поясни|поясните|хватит|прекрати|остановись|'
     'вернись|вернёмся|вернемся|поговорим|предположим|допустим|спроси|спрашивай|задай|'
     'спросите|короче|длиннее|подробнее|одним предложением|по английски|на английском|заполни|'
     'переделай|доделай|допиши|перечитай|скопируй|сохрани|прочти|пришли|скинь|посмотри|глянь|'
     'поправь|поправьте|распиши|проведи|упомяни|сыграем|продолжим|начнём|начнем|хочу получить|'
     'хотелось бы узнать|мне нужен рецепт|мне нужен совет|мне нужен пример|мне нужны идеи|'
     'мне нужен список|мне нужна твоя|мне нужен твой|просто назови|только код|хочу таблицу|'
     'хочу список|хочу другой|хочу другую|нужна таблица|нужен список|мне нужна таблица'),
    ('ru', 'first', 'courtesy',
     'вернусь через пять|вернусь через десять|вернусь через минут|скоро вернусь|сейчас вернусь|'
     'скопирую|вставлю ещё|пришлю ещё|'
     'перезагрузила|перезагрузил|обновила страницу|обновил страницу|я про другую|я про другой|'
     'я про другое|'
     'спасибо|большое спасибо|огромное спасибо|благодарю|спс|ок|окей|хорошо|ладно|отлично|'
     'супер|класс|прекрасно|замечательно|идеально|круто|здорово|великолепно|молодец|умница|'
     'браво|ух|вау|ого|ха|хаха|хахаха|ахаха|ахахаха|лол|хм|мм|ах|ох|ой|а понял|а поняла|'
     'извини|извините|прости|простите|прошу прощения|ничего страшного|ничего|не за что|'
     'не страшно|не важно|неважно|не надо|не нужно|не беспокойся|не переживай|не волнуйся|'
     'не знаю|не понимаю|не понял|не поняла|не то|не так|не работает|не совсем|не согласен|'
     'не согласна|нет спасибо|нет не|нет это|привет|приветик|здравствуй|здравствуйте|добрый|'
     'доброе|доброго|доброй|пока|спокойной|всего доброго|всего хорошего|увидимся|пожалуйста|'
     'рад помочь|точно|именно|верно|правильно|неверно|неправильно|конечно|разумеется|понятно|'
     'понял|поняла|ясно|теперь понял|теперь поняла|теперь понятно|теперь ясно|я понял|'
     'я поняла|я понимаю|я знаю|я не знаю|я не понимаю|я не понял|я не поняла|я думаю|'
     'я надеюсь|я согласен|я согласна|я имел в виду|я имела в виду|я вернулся|я вернулась|'
     'я готов|я готова|я устал|я устала|я здесь|согласен|согласна|у меня вопрос|'
     'у меня есть вопрос|у меня ещё|у меня еще|у меня к тебе|у меня все хорошо|'
     'у меня всё хорошо|мой вопрос|мне понравилось|мне нравится твой|мне нравится это|'
     'мне скучно|надеюсь|видимо|наверное|ага|угу|как интересно|как здорово|как мило|как дела|'
     'поздравляю|с днём|с днем|с новым|добро пожаловать|интересно|забавно|смешно|минутку|'
     'секунду|и тебе|и я тоже|я тоже|взаимно|готово|договорились|без проблем|все понятно|'
     'все хорошо|есть вопрос|до завтра|до свидания|до встречи|до скорого|до вечера|'
     'всё понятно|всё ясно|всё хорошо|всё верно|всё правильно|всё равно|рад за|рад слышать|'
     'рад знакомству|рада знакомству|дай подумать|дай мне минуту|дай минутку|я подумаю|'
     'я попробую|я попробовал|я попробовала|я пробовал|я пробовала|я шучу|я пошутил|я спросил|'
     'я спросила|я спрашивал|я сказал|я сказала|я говорил|я говорила|я просто|я возьму|'
     'я выбираю|я вижу|я не вижу|я не уверен|я не уверена|я не про|я не это|я не об|'
     'я не хочу этого|я в восторге|я рад|я рада|я впечатлён|я запутался|я запуталась|я слушаю|'
     'я жду|я сомневаюсь|я уже говорил|я уже говорила|я получил ошибку|я получаю ошибку|'
     'мне понятно|мне ясно|мне всё равно|мне все равно|мне это|мне кажется|'
     'мне не нравится твой|мне не нравится это|мне не нравится как|мне не нравится этот|'
     'мне больше нравится второй|мне больше нравится первый|мне нравится как ты|'
     'мне нравится эта|мне нравится этот|мне нравится идея|мне тоже|мне пора|мне смешно|'
     'мне интересно что|мы закончили|мы ещё|посмотрим|у меня не работает|у меня не получается|'
     'у меня ошибка|у меня выдаёт|у меня всё|у меня все|моя ошибка|моя вина|боже мой|'
     'какая прелесть|какой ужас|как красиво|как смешно|как странно|как жаль|как скажешь|'
     'как твои|как ты|как поживаешь|как я говорил|как я уже|очень интересно|очень полезно|'
     'очень хорошо|очень красиво|очень смешно|очень круто|очень помогло|очень понятно|'
     'довольно|неплохо|недурно|хорошая идея|хорошая работа|хорошего дня|хорошего вечера|'
     'хороший вопрос|отличная идея|отличная работа|удачи|эх|упс|блин|эй|приятно познакомиться|'
     'береги себя|шучу|попробую|подумаю|жаль|странно|красиво|забудь|проехали|не то чтобы|'
     'не очень|не уверен|не уверена|не подходит|не похоже|не могу понять|не получается|'
     'не получилось|не нашёл|не нравится|не помогло|не беда|не хочу этого|вижу|я об этом не|'
     'не подумал|не подумала|закрыл|закрыла|открыл|открыла|пробовал|пробовала|попробовал|'
     'попробовала|беру вариант|выбираю|сейчас скину|скину|потом посмотрю|посмотрю|'
     'сейчас попробую|сейчас посмотрю|почитаю|читаю|смотрю|мне надо идти|мне нужно подумать|'
     'я посмотрю|я ошибся|я ошиблась|я опечатался|у меня завис|у меня ещё вопрос|'
     'у меня не открывается|я не могу открыть|не могу открыть|мы можем|давай потом|до связи'),
    ('ru', 'first', 'remark',
     'сумма|итог|'
     'это|этот|эта|эти|вот|тут|там|здесь|твой|твоя|твоё|твои|твоего|ваш|ваша|ваши|вы|тебе|'
     'слишком|кажется|похоже|звучит|ответ|текст|код|результат|ссылка|пример|перевод|'
     'сегодня очень|сегодня холодно|сегодня жарко|сегодня хорошая|хорошая погода|погода|'
     'на улице|идёт дождь|какая погода|может быть|ни один|оба|подходит|так не|так лучше|так и|'
     'так точно|так намного|второй вариант|первый вариант|второй лучше|первый лучше|'
     'второй пример|вторая версия|первая версия|последний вариант|последний пример|ты|всё ещё|'
     'все еще|всё равно не|все равно не|опять|снова|до сих пор не|та же ошибка|тот же|почти|'
     'намного лучше|гораздо лучше|лучше|хуже|немного|чуть|тон|заголовок|остальное|шутка|'
     'рецепт|список|идея|объяснение|таблица|функция|ошибка|файл|страница|предложение|стих|'
     'оба варианта|ничего не|ничего нового|всё работает|все работает|идёт снег|идет дождь|'
     'сегодня тепло|сегодня отличная|сегодня прекрасная|холодно|жарко|то что ты|то же самое|'
     'не то что|выглядит|то что нужно|там ошибка'),
    ('ru', 'first', 'statement',
     'зови|зовите|называй|называйте|запомни|запомните|помни|помните|имей в виду|имейте в виду|'
     'учти|учтите|не забудь|не забывай|не забудьте|впредь|отныне|с этого момента|'
     'теперь всегда|обращайся|обращайтесь|говори со мной|отвечай|отвечайте|избегай|никаких|'
     'никогда|без|это мой|это моя|это моё|это мои|это наш|это наша|когда я|когда мне|когда мы|'
     'терпеть не могу|ищу работу|ищу квартиру|не предлагай|не используй|не пиши|не называй|'
     'не ем|не пью|не курю|не люблю|не могу есть|не переношу|замужем|женат|вегетарианец|'
     'вегетарианка|веган|мне нужно рано|мне нужна работа|с детства|родился|родилась|живу|'
     'на самом деле я|все мои|всё детство|можешь звать|можешь называть|можете звать|'
     'можете называть|меня зовут|ещё я|ничего молочного|первое мая|ты можешь звать|всё моё|'
     'так как я|так как у меня|никогда не|работает в|все в моей|хуже всего я|лучше всего я|'
     'больше всего я|не женат|не замужем|до 2019|до переезда|родом из|без глютена|'
     'по понедельникам|по вторникам|по средам|по четвергам|по пятницам|по субботам|'
     'по воскресеньям|переезжаю'),
    ('ru', 'first', 'filler',
     'и|а|но|ну|так что|кстати|вообще-то|вообще то|вообще|на самом деле|между прочим|'
     'кроме того|потому что|еще я|в этом году|в этом месяце|на этой неделе|этим летом|к слову|'
     'если что|для справки|поправка|привет я|здравствуйте я|да я|да но|нет я|только|да|теперь|'
     'сейчас|просто|всего лишь|сегодня|вчера|завтра|к сожалению|к счастью|лично|лично я|'
     'ещё кое-что|ещё одно|маленькая поправка|уточню|уточнение|чтобы уточнить|ах да|ну да|нет|'
     'спасибо но|извини но|извините но|нет спасибо но'),
    ('ru', 'last', 'question',
     'или нет|не так ли|да ?|как дела'),
    ('ru', 'last', 'courtesy',
     'потом|позже|это|до связи'),
    ('ru', 'any', 'self',
     'я|мне|меня|мной|мой|моя|моё|мое|мои|моего|моей|моему|моим|моих|мою|мы|нам|нас|нами|наш|'
     'наша|наше|наши|нашего|нашей|нашу|нашем|нашим|себя|живу|работаю|люблю|ненавижу|'
     'предпочитаю|учусь|учу|ем|пью|говорю|пользуюсь|использую|зовут|обожаю|занимаюсь|изучаю|'
     'играю|болею|живём|живем|работаем|едем|переехал|переехала|родился|родилась|вожу|ношу|'
     'пишу|бегаю|плаваю|готовлю|собираю|продаю|преподаю|принимаю|сплю|встаю|ухаживаю|'
     'тренируюсь|путешествую|плачу|зарабатываю|страдаю|курю|пою|танцую|рисую|развожу|'
     'выращиваю|держу|боюсь|купил|купила|бросил|бросила|потерял|потеряла|женился|закончил|'
     'закончила|уволился|уволилась|хожу|езжу|летаю|у нас'),
    ('ru', 'any', 'always',
     'всегда|никогда|впредь|отныне|каждый раз'),
    ('ru', 'any', 'you',
     'ты|тебя|тебе|тобой|твой|твоя|твоё|твои|вы|вас|вам|ваш|ваша|ваши'),
    ('ru', 'any', 'personal',
     'уволили|внук|внука|внуку|внучка|внучки|внуки|козы|куры|лошадь|лошади|кролик|фура|фуру|'
     'машина|машину|велосипед|бывший муж|бывшая жена|пасынок|детский сад|садик|школу|школе|'
     'школа|лицей|религия|церковь|мечеть|рамадан|рождество|пасха|пасху|волонтёр|ипотека|'
     'ипотеку|кредит|долги|страховка|налоги|хобби|любимый|любимая|любимое|слуховой аппарат|'
     'врача|врачом|инженер|инженером|юрист|юристом|повар|поваром|пекарь|электрик|пилот|'
     'военный|фармацевт|журналист|архитектор|программист|программистом|футбол|плавание|'
     'скалолазание|рак|спина|давление|щитовидка|эпилепсия|бессонница|очки|сосед|соседка|'
     'соседи|сад|балкон|размер обуви|килограмм|мама|мамы|маме|маму|мамой|мать|папа|папы|папе|'
     'папой|отец|отца|родители|родителей|родителями|сестра|сестры|сестре|сестру|брат|брата|'
     'брату|жена|жены|жене|жену|женой|муж|мужа|мужу|мужем|дочь|дочери|дочка|дочке|дочку|сын|'
     'сына|сыну|дети|детей|детьми|ребёнок|ребенок|ребёнка|ребенка|двойня|близнецы|бабушка|'
     'бабушки|бабушке|бабушку|дедушка|дедушки|дедушке|тётя|тетя|дядя|племянник|племянница|'
     'девушка моя|парень мой|невеста|жених|собака|собаки|собаку|щенок|щенка|кот|кота|кошка|'
     'кошки|кошку|кошек|аллергия|аллергик|непереносимость|диабет|диабетик|астма|целиакия|'
     'веган|вегетарианец|вегетарианка|глютен|лактоза|лактозы|беременна|операция|операцию|'
     'мигрень|лекарства|инсулин|инвалидность|стоматолог|депрессия|работа в|новая работа|'
     'начальник|начальница|медсестра|врач|учитель|учительница|учителем|ночные смены|пенсия|'
     'пенсии|пенсионер|пенсионерка|студент|студентка|диплом|диссертация|университет|семестр|'
     'экзамен|экзамена|экзамены|собеседование|стажировка|зарплата|удалёнка|удаленно|удалённо|'
     'из дома|квартира|квартиру|аренда|переезд|переезжаем|вырос|выросла|день рождения|юбилей|'
     'свадьба|свадьбу|развод|разведён|разведена|разведен|развёлся|помолвлены|лет|года|отпуск|'
     'отпуске|виза|визу|паспорт|марафон|спортзал|теннис|гитара|гитаре|пианино|скрипка|хор|'
     'йога|бюджет|родной язык|понедельник|вторник|среду|четверг|пятницу|субботу|воскресенье|'
     'понедельникам|вторникам|средам|четвергам|пятницам|субботам|воскресеньям|январе|феврале|'
     'марте|апреле|мае|июне|июле|августе|сентябре|октябре|ноябре|декабре|каждое утро|'
     'каждый день|левша'),
    ('ru', 'any', 'material',
     'пример|окно|папка|папку|загрузка|случайно|форматирование|страница|страницу|странице|'
     'цифры|числа|график|кнопка|кнопку|черновик|шрифт|формула|формулу|уравнение|меню|сноска|'
     'введение|заключение|остальное|переменная|функция|ошибка|ошибки|ошибку|ссылка|ссылку|'
     'экран|браузер|абзац|абзаце|предложение|предложении|столбец|строка|строке|таблица|'
     'таблице|таблицу|заголовок|ответ|файл|код|вопрос|вариант|версия|шаг'),
    ('ru', 'whole', 'courtesy',
     'мне нравится|я знаю|я понимаю|я тоже|мне тоже|я нет|мне очень нравится|люблю это|я да|'
     'обожаю|это я|я за|я против|мне подходит|я всё|я все'),
    -- Polish
    ('pl', 'first', 'question',
     'co|czy|jak|jaki|jaka|jakie|kto|kogo|gdzie|kiedy|dlaczego|czemu|po co|ile|który|która|'
     'które|skąd|dokąd|czyj|możesz|mógłbyś|mogłabyś|może pan|może pani|potrafisz|wiesz|masz|'
     'znasz|da się|zastanawiam się|chciałbym wiedzieć|chciałabym wiedzieć|chcę wiedzieć|a co|'
     'a jak|stolica|pogoda w|przepis na|znaczenie słowa|różnica między|synonimy do'),
    ('pl', 'first', 'request',
     'napisz|przepisz|przetłumacz|streść|podsumuj|wyjaśnij|wytłumacz|pokaż|powiedz|daj|podaj|'
     'wymień|popraw|zrób|stwórz|utwórz|znajdź|poszukaj|wyszukaj|sprawdź|pomóż|porównaj|skróć|'
     'rozwiń|kontynuuj|spróbuj|dodaj|usuń|zmień|wygeneruj|przekształć|oblicz|policz|'
     'przeczytaj|otwórz|wyślij|posortuj|uruchom|zaproponuj|poleć|zasugeruj|opisz|narysuj|'
     'ulepsz|przeformułuj|sparafrazuj|poczekaj|powtórz|zaśpiewaj|zagraj|zdefiniuj|zbuduj|'
     'ustaw|wybierz|weź|przeanalizuj|uprość|chodźmy|wyobraź|opowiedz|wymyśl|chcę żebyś|'
     'chcę abyś|chciałbym żebyś|chciałabym żebyś|zamień|użyj|zaplanuj|dokończ|zacznij|rozwiąż|'
     'ułóż|przygotuj|jeszcze raz|jeszcze jeden|jeszcze krócej|jeszcze trzy|jeszcze jedno|'
     'więcej przykładów|więcej szczegółów|więcej o|potrzebuję pomocy|potrzebuję przepisu|'
     'potrzebuję przykładu|potrzebuję listy|szukam przepisu|szukam pomysłu|oceń|zacytuj|'
     'przeliteruj|zbadaj|udowodnij|połącz|zoptymalizuj|potwierdź|doprecyzuj|przestań|wróćmy|'
     'porozmawiajmy|załóżmy|zapytaj|przepytaj|krócej|dłużej|w jednym zdaniu|po angielsku|'
     'uzupełnij|dopisz|skopiuj|zapisz|przyślij|zobacz|kontynuujmy|zacznijmy|róbmy|zróbmy|'
     'nazwij|wypisz|omów|scharakteryzuj|udawaj'),
    ('pl', 'first', 'courtesy',
     'dziękuję|dzięki|dziękuje|serdecznie|wielkie dzięki|okej|dobra|dobrze|w porządku|'
     'świetnie|doskonale|idealnie|ekstra|fajnie|fajne|pięknie|cudownie|wspaniale|łał|och|oj|'
     'przepraszam|wybacz|nie ma sprawy|nie ma za co|nie ma problemu|nie szkodzi|nie martw się|'
     'nie wiem|nie rozumiem|nie działa|nie o to|nie to|nie tak|nie jest|nie był|nie dziękuję|'
     'nie trzeba|nie zgadzam|cześć|hej|witam|witaj|siema|dzień dobry|dobry wieczór|dobranoc|'
     'na razie|pa|papa|miłego|proszę bardzo|nie ma|dokładnie|właśnie|zgadza się|prawda|racja|'
     'oczywiście|jasne|pewnie|rozumiem|już rozumiem|teraz rozumiem|wiem|mam pytanie|'
     'mam jeszcze|mam jedno|mam problem z|chodziło mi|miałem na myśli|miałam na myśli|'
     'myślę że tak|mam nadzieję|moje pytanie|zgoda|ciekawe|śmieszne|gratulacje|wszystkiego|'
     'sto lat|miło|jak miło|jak fajnie|jak się|co słychać|chwila|ja też|wzajemnie|gotowe|'
     'jestem gotowy|jestem gotowa|jestem zmęczony|jestem zmęczona|wróciłem|wróciłam|nudzi mi|'
     'podoba mi się to|podoba mi się twoj|do jutra|do widzenia|do zobaczenia|do usłyszenia|'
     'daj mi chwilę|daj pomyśleć|niech pomyślę|pomyślę|spróbuję|próbowałem|próbowałam|żartuję|'
     'to żart|pytałem|pytałam|mówiłem|mówiłam|jestem zdezorientowany|jestem ciekaw|'
     'jestem pod wrażeniem|jestem tutaj|mam błąd|mam nadal|mam wątpliwości|mam dość|nie widzę|'
     'nie całkiem|nie do końca|nie podoba mi się to|nie sądzę|nie wierzę|nie jestem pewien|'
     'nie jestem pewna|nie mam pytań|nie mam więcej|nie chodziło|nie najgorzej|nieźle|niezłe|'
     'podoba mi się twój|podoba mi się ten|podoba mi się ta|podoba mi się pomysł|mój błąd|'
     'moja wina|mój boże|bardzo ciekawe|bardzo dobrze|bardzo pomocne|bardzo dziękuję|'
     'bardzo ładnie|dobry pomysł|dobre pytanie|dobra robota|miłego dnia|powodzenia|hejka|'
     'jak leci|jak mówiłem|jak mówiłam|ojej|szkoda|dziwne|ładnie|ładne|mi też|ja nie|wybieram|'
     'biorę|prawie tak|zobaczę|sprawdzę|czytam to|muszę lecieć|muszę iść|pomyliłem|pomyliłam|'
     'nie mogę otworzyć|mój ekran|mój kod|możemy to|do później'),
    ('pl', 'first', 'remark',
     'to jest|to nie|to był|to była|to było|to działa|to brzmi|to mi|to wszystko|to zbyt|'
     'to za|ta odpowiedź|ten tekst|ten kod|ten przykład|ten drugi|ta druga|tak jest|tutaj|tam|'
     'twoja|twój|twoje|za długie|za długi|za długa|za krótkie|zbyt|odpowiedź|tekst|kod|wynik|'
     'link|przykład|druga|drugi|pierwsza|pierwszy|ostatni|ostatnia|tłumaczenie|brzmi|wygląda|'
     'działa|może|żaden|oba|dziś jest|dzisiaj jest|ładna pogoda|ale pogoda|pogoda|zimno|'
     'gorąco|nadal nie|nadal to samo|wciąż nie|jeszcze nie|ten sam błąd|prawie|dużo lepiej|'
     'lepiej|gorzej|trochę za|trochę zbyt|tytuł|reszta|żart|przepis|pomysł|wyjaśnienie|tabela|'
     'funkcja|błąd|plik|strona|zdanie|wiersz|nic nie działa|wszystko działa|pada|jest zimno|'
     'jest gorąco|jest ciepło|już mi to|już mówiłeś|już mówiłaś|jesteś|masz rację|mylisz'),
    ('pl', 'first', 'statement',
     'mów mi|mów do mnie|mów po|nazywaj mnie|zapamiętaj|pamiętaj|nie zapomnij|weź pod uwagę|'
     'miej na uwadze|od teraz|odtąd|na przyszłość|w przyszłości|odpowiadaj|zwracaj się|unikaj|'
     'żadnych|bez|nigdy|to mój|to moja|to moje|to jest mój|to jest moja|to nasz|kiedy byłem|'
     'kiedy byłam|gdy byłem|uczulony|uczulona|żonaty|zamężna|nie jem|nie piję|nie palę|'
     'nie lubię|nie znoszę|nie mogę jeść|nie używaj|nie proponuj|nie pisz|szukam pracy|'
     'szukam mieszkania|potrzebuję okularów|nie jestem|nie mam|nie mam już|co tydzień|co roku|'
     'co miesiąc|co dzień|co rano|co wieczór|co drugi|jak byłem|jak byłam|możesz mi mówić|'
     'możesz mnie|mówią na mnie|nie jestem już|do 2019|do pracy|na śniadanie|na co dzień|'
     'to są moje|ten rok|czynne|jest mój|do pracy jeżdżę|pisz moje'),
    ('pl', 'first', 'filler',
     'a|ale|więc|no więc|właściwie|w zasadzie|tak naprawdę|swoją drogą|przy okazji|proszę|'
     'poza tym|bo|ponieważ|cześć jestem|hej jestem|w tym roku|w tym miesiącu|w tym tygodniu|'
     'dla jasności|poprawka|ok ale|tak ale|jednak|tak|teraz|tylko|po prostu|obecnie|dziś|'
     'dzisiaj|wczoraj|niestety|na szczęście|osobiście|jeszcze coś|mała poprawka|dla ścisłości|'
     'ach tak|nie a|dzięki ale|dziękuję ale|przepraszam ale|nie dziękuję ale'),
    ('pl', 'last', 'question',
     'prawda|co nie|nie'),
    ('pl', 'last', 'courtesy',
     'później|potem|zaraz'),
    ('pl', 'any', 'self',
     'ja|mnie|mną|mój|moja|moje|mojego|mojej|moim|moich|moją|nas|nam|nami|nasz|nasza|nasze|'
     'nasi|naszego|naszej|naszym|jestem|mam|mieszkam|pracuję|lubię|wolę|nienawidzę|uwielbiam|'
     'kocham|piję|jem|używam|studiuję|uczę|nazywam|mówię|gram|jeżdżę|mieszkamy|mamy|jesteśmy|'
     'pracujemy|używamy|urodziłem|urodziłam|przeprowadzam|przeprowadzamy|-uję|-uję się|'
     'prowadzę|noszę|piszę|biegam|pływam|zbieram|biorę|śpię|wstaję|płacę|zarabiam|cierpię|'
     'palę|śpiewam|tańczę|hoduję|uprawiam|kupiłem|kupiłam|rzuciłem|rzuciłam|straciłem|'
     'straciłam|boję się|chodzę|latam'),
    ('pl', 'any', 'always',
     'zawsze|nigdy|odtąd|od teraz|za każdym razem'),
    ('pl', 'any', 'you',
     'ty|ciebie|cię|tobie|twój|twoja|twoje|twoją|wy|was|wasz'),
    ('pl', 'any', 'personal',
     'zwolnili|zwolniony|zwolniona|wnuk|wnuka|wnuczka|wnuki|kozy|kury|koń|konie|królik|'
     'ciężarówka|ciężarówką|samochód|rower|były mąż|była żona|przedszkole|szkoła|szkole|'
     'liceum|religia|kościół|boże narodzenie|wielkanoc|wolontariat|kredyt|długi|ubezpieczenie|'
     'podatki|ulubiony|ulubiona|ulubione|aparat słuchowy|lekarz|lekarką|inżynier|inżynierem|'
     'prawnik|prawnikiem|kucharz|piekarz|rolnik|elektryk|żołnierz|farmaceuta|dziennikarz|'
     'programista|programistą|piłkę nożną|pływanie|rak|kręgosłup|ciśnienie|tarczyca|padaczka|'
     'bezsenność|okulary|sąsiad|sąsiadka|sąsiedzi|ogród|rozmiar buta|mamę|matka|tata|taty|'
     'ojciec|rodzice|rodziców|rodzicami|siostra|siostry|siostrę|brata|żona|żony|żonę|mąż|męża|'
     'mężem|córka|córki|córkę|syn|syna|dzieci|dziecko|bliźniaki|babcia|babci|babcię|dziadek|'
     'dziadka|ciocia|wujek|kuzyn|kuzynka|dziewczyna|narzeczona|narzeczony|współlokator|pies|'
     'psa|szczeniak|kota|kotka|alergię|alergik|uczulenie|uczulony|uczulona|nietolerancja|'
     'nietolerancję|cukrzyca|cukrzycę|celiakia|weganin|weganka|wegetarianin|wegetarianka|'
     'laktoza|laktozy|ciąży|operacja|operację|migrena|migreny|leki|wózek inwalidzki|dentysta|'
     'depresja|praca w|nowa praca|nową pracę|szef|szefowa|pielęgniarka|nauczyciel|'
     'nauczycielka|nocna zmiana|nocki|emeryt|emerytka|emeryturze|bezrobotny|studentka|'
     'magisterka|doktorat|uniwersytet|semestr|egzamin|egzaminy|rozmowa kwalifikacyjna|staż|'
     'pensja|praca zdalna|zdalnie|z domu|czynsz|mieszkanie|przeprowadzka|wychowałem|'
     'wychowałam|urodziny|ślub|wesele|rocznica|pogrzeb|żonaty|mężatka|rozwiedziony|'
     'rozwiedziona|lat|lot do|urlop|wakacje|wiza|paszport|maraton|siłownia|gitara|gitarze|'
     'pianino|skrzypce|chór|joga|budżet|język ojczysty|poniedziałek|poniedziałki|wtorek|'
     'wtorki|środę|środy|czwartek|czwartki|piątek|piątki|sobotę|soboty|niedzielę|niedziele|'
     'styczniu|lutym|marcu|kwietniu|maju|czerwcu|lipcu|sierpniu|wrześniu|październiku|'
     'listopadzie|grudniu|codziennie|leworęczny|leworęczna'),
    ('pl', 'any', 'material',
     'przykład|okno|folder|pobieranie|przypadkiem|niechcący|formatowanie|strona|stronie|'
     'liczby|wykres|przycisk|szkic|czcionka|wzór|równanie|przypis|wstęp|zakończenie|resztę|'
     'zmienna|funkcja|błąd|błędy|ekran|przeglądarka|akapit|zdanie|zdania|kolumna|tabeli|tytuł|'
     'odpowiedź|plik|kod|pytanie|wersja|opcja'),
    ('pl', 'whole', 'courtesy',
     'podoba mi się|lubię to|ja też|mi też|ja nie|mi się podoba|to ja|uwielbiam to|mam to'),
    -- Turkish
    ('tr', 'first', 'question',
     'ne|neden|niye|niçin|nasıl|kim|kimin|nerede|nereye|nereden|ne zaman|hangi|kaç|acaba'),
    ('tr', 'first', 'courtesy',
     'teşekkür|teşekkürler|çok teşekkürler|çok teşekkür|sağ ol|sağol|sağ olun|eyvallah|tamam|'
     'tamamdır|peki|olur|iyi|çok iyi|güzel|çok güzel|harika|süper|mükemmel|şahane|muhteşem|'
     'aferin|vay|hah|özür dilerim|kusura bakma|sorun değil|sorun yok|önemli değil|bilmiyorum|'
     'anlamadım|anlıyorum|anladım|şimdi anladım|merhaba|merhabalar|selam|selamlar|günaydın|'
     'iyi günler|iyi akşamlar|iyi geceler|hoşça kal|hoşçakal|görüşürüz|yarın görüşürüz|'
     'kendine iyi bak|rica ederim|bir şey değil|kesinlikle|aynen|doğru|yanlış|haklısın|'
     'elbette|tabii|tabii ki|hayır teşekkürler|hayır bu|hayır öyle|yok|bir sorum var|'
     'başka bir sorum|bir soru|sorum var|bir şey soracağım|demek istediğim|katılıyorum|umarım|'
     'sanırım|ne güzel|ne ilginç|ilginç|komik|tebrikler|mutlu|hoş geldin|bence de|ben de|'
     'bir dakika|bir saniye|ben hazırım|hazırım|yorgunum|sıkıldım|iyiyim|kolay gelsin|bitti|'
     'biraz düşüneyim|düşüneyim|düşüneceğim|deneyeceğim|denedim|şaka yapıyorum|hata alıyorum|'
     'anlamıyorum|emin değilim|merak ettim|merak ediyorum|çok ilginç|çok komik|çok faydalı|'
     'çok net|çok hoş|fena değil|iyi fikir|güzel fikir|iyi soru|iyi iş|bol şans|dediğim gibi|'
     'söylediğim gibi|memnun oldum|tanıştığıma|nasılsın|naber|benim hatam|aman|eyvah|ay|of|'
     'vay be|beğendim|sevdim bunu|bayıldım|hoşuma gitti|bence iyi|galiba|bilmem|hadi|'
     'hadi bakalım|geri döndüm|buradayım|şimdi oldu|hiç fena|hayır istemiyorum|gerek yok|'
     'yeter|sonra bakarım|bakarım|bakacağım|okuyorum şimdi|gitmem lazım|gitmem gerek|ekranım|'
     'kodum|tarayıcım|açamıyorum|göremiyorum|yanlış yazdım|kastettiğim'),
    ('tr', 'first', 'remark',
     'bu|şu|bunlar|o değil|o zaman|o çok|böyle|öyle|burada|sen|senin|siz|cevabın|yanıtın|'
     'cevap|yanıt|metin|ikinci|birinci|ilk|son|çok uzun|çok kısa|hava|bugün hava|belki|'
     'hiçbiri|ikisi|güzel olmuş|olmadı|olmamış|çalışmıyor|çalıştı|hâlâ|hala|yine|aynı hata|'
     'neredeyse|daha iyi|daha kötü|biraz uzun|biraz kısa|açıklaman|açıklama|başlık|şaka|tarif|'
     'fikir|tablo|fonksiyon|hata|dosya|sayfa|cümle|şiir|hiçbir şey|her şey çalışıyor|yağmur|'
     'dışarısı|hava çok|daha önce söyledin|zaten söyledin|yanlış anladın|söyledin|'
     'istediğim bu değil|sorduğum'),
    ('tr', 'first', 'statement',
     'unutma|unutmayın|aklında tut|aklında olsun|not al|bundan sonra|artık|bundan böyle|'
     'hatırla|bu benim|bu bizim|bu yıl|bu ay|bu hafta|bu yaz|evliyim|bekarım|hâlâ bekarım|'
     'hala bekarım|benim adım|benim eşim|her sabah|her akşam|her hafta|her gün|o yüzden ben'),
    ('tr', 'first', 'filler',
     've|ama|fakat|aslında|bu arada|yani|lütfen|ayrıca|çünkü|merhaba ben|selam ben|'
     'bilgin olsun|düzeltme|evet ama|tamam ama|hayır ben|evet|hayır|şimdi|şu an|şu anda|'
     'sadece|yalnızca|bugün|dün|yarın|maalesef|ne yazık ki|neyse ki|şahsen|bir şey daha|'
     'küçük bir düzeltme|açıklamak gerekirse|işte|teşekkürler ama|sağ ol ama|üzgünüm ama'),
    ('tr', 'last', 'question',
     'mi|mı|mu|mü|değil mi|öyle mi|nasılsın|naber|ne haber'),
    ('tr', 'last', 'request',
     'yaz|yazar|yazın|çevir|çevirin|özetle|özetleyin|açıkla|açıklayın|anlat|anlatın|göster|'
     'gösterin|söyle|ver|verin|listele|düzelt|yap|yapın|oluştur|bul|ara|kontrol et|yardım et|'
     'karşılaştır|kısalt|genişlet|devam et|devam edelim|dene|ekle|çıkar|sil|değiştir|üret|'
     'dönüştür|hesapla|oku|aç|gönder|sırala|çalıştır|öner|önerin|tarif et|çiz|iyileştir|bekle|'
     'tekrarla|tekrar et|tanımla|seç|al|analiz et|hazırla|istiyorum senden|yapmanı istiyorum|'
     'yazmanı istiyorum|düzeltmeni istiyorum|yardıma ihtiyacım var|yardım lazım|yardımcı ol|'
     'başla|bitir|çöz|planla|tasarla|kullan|yapalım|bakalım|yazar mısın|verir|ver bana|'
     'ver lütfen|yaz lütfen|sadeleştir|derecelendir|puanla|değerlendir|alıntıla|araştır|'
     'bul bana|kanıtla|yorumla|besteler|uydur|birleştir|optimize et|doğrula|onayla|netleştir|'
     'detaylandır|dur|dön|dönelim|konuşalım|varsayalım|sor|tamamla|kopyala|kaydet|oku bana|at|'
     'başlayalım|devam edelim lütfen|örnek ver|anlat bana|öğret|söyle bana|listele lütfen|'
     'ekler misin|düzenle|yeniden yaz|yazalım'),
    ('tr', 'last', 'statement',
     'unutma|aklında tut|aklında olsun|kullanma|önerme|çağır|diye çağır|hitap et|sevmem|'
     'severim|yemem|içmem|tercih ederim|ederim|nefret ederim|alerjim var|de'),
    ('tr', 'last', 'remark',
     'tarifi|şiiri|fıkrası|örnekleri|fikirleri|özeti'),
    ('tr', 'any', 'question',
     'nasıl|nedir|neden|kaç|nerede|mısın|misin|musun|müsün|mısınız|misiniz|musunuz|müsünüz|'
     'mıyım|miyim|mıyız|miyiz|mıdır|midir'),
    ('tr', 'any', 'self',
     'bana|beni|benim|bende|benden|biz|bize|bizi|bizim|bizde|-yorum|-yoruz|-ımız|-imiz|-umuz|'
     '-ümüz|-ımıza|-imize|eşim|annem|babam|kızım|oğlum|kardeşim|ablam|abim|çocuğum|adım|ismim|'
     'yaşım|evim|işim|arabam|kedim|köpeğim|doğum günüm|bütçem|alerjim|arkadaşım|severim|'
     'sevmem|ederim|içerim|içmem|yemem|yerim|giderim|isterim|kullanırım|-yım|-yim|-yum|-yüm|'
     '-iyim|-ıyım|-anım|-enim|-cıyım|-ciyim|-acağım|-eceğim|-acağız|-eceğiz|-arım|-erim|-ırım|'
     '-irim'),
    ('tr', 'any', 'always',
     'her zaman|daima|asla|hiçbir zaman|bundan sonra|her seferinde|hep'),
    ('tr', 'any', 'you',
     'sen|sana|seni|senin|siz|size|sizin|oldun|-ttin|-rsin|-yorsun'),
    ('tr', 'any', 'personal',
     'annemin|babamın|eşimin|anne|baba|kardeş|çocuk|çocuğumuz|bebek|ikizler|büyükanne|dede|'
     'anneanne|babaanne|köpek|kedi|alerjisi|alerji|intoleransı|diyabet|şeker hastası|astım|'
     'çölyak|vejetaryen|laktoz|hamile|ameliyat|migren|insülin|depresyon|hemşire|öğretmen|'
     'gece vardiyası|emekli|işsiz|öğrenci|tez|üniversite|sınav|sınavım|mülakat|staj|maaş|'
     'evden|kira|taşındım|taşınıyorum|doğum günü|düğün|evli|nişanlı|boşandım|bekar|yaşında|'
     'uçuş|tatil|vize|pasaport|gitar|piyano|keman|koro|bütçe|ana dilim|pazartesi|salı|'
     'çarşamba|perşembe|cuma|cumartesi|ocakta|şubatta|martta|nisanda|mayısta|haziranda|'
     'temmuzda|ağustosta|eylülde|ekimde|kasımda|aralıkta|her sabah|her gün|solak'),
    ('tr', 'any', 'material',
     'hata|hatası|bağlantı|tarayıcı|paragraf|cümle|sütun|satır|satırda|tablo|başlık|yanıt|'
     'dosya|soru|sürüm|seçenek'),
    ('tr', 'whole', 'courtesy',
     'severim|ben de|bilmiyorum|biliyorum|anlıyorum|seviyorum|çok sevdim|ben değil|'
     'ben hazırım|istiyorum|istemiyorum|beğendim'),
    -- Chinese
    ('zh', 'first', 'question',
     '怎么|怎样|如何|为什么|为何|什么|什么是|哪|哪里|哪个|谁|几|多少|是否|能不能|可以|可不可以|能否|可否|你能|你可以|你会|你知道|您能|您可以|有没有|请问|'
     '想问|我想问|我想知道|难道|首都|意思是'),
    ('zh', 'first', 'request',
     '写|请写|帮|请帮|帮我|帮忙|翻译|请翻译|把|请把|总结|请总结|概括|解释|请解释|说明一下|给我|请给|告诉|请告诉|列出|请列|修改|改|改成|改写|创建|生成|找|'
     '查|检查|比较|对比|起草|缩短|扩写|继续|请继续|接着|添加|删除|去掉|计算|算|打开|排序|运行|推荐|请推荐|建议|描述|画|优化|润色|重复|再|定义|测试|更新|'
     '用这|用第|分析|简化|想象|我想让你|我要你|我希望你|我想要一|我需要一|我需要你|请你|麻烦|让我们|下一|另外写|举|设计|整理|提供|介绍|回答这|现在写|将|'
     '短一点|长一点|看看|看一下|等等|来一|来个|来点|换一|换个|换成|更短|更长|更正式|更简单|更详细|读一|读给|做一|做个|做首|讲一|讲个|讲讲|说一|说说|说明|'
     '试一|试试|再试|发给|选一|选第|加一|加上|唱一|评|评价|评估|打分|给这|引用|拼写|下载|研究|证明|解读|编|编一|准备|组合|确认|核实|停|停止|回到|我们聊|'
     '聊聊|假设|假如你|扮演|问我|考考|考我|用一句话|用英语|用英文写|补充完|填|复制|保存|发我|看下|帮忙看|调整|缩写|扩充|展开|详细说|具体说|再说|再来|再写|'
     '再给|再举|再短|再长|接着说|继续说|推断|预测|估计|分类|提取|转换|格式化|演示|示范|教我|教教|只要告诉|只要给|列一|列举|简单说|简要|起个|取个|出一|出个|'
     '造句|默写|背|念|找一|找出|查一|查查|查询|我想看|我要看|我想听|我想要你|我需要帮|我需要建议|我需要一个例|我需要一份|我要一个|我要一份|我想要一个例'),
    ('zh', 'first', 'courtesy',
     '我马上回|我一会|我待会|我刷新|我再发|'
     '谢谢|多谢|感谢|非常感谢|十分感谢|辛苦|好的|好吧|好啊|可以了|没问题|没关系|没事|不客气|不用|不用谢|不好意思|抱歉|对不起|嗯|哦|噢|啊|哈|哈哈|呵呵|嘿嘿|'
     '哇|太好|太棒|真棒|很棒|很好|真好|不错|完美|厉害|赞|棒|你好|您好|大家好|嗨|早上|早安|上午好|下午好|晚上好|晚安|再见|拜拜|明天见|回头见|下次见|对的|'
     '没错|正确|是的|是啊|不是|不对|当然|明白|明白了|懂了|我知道了|知道了|了解|原来如此|同意|我觉得你|我想想|我的意思|我是说|我不是这个|我不明白|我不懂|我没懂|'
     '我不知道|我看不懂|我有个问题|我有一个问题|我有问题|我还有|我问|我的问题|我回来|我准备好|我累|我好无聊|我很好|我也是|有意思|有趣|好笑|真好笑|好玩|恭喜|'
     '生日快乐|新年快乐|欢迎|加油|随便|算了|稍等|等一下|完成|好呀|好嘞|好哒|好滴|好主意|好问题|好久不见|好可爱|好厉害|好有趣|好累|行了|行吧|行啊|对啊|对对|'
     '对哦|对了就|牛啊|牛逼|早啊|早呀|我知道你|我知道这|我懂你|我也这么|我也觉得|我也不懂|我明白你|我同意你|祝你|祝您|让我想|让我看|让我试|让我考|我想一想|'
     '我想一下|我再想|我考虑|我试试|我试了|我试过了|我来试|我看看|我看一下|我开玩笑|我说的是|我说过|我刚才说|我刚刚说|我问的|我已经说|我选|我要第|我要这|我没问|'
     '我没看|我没明白|我不确定|我不太懂|我不太明白|我不同意|我不是说|我不是问|我等|我在听|我在等|我好奇|我有点晕|我有疑问|我有几个问|我很惊讶|我很好奇|我喜欢这|'
     '我喜欢你|我喜欢第|我爱了|我服了|我们继续|我们开始|我们下次|非常好|非常棒|非常有|很有意思|很有趣|很有帮助|很清楚|很有用|很好玩|很可爱|挺好|挺不错|还不错|'
     '还行|还可以|可爱|漂亮|真可爱|真有趣|真厉害|真不错|真有意思|真奇怪|有道理|有帮助|学到了|收到|不错不错|开玩笑|无聊|唉|哎|哎呀|糟糕|呃|额|哼|喂|嘿|幸会|'
     '很高兴认识|保重|好好休息|周末愉快|路上小心|如前所述|我的错|是我的错|天哪|我的天|奇怪|先这样|就这样|没别的|没有了|没有问题|不必|不需要|不知道|不懂|不明白|'
     '不清楚|不太懂|不太明白|不太对|不完全|不一定|不会吧|我看到|我没想到|我关|我打开|我试|我等会|我等一|我看不|我屏幕|我的屏幕|我的代码|我打不开|我打错|我点错|'
     '我得走|我要走了|我先走|我读一|我在看|我在读|打不开|卡住'),
    ('zh', 'first', 'remark',
     '这|这个|这样|这是|那|那个|那样|它|你|您|你的|您的|答案|回答|代码|结果|第二|第一|最后一|上面|下面|太长|太短|太复杂|看起来|听起来|今天天气|天气|'
     '今天真|今天好热|今天好冷|今天很冷|今天很热|也许|可能|都不|都可以|不行|不太|没有用|错了|报错|还是不|还是没|还是错|还不行|还没|同样的错|一样的错|差不多|'
     '几乎|好多了|更好|更差|有点长|有点短|有点奇怪|有点太|语气|标题|其余|剩下的|笑话|菜谱|清单|列表|主意|解释得|解释太|表格|函数|错误|文件|页面|句子|这首|'
     '都没|都行|什么都|下雨|下雪|外面|今天很|今天有点|今天好|天真|没用|没反应|运行不|跑不|你已经|你刚才|你说|你错|你漏|你忘|第三|前面|之前的|刚才的|缺|少了|'
     '多了|一般般|翻译得|翻译不|写得|说得|讲得|不是这|不是那|不像|不够|链接|屏幕|网页'),
    ('zh', 'first', 'statement',
     '叫我|请叫我|称呼我|记住|请记住|请记得|记得|别忘|不要忘|注意|请注意|以后|今后|从现在|从今|请用|用中文|用英文|用简体|用繁体|不要给我|不要用|不要|别用|'
     '别给|别叫|请不要|请别|避免|对花生|对海鲜|这是我|那是我|这周|这个月|这个周末|今年|我有个女|我有个儿|我有一个女|我有一个儿|我对|我也不吃|我也喜欢|我累了一|'
     '我还有一|住在|已婚|未婚|本人|可以叫我|更喜欢|最喜欢|做了|做过|来自|读了|读过|读研|读大学|写了|写代码|说中文|对猫|对狗|对牛奶|对乳|你可以叫我|您可以叫我|'
     '你可以称呼|大家叫我|大家都叫我|好几年|行业|外面租|今天是我|这是我们|我也有|我也住|我祝|加班|停薪|还没结婚|还没有孩子|不吃|不喝|不抽|不能吃|不能喝|不喜欢|'
     '讨厌|从小|从不|我喜欢第一时间|明年|去年|下周|下个月|上个月|每天|每周|每年|每个月|平时|周末|周一|周二|周三|周四|周五|周六|周日|老家|家里|家有|本科|'
     '毕业|怕|有两个|有一个|有个|没有孩|单身|离异|早上我|下午我|晚上我|对坚果|编程十'),
    ('zh', 'first', 'filler',
     '其实|另外|而且|但是|但|不过|所以|因为|对了|顺便|顺便说|说起来|还有|事实上|你好我|您好我|大家好我|请|补充一下|更正一下|纠正一下|那么|现在|目前|只是|'
     '简单来说|今天|昨天|明天|幸好|个人来说|还有一件|还有一点|小更正|说明一点|嗯我|是的我|好的我|不我'),
    ('zh', 'last', 'question',
     '吗|呢|么|是不是|对不对|对吧|好吗|行吗|怎么样|什么|多少|的首都|在哪里'),
    ('zh', 'last', 'statement',
     '过敏|记住|工作|上班'),
    ('zh', 'last', 'remark',
     '菜谱|笑话|例子|近义词|做法'),
    ('zh', 'last', 'courtesy',
     '一下|试试|再看'),
    ('zh', 'any', 'question',
     '什么时候|怎么样|几点|怎么办|多少钱|是什么|为什么|怎么做|在哪里'),
    ('zh', 'any', 'self',
     '我|我们|我的|咱们|咱|俺|本人'),
    ('zh', 'any', 'always',
     '总是|一直用|永远|以后|每次|从不|从现在|一律|今后'),
    ('zh', 'any', 'you',
     '你|您'),
    ('zh', 'any', 'personal',
     '孙子|孙女|外孙|开卡车|卡车|养鸡|养羊|骑马|兔子|前妻|前夫|继子|幼儿园|小学|初中|高中|宗教|教堂|清真|斋月|圣诞|春节|志愿者|退休金|房贷|贷款|债|保险|'
     '爱好|最爱|助听器|被裁|辞职|放暑假|妈妈|爸爸|父母|父亲|母亲|姐姐|妹妹|哥哥|弟弟|老婆|老公|妻子|我丈夫|女儿|儿子|孩子|宝宝|双胞胎|奶奶|爷爷|外婆|外公|'
     '女朋友|男朋友|未婚妻|室友|狗狗|小狗|过敏|不耐受|糖尿病|哮喘|素食|吃素|怀孕|手术|偏头痛|胰岛素|轮椅|抑郁|上班|老板|护士|老师|夜班|退休|失业|学生|论文|'
     '大学|考试|面试|实习|工资|在家办|房东|房租|公寓|搬到|搬家|长大|出生|生日|婚礼|结婚|离婚|单身|岁|航班|假期|签证|护照|马拉松|健身房|网球|吉他|钢琴|'
     '小提琴|合唱团|瑜伽|预算|母语|老家|周一|周二|周三|周四|周五|周六|周日|星期|月份|每天|左撇子'),
    ('zh', 'any', 'material',
     '例子|窗口|文件夹|下载|不小心|格式|页面|数字|图表|按钮|草稿|字体|公式|方程|菜单|脚注|引言|结论|变量|函数|报错|错误|链接|屏幕|浏览器|段落|句子|第二句|'
     '第一句|表格|标题|代码|文件|选项|首都|第二步|第三步'),
    ('zh', 'whole', 'courtesy',
     '我喜欢|我爱|我知道|我懂|我明白|我同意|我也是|我也|我可以|我不要|我来了|我好了|我会的|我没有|我不|我看看|我很喜欢'),
    -- Japanese
    ('ja', 'first', 'question',
     'なぜ|どうして|どうやって|どうすれば|何が|何を|何の|何で|誰|どこ|いつ|いくら|いくつ|どれ|どの|どんな|どう'),
    ('ja', 'first', 'courtesy',
     'ありがとう|有難う|どうも|サンキュー|感謝|助かり|助かっ|わかりました|分かりました|わかった|分かった|承知|なるほど|そうですね|そうです|そうか|そうだね|ええ|'
     'いいえ結構|オーケー|オッケー|いいね|いいです|良い|すごい|素晴らしい|完璧|最高|面白い|はは|ははは|笑|ふふ|へえ|ほう|うーん|えっと|ああ|すみません|'
     'すいません|ごめん|ごめんなさい|申し訳|大丈夫|問題ありません|問題ない|気にし|こんにちは|こんばんは|おはよう|やあ|さようなら|バイバイ|おやすみ|じゃあね|'
     'どういたしまして|もちろん|確かに|正解|その通り|違います|理解|質問があります|質問です|聞きたいことが|一つ質問|知りません|知らない|わからない|分からない|'
     'わかりません|分かりません|おめでとう|ようこそ|お疲れ|お願いします|よろしく|いただきます|楽しみ|嬉しい|嬉しいです|ちょっと待|私も|僕も|俺も|私もそう|また明日|'
     'また今度|また後|またね|そうなんだ|そうなんです|そうですか|うんうん|はいはい|考えさせ|考えて|考えます|やってみ|試してみ|もう一回|面白かっ|いい感じ|いい質問|'
     'いいアイデア|いい考え|とても良|とてもいい|とても参考|とても面白|とても助|とても分|すごく|さすが|やった|なんと|まじ|マジ|えー|あれれ|おっと|残念|不思議|変だ|'
     '変です|お元気|元気で|お久しぶり|はじめまして よ|良い一日|頑張って|気をつけて|さっき言|先ほど言|前にも言|私の間違|間違え|もういい|結構|結構です|それで結構|'
     '必要ありま|必要ない|特にな|特にあ|ないです|できました|できた|うまくい|助かる|勉強になり|参考になり|楽し|かわいい|可愛い|素敵|綺麗|きれい|だめ|ダメ|無理|'
     '意味がわか|意味が分か|よくわか|よく分か|まだわか|まだ分か|質問が|質問があ|疑問|確認です|間違っ|後で|あとで|今から読|読んでいま|見てみ|開けません|開けない'),
    ('ja', 'first', 'remark',
     'これ|それ|あれ|この|その|あの|こう|そういう|そんな|こんな|ここ|そこ|あなた|君|答え|コード|結果|二番目|一番目|最初の|最後の|今日はいい|今日は暑|今日は寒|'
     '天気|いい天気|たぶん|長すぎ|短すぎ|動きません|動かない|うまくいかない|まだ動|まだエラー|まだ駄目|まだうまく|同じエラー|ほぼ|だいぶ|もう少し|もうちょっと|'
     '少し長|少し短|ちょっと長|ちょっと短|ちょっと違|口調|タイトル|残り|冗談|レシピ|リスト|アイデア|説明|表|関数|エラー|ファイル|ページ|文章|詩|両方|何も|全部|'
     '雨|雪|外は|今日は晴|今日は雨|今日は涼|今日は蒸|さっきの|前の|上の|下の|三番目|最後に|すでに|既に|もう聞|もう言|言い|違う|リンク|画面|ブラウ|二つ目|'
     '一つ目|三つ目|文が'),
    ('ja', 'first', 'statement',
     'これから|これからは|今後|今後は|これは私の|これは僕の|この春|この夏|それは私の|また来月|ここに住|いつも|先週|来週|来月|来年|昨年|毎日|毎週|毎朝|毎年|週末|'
     '平日|最近|昔|子供の頃|今は|生まれ|出身|趣味|仕事|職業|名前|誕生日|家族|結婚|独身|アレルギー|好きな|嫌いな|苦手な|得意|外は苦手|何も食べ|雨の日は走|'
     '説明は短|全部で'),
    ('ja', 'first', 'filler',
     '実は|ちなみに|そして|でも|しかし|だから|それと|あと|さらに|なので|ところで|えっと私|はじめまして|訂正|今日|昨日|明日|今|残念ながら|幸い|個人的に|もう一つ|'
     '訂正です|補足|はい 私|うん 私|いえ 私|はい|ええと|あの ね'),
    ('ja', 'last', 'question',
     'か|かな|かしら|ですか|ますか|だろう|でしょう|のか|の ?|とは|方法|の首都|の高さ|の意味|の人口|の作り方|のレシピ'),
    ('ja', 'last', 'request',
     'ください|下さい|てほしい|て欲しい|て|お願い|お願いします|おねがいします|頼む|しよう|しましょう|くれ|てくれる|てちょうだい|しろ|せよ|なさい|をお願い|'
     'ほしいです|欲しいです|ほしい'),
    ('ja', 'last', 'courtesy',
     '助かりました|ありがとうございました|ありがとう|ですね|よね|だね|だよね|かも|気がします|と思います|よろしく|よろしくお願いします|おやすみ|いいですね|見えます|'
     '見えました|思いつきませんでした|にします|でいいです|試した|試しました|てみます|見ます|読みます'),
    ('ja', 'last', 'statement',
     '呼んで|呼んでください|呼んで下さい|と呼んで|覚えて|覚えておいて|覚えておいてください|覚えていて|忘れないで|忘れないでください|使わないで|使わないでください|'
     'しないで|しないでください|ないで|ないでください|ないで下さい|で話して|で話してください|で話して下さい|で答えて|で答えてください|日本語で答えて|住んで|好きです|'
     '嫌いです|苦手です|好き|嫌い|苦手|働いて|飼って|使っています|使ってます|通っています|勤めています|勤務しています|勉強しています|働いています|働いてます|'
     '住んでいます|住んでます|飼っています|飼ってます|持っています|食べません|食べられません|飲みません|飲めません|しています|なりました|生まれました|生まれです|'
     '出身です|と申します|といいます|と言います|引っ越します|引っ越しました|予定です|好きじゃない|好きではありません|います|辞めました'),
    ('ja', 'last', 'remark',
     'レシピ|例|冗談|が変です|固まった|開きません|開けません|開けない|でエラーです'),
    ('ja', 'any', 'question',
     '教えて|何時|何ですか|ですか|ますか|でしょうか|とは何'),
    ('ja', 'any', 'self',
     '私|僕|わたし|ぼく|おれ|自分|うち|我々|私たち|僕たち|弊社|妻|夫|娘が|息子が|飼って'),
    ('ja', 'any', 'always',
     'いつも|必ず|常に|これから|今後|絶対|毎回|二度と'),
    ('ja', 'any', 'you',
     'あなた|君|お前'),
    ('ja', 'any', 'personal',
     '孫が|孫の|孫は|トラッ|ヤギ|鶏を|馬を|元夫|元妻|保育園|幼稚園|小学校|中学校|高校|教会|ラマダ|クリス|年金|ローン|借金|保険|趣味|好物|補聴器|解雇|辞め|'
     '母|父|両親|姉|妹|兄|弟|旦那|嫁|娘|息子|子供|子ども|赤ちゃん|双子|祖母|祖父|彼女は|彼氏|婚約|ルーム|犬|猫|アレル|不耐症|喘息|菜食|ベジタ|ヴィー|'
     '妊娠|手術|頭痛|薬を|車椅子|うつ病|転職|上司|看護師|教師|夜勤|退職|失業|論文|試験|面接|給料|在宅勤|家賃|引っ越|育ち|生まれ|誕生日|結婚|離婚|独身|歳|'
     '便で|休暇|ビザ|マラソ|ジム|テニス|ギター|ピアノ|合唱|ヨガ|予算|母語|月曜|火曜|水曜|木曜|金曜|土曜|日曜|毎朝|毎日|毎週|左利き|出身'),
    ('ja', 'any', 'material',
     'ウィン|フォル|ダウン|書式|ページ|グラフ|ボタン|下書き|フォン|数式|メニュー|序文|結論|変数|関数|エラー|リンク|画面|ブラウ|文章|列目|行目|表の|タイト|'
     'コード|ファイ|選択肢|二番目|番目の'),
    ('ja', 'whole', 'courtesy',
     '好きです|好き|私も|僕も|わかる|知ってる|知っています|いいよ|私です|できた|できました'),
    -- The present moment: where the author is, what they just did or do next, a passing state
    ('en', 'any', 'material',
     'today|tonight|right now|this minute|this second|in a minute|in a sec|in a second|'
     'in a moment|in a bit|in a few|in five minutes|in ten minutes|just now|by noon|by tonight|'
     'by tomorrow|asap|for now|be right back|be back in|back in a|so tired|a bit tired|'
     'too tired|pretty tired|so bored|i''m bored|im bored|so hungry|so sleepy|sleepy|starving|'
     'hungry|thirsty|freezing|half asleep|so confused|i''m confused|on my way|in a meeting|'
     'in the meeting|in a call|on a call|in a hurry|in a rush|running late|need to run|'
     'have to run|gotta run|gotta go|need to go|going to bed|off to bed|woke up|sat down|'
     'having lunch|having dinner|having breakfast|grabbing lunch|grab a coffee|getting cold|'
     'almost done|almost there|nearly done|nearly there|train of thought|owe you|you said|'
     'you told me|i attached|i''ve attached|attached the|attached a|is attached|attachment|'
     'forgot to attach|forgot to add|forgot to say|forgot to mention|tried that|tried it|'
     'already tried|tried both|did that|done that|see it|see nothing|open it|need this|'
     'need that|need it|this one|that one|first one|second one|third one|other one|last one|'
     'this part|that part|this version|that version|this bit|that bit|this section|'
     'only need the|just need the|the comma|a comma|commas'),
    ('de', 'any', 'material',
     'heute|gleich|gerade total|gerade so|gerade nicht|gerade kein|gerade keine|gerade keinen|'
     'mir ist gerade|im moment nicht|grad nicht|hier nicht weiter|kurz weg|mal kurz|kurz mal|'
     'bin kurz|bin gerade|eben schnell|im meeting|einer besprechung|bin im bus|bin im zug|'
     'sitze im bus|sitze im zug|so müde|zu müde|total müde|hundemüde|mir ist kalt|mir ist heiß|'
     'mir ist warm|mir ist langweilig|mir wird kalt|wird kalt|hab hunger|habe hunger|hab durst|'
     'habe durst|in eile|eilig|spät dran|muss los|muss weg|fast fertig|gleich fertig|bin fertig|'
     'geh schlafen|gehe schlafen|jetzt schlafen|auf dem schlauch|faden verloren|angehängt|'
     'anzuhängen|anhang|vergessen anzuhängen|schon probiert|ausprobiert|schon versucht|'
     'sehe nichts|seh nichts|sehe da nichts|den letzten teil|brauche das|die erste variante|'
     'die zweite variante|komma|kommas|in einer minute|in zwei minuten|in fünf minuten|'
     'in zehn minuten'),
    ('es', 'any', 'material',
     'hoy|ahorita|ahora mismo|en un momento|en un rato|en un minuto|enseguida|esta noche|'
     'esta tarde|esta mañana|cansado|cansada|aburrido|aburrida|estoy un|estoy muy|estoy tan|'
     'estoy algo|estoy en el|estoy en una|una reunión|de camino|tengo frío|tengo calor|'
     'tengo hambre|tengo sueño|tengo sed|tengo prisa|llego tarde|tengo que irme|voy a dormir|'
     'voy a comer|voy a cenar|casi termino|casi acabo|casi terminado|se me olvidó|me olvidé|'
     'olvidé|adjunto|adjuntar|adjuntarlo|adjuntado|ya lo intenté|ya intenté|ya probé|lo probé|'
     'no veo nada|no lo veo|ahora te|ahora lo|ahora la|más la primera|más la segunda|'
     'más el primero|más el segundo|mejor la primera|mejor la segunda|prefiero la primera|'
     'prefiero la segunda|prefiero el primero|prefiero el segundo|coma|comas|en dos minutos|'
     'en cinco minutos'),
    ('fr', 'any', 'material',
     'aujourd''hui|ce soir|ce matin|cet après midi|tout de suite|un instant|à l''instant|'
     'en réunion|en route|en retard|pressé|pressée|fatigué|fatiguée|crevé|crevée|suis en train|'
     'je reviens|je vérifie|je regarde|je teste|j''essaye|je m''ennuie|j''ai froid|j''ai chaud|'
     'j''ai faim|j''ai soif|j''ai sommeil|vais me coucher|vais dormir|vais manger|dois y aller|'
     'dois filer|presque fini|presque terminé|bientôt fini|j''ai oublié de|pièce jointe|'
     'déjà essayé|ai essayé|ai testé|ne vois rien|vois rien|à l''ouvrir|préfère la première|'
     'préfère la deuxième|préfère la seconde|préfère le premier|préfère le deuxième|'
     'préfère le second|plutôt la première|plutôt la deuxième|virgule|dans une minute|'
     'dans deux minutes|dans cinq minutes|dans dix minutes'),
    ('it', 'any', 'material',
     'oggi|stasera|stamattina|tra poco|fra poco|un attimo|in questo momento|proprio ora|'
     'adesso ti|ora ti|in riunione|in ritardo|stanco|stanca|annoiato|annoiata|mi annoio|'
     'torno subito|provo subito|ho freddo|ho caldo|ho fame|ho sete|ho sonno|ho fretta|'
     'vado a dormire|vado a letto|vado a mangiare|devo andare|devo scappare|quasi finito|'
     'quasi fatto|ho dimenticato di|allegato|allegare|già provato|non vedo niente|vedo niente|'
     'aprirlo|hai detto|preferisco la prima|preferisco la seconda|meglio la prima|'
     'meglio la seconda|virgola|tra un minuto|tra due minuti|tra cinque minuti'),
    ('pt', 'any', 'material',
     'hoje|agora mesmo|já já|daqui a pouco|num instante|neste momento|estou no|estou na|'
     'estou muito|estou um pouco|estou meio|entediado|entediada|estou com frio|estou com calor|'
     'estou com fome|estou com sede|estou com sono|com pressa|atrasado|atrasada|em reunião|'
     'numa reunião|a caminho|já volto|vou dormir|vou comer|vou almoçar|tenho de ir|tenho que ir|'
     'preciso ir|quase acabando|quase terminando|quase pronto|quase no fim|esqueci|anexo|anexar|'
     'já tentei|já testei|tentei isso|não vejo nada|consigo abrir|travou|prefiro a primeira|'
     'prefiro a segunda|prefiro o primeiro|prefiro o segundo|vírgula|em dois minutos|'
     'em cinco minutos'),
    ('nl', 'any', 'material',
     'vandaag|vanavond|vanmorgen|vanochtend|vanmiddag|ben even|ga even|moet even|kan even|'
     'wil even|heb even|even wachten|even kijken|zo terug|zo meteen|straks|op dit moment|'
     'ben moe|zo moe|een vergadering|nu onderweg|al onderweg|heb het koud|heb het warm|'
     'heb honger|heb dorst|heb slaap|heb haast|ga slapen|ga eten|moet gaan|moet weg|bijna klaar|'
     'al klaar|bijlage|al geprobeerd|ik zie niks|ik zie niets|liever de eerste|liever de tweede|'
     'over vijf minuten'),
    ('pl', 'any', 'material',
     'dzisiaj|dziś|zaraz|za chwilę|za minutę|w tej chwili|zmęczony|zmęczona|na spotkaniu|'
     'w drodze|zaraz wracam|nudzi mi|zimno mi|gorąco mi|jestem głodny|jestem głodna|spieszę się|'
     'śpieszę się|idę spać|idę jeść|muszę lecieć|muszę iść|prawie skończyłem|prawie skończyłam|'
     'prawie gotowe|zapomniałem|zapomniałam|załącznik|załączyć|już próbowałem|już próbowałam|'
     'nic nie widzę|wolę pierwszą|wolę drugą|wolę pierwszy|wolę drugi|przecinek|przecinka|'
     'za pięć minut'),
    ('ru', 'any', 'material',
     'сегодня|сейчас вернусь|через минуту|через пять минут|прямо сейчас|в данный момент|устал|'
     'устала|скучно|на встрече|мне холодно|мне жарко|хочу есть|хочу спать|иду спать|пора спать|'
     'спешу|опаздываю|тороплюсь|мне пора|почти закончил|почти закончила|почти готово|забыл|'
     'забыла|прикрепить|вложение|уже пробовал|уже пробовала|ничего не вижу|первый вариант|'
     'второй вариант|первую версию|вторую версию|запятая|запятой'),
    ('tr', 'any', 'material',
     'bugün|bu akşam|bu sabah|birazdan|hemen|az sonra|biraz sonra|yorgunum|toplantıdayım|'
     'yoldayım|sıkıldım|üşüyorum|acıktım|susadım|uykum var|uykum geldi|yatıyorum|'
     'neredeyse bitti|az kaldı|unuttum|denedim|görmüyorum|göremiyorum|acelem var|geç kaldım|'
     'gitmem lazım|virgül|ilkini|ikincisini'),
    ('zh', 'any', 'material',
     '今天|今晚|今早|马上|一会儿|待会|好困|好累|好饿|有点累|有点困|在开会|在路上|很无聊|刚起床|'
     '好冷|好热|去睡了|饿了|渴了|困了|累了|快好了|快完了|忘了|附上|附件|试过|看不到|看不见|'
     '赶时间|来不及|要走了|逗号'),
    ('ja', 'any', 'material',
     '今日|今夜|今朝|今すぐ|後で|あとで|会議中|移動中|疲れた|眠い|退屈|寒い|暑い|寝ます|空いた|'
     'もうす|忘れま|忘れた|添付|試しま|試した|見えま|見えな|急いで|遅刻|句点|読点|一つ目|二つ目'),
    -- A number without a noun: one of the answers in the chat
    ('en', 'last', 'remark',
     'the first|the second|the third|the last|the other|the first one|the second one|'
     'the other one'),
    ('de', 'last', 'remark',
     'die erste|die zweite|die dritte|das erste|das zweite|den ersten|den zweiten'),
    ('fr', 'last', 'remark',
     'la première|la deuxième|la seconde|la dernière|le premier|le deuxième|le second|le dernier'),
    ('es', 'last', 'remark',
     'la primera|la segunda|la tercera|el primero|el segundo|el tercero|la última|el último'),
    ('it', 'last', 'remark',
     'la prima|la seconda|il primo|il secondo|l''ultima|l''ultimo'),
    ('pt', 'last', 'remark',
     'a primeira|o primeiro|o segundo|a última|o último'),
    ('nl', 'last', 'remark',
     'de eerste|de tweede|de laatste'),
    ('pl', 'last', 'remark',
     'pierwszą|drugą|pierwszy|drugi'),
    ('ru', 'last', 'remark',
     'первый|второй|первую|вторую|первая|вторая')
  ) as v (language, place, meaning, phrases)
 cross join lateral regexp_split_to_table(v.phrases, '\|') as p (phrase)
on conflict (phrase, place) do nothing;
