"""Phrases that mean more than their words: "did we …", "how do I …", "should go on record".

Each pattern looks at the joined tokens of one sentence, courtesies removed; the sentence's length bounds the work.
"""

import re

PATTERNS: dict[str, re.Pattern[str]] = {
    # Each looks at the joined tokens of one sentence; `\w+` between fixed words keeps them linear.
    "did_we": re.compile(
        r"\b(?:did|have|had|has) (?:we|i|the team|our team|anyone|anybody|someone|somebody|anything)\b"
    ),
    "do_we": re.compile(
        r"\b(?:do|are|can|should|must|may) we\b|\bwe (?:use|pin|set|store|catch|handle|call"
        r"|do|run|have|keep|validate|check|parse|send|ship|depend)\b"
    ),
    "how_to": re.compile(
        r"\bhow (?:to|do i|can i|should i|would i|does one|do you|can one|should one|do people"
        r"|is it possible)\b|^(?:wie (?:kann|mache|installiere|konfiguriere|macht|geht|schreibe"
        r"|benutze) |comment (?:faire|installer|configurer|utiliser|puis|on)\b|como (?:se|puedo"
        r"|hago|instalar|configurar|fazer|faco|posso)\b|come (?:si|posso|faccio|installare"
        r"|configurare)\b|hoe (?:kan|moet|installeer|maak|doe) (?:ik|je)\b)"
    ),
    "how_works": re.compile(
        r"\bhow (?:does|do|is|are|did) |\bwhat happens\b|\bwie (?:funktioniert|wird|werden)\b"
        r"|\bcomment (?:fonctionne|marche|est|sont)\b|\bcomo (?:funciona|se|funcionan)\b|\bcome "
        r"(?:funziona|viene|vengono)\b|\bhoe werkt\b|\bhoe wordt\b"
    ),
    "compare_us": re.compile(
        r"\b(?:we|our|us|ours)\b.*\b(?:industry|common|others?|everyone|companies|normal|standards?"
        r"|recommend(?:ed|s|ation)?|best practices?|benchmarks?|typical|competitors?|experts?"
        r"|state of the art|guidance|guidelines? of|mainstream|usual|unusual|outdated|up to date)\b"
        r"|\b(?:others?|companies|industry|everyone|competitors?|experts?|people|best practices?"
        r"|guidance)\b.*\b(?:we|our|ours)\b"
    ),
    "version_we": re.compile(
        r"\b(?:version|release|which|what)\b.*\b(?:we|our|us)\b.*\b(?:pin|pinned|use|using"
        r"|run|running|on|require|depend|lock|locked|installed|build|target|ship)\b|\b(?:pin"
        r"|pinned|locked|installed|bundled)\b"
    ),
    "remember_to": re.compile(
        r"^(?:remember|remind me) (?:that|to|the|this|my|our|we|i|about)\b|^(?:note|log|record|jot)\b"
    ),
    "you_did": re.compile(
        r"\byou(?:'ve| have| just)? (?:\w{2,}ed|wrote|did|made|gave|found|sent|said|put|built"
        r"|told|keep|kept|meant)\b|\byour (?:\w+ )?(?:answer|reply|response|explanation|message"
        r"|summary|suggestion|advice|help|work|example)s?\b"
    ),
    "restyle": re.compile(
        r"\b(?:make|put|write|format|turn|give|say|explain|express|tell|phrase|summari[sz]e"
        r"|shorten|condense|render|show) (?:me )?(?:it|that|this|them|those|these|your answer"
        r"|the answer|the above|a|an|the)\b.{0,60}\b(?:shorter|longer|simpler|clearer|list"
        r"|bullets?|bullet points?|table|again|without|sentences?|words?|version|slower|differently"
        r"|example|jargon|less|more|as if|like i)\b"
    ),
    "into_note": re.compile(
        r"\b(?:in|into|to|as|under|on|onto|als|dans|en|como|come|nel|nella|em|no|na|comme) "
        r"(?:a |an |the |my |our |ein |eine |einen |une |un |una |uma |een |meine |ma |mi "
        r"|la |el |il )?(?:\w+ ){0,2}(?:notes?|pages?|vault|wiki|thread|adr|runbook|glossary"
        r"|journal|log|logbook|list|checklist|folder|archive|inbox|minutes|plan|notiz|seite"
        r"|liste|ordner|archiv|tagebuch|fiche|liste|dossier|coffre|nota|pagina|carpeta|lista"
        r"|archivo|cofre|pasta|notitie|lijst|map|kluis|logboek|xnotepathx)\b"
    ),
    "want_note": re.compile(
        r"\b(?:want|need|like|love|should have|could have|have|deserves|get)\b (?:to have "
        r"|to get |to see )?(?:a|an|another|one|some) (?:\w+ ){0,3}(?:notes?|pages?|thread"
        r"|adr|task|entry|record|section|reminder|checklist|folder|runbook|ticket|todo|write-?up"
        r"|tag)\b"
        r"|\b(?:want|need|like|love|get|have|see) (?:this|that|it|these|those|the \w+|the \w+ \w+ \w+) "
        r"(?:\w+ ){0,2}(?:documented|written|recorded|saved|noted|added|filed|archived|moved"
        r"|renamed|deleted|removed|tagged|logged|linked|stored|updated|published|into|under)\b"
        r"|\b(?:make sure|ensure|see to it) .{0,60}\b(?:ends? up|is|gets?|goes|are) (?:\w+ ){0,2}"
        r"(?:in|into|on|added|recorded|saved|filed|documented|noted|linked|tagged)\b"
    ),
    "which_code": re.compile(
        r"^(?:in |of |from )?(?:which|what|wich|welche[rsmn]?|quel|quelle|quels|quelles|que"
        r"|cual|quale|quali|qual|quais|welke?) (?:\w+ )?(?:class|classes|functions?|methods?"
        r"|modules?|files?|tests?|endpoints?|routes?|queries|query|index|table|column|variables?"
        r"|flags?|settings?|options?|parameters?|params|arguments?|regex|queue|job|handler"
        r"|worker|klasse|funktion|datei|tests|fichiers?|fonctions?|archivo|funcion|clase|funzione"
        r"|classe|file|arquivo|funcao|testes|bestand|functie)\b"
    ),
    "where_done": re.compile(
        r"^(?:where|in which|in what|wo|ou|donde|dove|onde|waar) (?:is|are|do|does|gets?|was"
        r"|were|wird|werden|est|se|viene|vengono|e|wordt|worden) .{0,80}\b(?:\w{2,}ed|\w{2,}ert"
        r"|ge\w{2,}t|\w{2,}ee?|\w{2,}[ai]d[oa]|\w{2,}at[oa]|set|built|sent|kept|done|read|written"
        r"|thrown|caught|made)\b"
    ),
    "how_passive": re.compile(
        r"^(?:how|wie|comment|como|come|hoe) (?:is|are|was|were|does|do|gets?|werden|wird|wurde"
        r"|sont|est|se|son|viene|vengono|sao|e|worden|wordt) (?:\w+ ){1,8}(?:\w{3,}ed|reported"
        r"|sent|built|kept|made|chosen|written|read|shown|found|thrown|caught|bound|set|ge\w{2,}t"
        r"|\w{3,}ees?|\w{3,}[ai]d[oa]s?|\w{3,}[aiu]t[oaie])\b"
    ),
    "what_is": re.compile(
        r"\bwhat(?:'s| is| are|s) (?:a|an|the difference|meant)\b|\bwhat does \w+(?: \w+){0,3} "
        r"(?:mean|stand for)\b|\bdefine\b|\bmeaning of\b|^was ist (?:ein|eine|der unterschied)\b"
        r"|^qu'est-ce qu(?:e|'une?)\b|^que es\b|^cos'?e\b|^o que e\b|^wat is (?:een|het verschil)\b"
    ),
    "thanks_for": re.compile(
        r"\b(?:thanks|thank you|thx|danke|merci|gracias|grazie|obrigad[oa]|bedankt) (?:\w+ )?"
        r"(?:for|fur|pour|por|per|pela|pelo|voor|d')\b"
    ),
    "follow_up": re.compile(
        r"^(?:and|but|or|so|und|aber|et|mais|y|pero|e|ma|mas|en|maar)(?: also)?(?: (?:what"
        r"|how|was|wie|que|come|che|wat|hoe|quid))? ?(?:about|if|with|is|of|ist|mit|de|con"
        r"|com|sobre|over)?\b|^(?:what|how) (?:about|if)\b|^(?:was ist mit|et pour|y para|e per"
        r"|e para|que tal con|e quanto a|en hoe zit)\b"
    ),
    "what_happens": re.compile(
        r"\bwhat (?:happens|is|gets|would happen)\b.*\b(?:when|if|after|before|while|once)\b"
        r"|\bwhen \w+ .*\b(?:what|how|which|does|is)\b"
    ),
}

WISHES = frozenset({"into_note", "want_note", "remember_to", "restyle"})
"""Wishes and commands: in a question that begins with a question word they are only spoken about."""
