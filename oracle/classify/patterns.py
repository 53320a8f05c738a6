"""Phrases that mean more than their words: "did we …", "how do I …", "should go on record".

Each pattern looks at the joined tokens of one sentence, courtesies removed; the sentence's length bounds the work.
"""

import re

PATTERNS: dict[str, re.Pattern[str]] = {
    # Each looks at the joined tokens of one sentence; `\w+` between fixed words keeps them linear.
    "did_we": re.compile(
        r"\b(?:did|have|had|has) (?:we|i|the team|our team|anyone|anybody|someone|somebody|anything)\b"
    ),
    "how_to": re.compile(
        r"\bhow (?:to|do i|can i|should i|would i|does one|do you|can one|should one|do people"
        r"|is it possible)\b|^(?:wie (?:kann|mache|installiere|konfiguriere|macht|geht|schreibe"
        r"|benutze) |comment (?:faire|installer|configurer|utiliser|puis|on)\b|como (?:se|puedo"
        r"|hago|instalar|configurar|fazer|faco|posso)\b|come (?:si|posso|faccio|installare"
        r"|configurare)\b|hoe (?:kan|moet|installeer|maak|doe) (?:ik|je)\b)"
    ),
    "compare_us": re.compile(
        r"\b(?:we|our|us|ours)\b.*\b(?:industry|common|others?|everyone|companies|normal|standards?"
        r"|recommend(?:ed|s|ation)?|best practices?|benchmarks?|typical|competitors?|experts?"
        r"|state of the art|guidance|guidelines? of|mainstream|usual|unusual|outdated|up to date)\b"
        r"|\b(?:others?|companies|industry|everyone|competitors?|experts?|people|best practices?"
        r"|guidance)\b.*\b(?:we|our|ours)\b"
    ),
    "you_did": re.compile(
        r"\byou(?:'ve| have| just)? (?:\w{2,}ed|wrote|did|made|gave|found|sent|said|put|built"
        r"|told|keep|kept|meant)\b|\byour (?:\w+ )?(?:answer|reply|response|explanation|message"
        r"|summary|suggestion|advice|help|work|example)s?\b"
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
    "what_is": re.compile(
        r"\bwhat(?:'s| is| are|s) (?:a|an|the difference|meant)\b|\bwhat does \w+(?: \w+){0,3} "
        r"(?:mean|stand for)\b|\bdefine\b|\bmeaning of\b|^was ist (?:ein|eine|der unterschied)\b"
        r"|^qu'est-ce qu(?:e|'une?)\b|^que es\b|^cos'?e\b|^o que e\b|^wat is (?:een|het verschil)\b"
    ),
}

WISHES = frozenset({"into_note", "want_note"})
"""Wishes and commands: in a question that begins with a question word they are only spoken about."""
