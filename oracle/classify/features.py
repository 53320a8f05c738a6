"""The evidence that a message gives about its type: a small set of named features, each present or not.

Names tell what they see: `tag:meeting` a word of that tag, `ask:why` a question that begins so, `do:change` a command, `own+why` both
at once. The weights in `weights.json` say what each is worth for each type; a feature without a weight is worth nothing.
"""

import re
from collections.abc import Iterator

from oracle.classify.reading import TALK_TAGS, Reading, Sentence, addresses_assistant
from oracle.classify.tokens import IDENTIFIER, NOTE_PATH, QUOTED

_WRITING = frozenset({"keep", "change"})
_STRONG_CODE = frozenset({"trace", "error_name", "call", "snake", "source_path", "flag", "route"})
_WEAK_CODE = frozenset({"backtick", "camel", "fence"})
_DEFINITE = frozenset("the der die das den dem le la les el los il lo gli o a os as het de l del".split()) - {"a", "o", "as"}
_POSSESSIVE = frozenset("our my unser unsere unserem unseren unserer mein meine meinem meinen notre nos mon ma mes nuestro nuestra nuestros nuestras mi mis nostro nostra nostri nostre mio mia nosso nossa nossos nossas meu minha onze ons mijn".split())

_PATTERNS: dict[str, re.Pattern[str]] = {
    # Each looks at the joined tokens of one sentence; `\w+` between fixed words keeps them linear.
    "past_we": re.compile(
        r"\b(?:did|have|had|has|hasn't|haven't|didn't|was|were) (?:we|i|the team|our team|anyone|anybody|somebody|someone|anything|it|there|nobody|they|\w+) "
        r"|\b(?:we|i|team) (?:\w+ed|wrote|chose|went|made|put|said|took|met|held|kept|built|set|came)\b"
    ),
    "did_we": re.compile(r"\b(?:did|have|had|has) (?:we|i|the team|our team|anyone|anybody|someone|somebody|anything)\b"),
    "do_we": re.compile(r"\b(?:do|are|can|should|must|may) we\b|\bwe (?:use|pin|set|store|catch|handle|call|do|run|have|keep|validate|check|parse|send|ship|depend)\b"),
    "how_to": re.compile(
        r"\bhow (?:to|do i|can i|should i|would i|does one|do you|can one|should one|do people|is it possible)\b|^(?:wie (?:kann|mache|installiere|konfiguriere|macht|geht|schreibe|benutze) |comment (?:faire|installer|configurer|utiliser|puis|on)\b|como (?:se|puedo|hago|instalar|configurar|fazer|faco|posso)\b|come (?:si|posso|faccio|installare|configurare)\b|hoe (?:kan|moet|installeer|maak|doe) (?:ik|je)\b)"
    ),
    "what_is": re.compile(r"\bwhat(?:'s| is| are|s) (?:a|an|the difference|meant)\b|\bwhat does \w+(?: \w+){0,3} (?:mean|stand for)\b|\bdefine\b|\bmeaning of\b|^was ist (?:ein|eine|der unterschied)\b|^qu'est-ce qu(?:e|'une?)\b|^que es\b|^cos'?e\b|^o que e\b|^wat is (?:een|het verschil)\b"),
    "how_works": re.compile(r"\bhow (?:does|do|is|are|did) |\bwhat happens\b|\bwie (?:funktioniert|wird|werden)\b|\bcomment (?:fonctionne|marche|est|sont)\b|\bcomo (?:funciona|se|funcionan)\b|\bcome (?:funziona|viene|vengono)\b|\bhoe werkt\b|\bhoe wordt\b"),
    "does_it": re.compile(r"^(?:does|do|is|are|can) (?:the|our|this|that|it|anything|any|there)\b"),
    "does_they": re.compile(r"\b(?:they|their|people|companies|vendors?|providers?|others?)\b"),
    "is_there": re.compile(r"^(?:is|are) there (?:a|an|any)\b|^(?:any|anything)\b|\bdo we have\b|\bgibt es\b|\by a-t-il\b|\bhay\b|\bc'e\b|\bis er een\b|^existe\b"),
    "want_new": re.compile(
        r"\b(?:want|need|like|love|create|open|have|get) (?:to have |to get |to see |to create |to start |to add )?(?:a |an |another |these |this |those |the |one )?(?:\w+ )?(?:new|fresh|separate)\b|\b(?:should|needs? to|must|ought to|has to|have to|can|could) (?:\w+ ){0,4}(?:on record|be on record|be recorded|be noted|be written down|be documented|be added|be archived|be logged|be saved|be filed|be tagged|be moved|be renamed|be deleted|be removed|be linked|go into|go in|go to|go under|live in|end up in)\b"
        r"|\bbelongs? (?:in|on|to|under|into)\b|\bon record\b|\bfor the record\b|\bdeserves? (?:a|an|its)\b|\bworth (?:a note|noting|recording|writing down|keeping)\b|\bwritten down\b.*\b(?:care|please|can|could)\b|\b(?:get|have|see) (?:this|that|it|these|those|the \w+|\w+ \w+ \w+ \w+) (?:\w+ ){0,4}(?:into|added|recorded|saved|filed|documented|written|noted|archived|moved|deleted|removed)\b|\btake care of\b"
    ),
    "thanks_for": re.compile(r"\b(?:thanks|thank you|thx|danke|merci|gracias|grazie|obrigad[oa]|bedankt) (?:\w+ )?(?:for|fur|pour|por|per|pela|pelo|voor|d')\b"),
    "follow_up": re.compile(
        r"^(?:and|but|or|so|und|aber|et|mais|y|pero|e|ma|mas|en|maar)(?: also)?(?: (?:what|how|was|wie|que|come|che|wat|hoe|quid))? ?(?:about|if|with|is|of|ist|mit|de|con|com|sobre|over)?\b|^(?:what|how) (?:about|if)\b|^(?:was ist mit|et pour|y para|e per|e para|que tal con|e quanto a|en hoe zit)\b"
    ),
    "pronoun_only": re.compile(r"\b(?:it|that|this|those|these|them|there|one|ones|the other|the second|the first|the last|das|dies|davon|ca|cela|eso|esto|questo|quello|isso|isto|dat|dit)\b"),
    "mention_you": re.compile(r"\b(?:you|your|yourself)\b"),
    "compare_us": re.compile(r"\b(?:we|our|us|ours)\b.*\b(?:industry|common|others?|everyone|companies|normal|standards?|recommend(?:ed|s|ation)?|best practices?|benchmarks?|typical|competitors?|experts?|state of the art|guidance|guidelines? of|mainstream|usual|unusual|outdated|up to date)\b|\b(?:others?|companies|industry|everyone|competitors?|experts?|people|best practices?|guidance)\b.*\b(?:we|our|ours)\b"),
    "version_we": re.compile(r"\b(?:version|release|which|what)\b.*\b(?:we|our|us)\b.*\b(?:pin|pinned|use|using|run|running|on|require|depend|lock|locked|installed|build|target|ship)\b|\b(?:pin|pinned|locked|installed|bundled)\b"),
    "who_did": re.compile(r"\bwho (?:is|are|was|were|owns?|maintains?|decided|wrote|said|signed|approved|proposed|suggested|attended|leads?|runs?|should|do|can|has|had|wanted|agreed|objected)\b"),
    "who_calls": re.compile(r"\b(?:who|what|which) (?:\w+ )?(?:calls?|uses?|imports?|sets?|triggers?|writes?|reads?|invokes?|depends?|handles?|throws?|raises?|sends?|creates?|consumes?|owns)\b"),
    "time_ago": re.compile(r"\b(?:last|previous|yesterday|ago|recent|earlier|this) ?(?:week|month|year|quarter|sprint|monday|tuesday|wednesday|thursday|friday|time|release|meeting|retro)?\b"),
    "remember_to": re.compile(r"^(?:remember|remind me) (?:that|to|the|this|my|our|we|i|about)\b|^(?:note|log|record|jot)\b"),
    "as_of_place": re.compile(r"\bin (?:paris|london|berlin|tokyo|new york|rome|madrid|[a-z]+ (?:right now|today|tomorrow))\b"),
    "wh_is_the": re.compile(r"^(?:what|which|how|when|where|who)(?:'s| is| are| was| were) the\b"),
    "you_did": re.compile(r"\byou(?:'ve| have| just)? (?:\w{2,}ed|wrote|did|made|gave|found|sent|said|put|built|told|keep|kept|meant)\b|\byour (?:\w+ )?(?:answer|reply|response|explanation|message|summary|suggestion|advice|help|work|example)s?\b"),
    "restyle": re.compile(
        r"\b(?:make|put|write|format|turn|give|say|explain|express|tell|phrase|summari[sz]e|shorten|condense|render|show) (?:me )?(?:it|that|this|them|those|these|your answer|the answer|the above|a|an|the)\b.{0,60}\b(?:shorter|longer|simpler|clearer|list|bullets?|bullet points?|table|again|without|sentences?|words?|version|slower|differently|example|jargon|less|more|as if|like i)\b"
    ),
    "into_note": re.compile(
        r"\b(?:in|into|to|as|under|on|onto|als|dans|en|como|come|nel|nella|em|no|na|comme) (?:a |an |the |my |our |ein |eine |einen |une |un |una |uma |een |meine |ma |mi |la |el |il )?(?:\w+ ){0,2}(?:notes?|pages?|vault|wiki|thread|adr|runbook|glossary|journal|log|logbook|list|checklist|folder|archive|inbox|minutes|plan|notiz|seite|liste|ordner|archiv|tagebuch|fiche|liste|dossier|coffre|nota|pagina|carpeta|lista|archivo|cofre|pasta|notitie|lijst|map|kluis|logboek|xnotepathx)\b"
    ),
    "new_note": re.compile(r"\b(?:new|another|neue[nrs]?|nouvelle|nouveau|nueva|nuevo|nuova|nuovo|nova|novo|nieuwe?) (?:\w+ )?(?:note|page|thread|entry|task|adr|doc|document|section|folder|tag|list|notiz|seite|aufgabe|entree|tache|fiche|nota|pagina|tarea|entrada|attivita|tarefa|notitie|taak|item|checklist|reminder)\b"),
    "what_happens": re.compile(r"\bwhat (?:happens|is|gets|would happen)\b.*\b(?:when|if|after|before|while|once)\b|\bwhen \w+ .*\b(?:what|how|which|does|is)\b"),
    "want_note": re.compile(
        r"\b(?:want|need|like|love|should have|could have|have|deserves|get)\b (?:to have |to get |to see )?(?:a|an|another|one|some) (?:\w+ ){0,3}(?:notes?|pages?|thread|adr|task|entry|record|section|reminder|checklist|folder|runbook|ticket|todo|write-?up|tag)\b"
        r"|\b(?:want|need|like|love|get|have|see) (?:this|that|it|these|those|the \w+|the \w+ \w+ \w+) (?:\w+ ){0,2}(?:documented|written|recorded|saved|noted|added|filed|archived|moved|renamed|deleted|removed|tagged|logged|linked|stored|updated|published|into|under)\b"
        r"|\b(?:make sure|ensure|see to it) .{0,60}\b(?:ends? up|is|gets?|goes|are) (?:\w+ ){0,2}(?:in|into|on|added|recorded|saved|filed|documented|noted|linked|tagged)\b"
    ),
    "which_code": re.compile(r"^(?:in |of |from )?(?:which|what|wich|welche[rsmn]?|quel|quelle|quels|quelles|que|cual|quale|quali|qual|quais|welke?) (?:\w+ )?(?:class|classes|functions?|methods?|modules?|files?|tests?|endpoints?|routes?|queries|query|index|table|column|variables?|flags?|settings?|options?|parameters?|params|arguments?|regex|queue|job|handler|worker|klasse|funktion|datei|tests|fichiers?|fonctions?|archivo|funcion|clase|funzione|classe|file|arquivo|funcao|testes|bestand|functie)\b"),
    "where_done": re.compile(r"^(?:where|in which|in what|wo|ou|donde|dove|onde|waar) (?:is|are|do|does|gets?|was|were|wird|werden|est|se|viene|vengono|e|wordt|worden) .{0,80}\b(?:\w{2,}ed|\w{2,}ert|ge\w{2,}t|\w{2,}ee?|\w{2,}[ai]d[oa]|\w{2,}at[oa]|set|built|sent|kept|done|read|written|thrown|caught|made)\b"),
    "how_passive": re.compile(r"^(?:how|wie|comment|como|come|hoe) (?:is|are|was|were|does|do|gets?|werden|wird|wurde|sont|est|se|son|viene|vengono|sao|e|worden|wordt) (?:\w+ ){1,8}(?:\w{3,}ed|reported|sent|built|kept|made|chosen|written|read|shown|found|thrown|caught|bound|set|ge\w{2,}t|\w{3,}ees?|\w{3,}[ai]d[oa]s?|\w{3,}[aiu]t[oaie])\b"),
    "supposed": re.compile(r"\b(?:supposed to|meant to|how should|should (?:services|we|i|people|new)|according to|as per)\b"),
}


_NO_QUESTION = frozenset({"into_note", "new_note", "want_note", "want_new", "remember_to", "restyle"})
"""Wishes and commands: in a question that begins with a question word they are only spoken about."""
MAX_SENTENCE_CHARS = 600


def features(reading: Reading) -> frozenset[str]:
    """The evidence in a message.

    Returns:
        Names of features; the bias is among them, so it is never empty.
    """
    found = {"bias"}
    found.update(_of_signs(reading))
    requests = reading.requests
    tags = {tag for sentence in reading.sentences for tag in sentence.tags}
    found.update(f"tag:{tag}" for tag in tags - {"function_word"})
    found.update(_of_counts(reading))
    for sentence in requests:
        found.update(_of_question(sentence))
        found.update(_of_commands(sentence))
        found.update(_of_nouns(sentence))
        found.update(_of_places(sentence))
        joined = " ".join(sentence.body)[:MAX_SENTENCE_CHARS]
        names = [name for name, pattern in _PATTERNS.items() if pattern.search(joined)]
        found.update(f"like:{name}" for name in names if name not in _NO_QUESTION or not sentence.question)
    found.update(_of_talk(reading))
    found.update(_joint(found))
    return frozenset(found)


def _of_signs(reading: Reading) -> Iterator[str]:
    signs = reading.text.signs
    for sign in signs:
        yield f"sign:{sign}"
    if signs & _STRONG_CODE:
        yield "code_sign:strong"
    if signs & _WEAK_CODE:
        yield "code_sign:weak"


def _of_counts(reading: Reading) -> Iterator[str]:
    counts: dict[str, int] = {}
    for sentence in reading.sentences:
        for match in sentence.said:
            for tag in match.tags - TALK_TAGS:
                counts[tag] = counts.get(tag, 0) + 1
    for tag, count in counts.items():
        if count >= 2:
            yield f"twice:{tag}"
    content = sum(len(sentence.content) for sentence in reading.sentences)
    yield f"content:{content if content < 3 else '3-5' if content < 6 else '6+'}"
    if content >= 2:
        yield "content:some"
    tokens = sum(len(sentence.tokens) for sentence in reading.sentences)
    yield f"length:{'0' if tokens == 0 else '1-3' if tokens < 4 else '4-8' if tokens < 9 else '9-20' if tokens < 21 else '21+'}"
    if not counts:
        yield "topic:none"


def _of_question(sentence: Sentence) -> Iterator[str]:
    for kind in sentence.question:
        yield f"ask:{kind}"
    yield "form:question" if sentence.is_question else "form:command" if sentence.commands else "form:statement"


def _of_commands(sentence: Sentence) -> Iterator[str]:
    for order, command in enumerate(sentence.commands):
        for kind in command.kinds:
            yield f"do:{kind}"
            if order:
                yield f"then_do:{kind}"
            for tag in command.about:
                yield f"do:{kind}+{tag}"
            if not command.about:
                yield f"do:{kind}+nothing"
        if command.kinds & _WRITING:
            yield "write:with_object" if command.has_object else "write:bare"
            if command.into_vault:
                yield "write:vault"
            elif command.into_code:
                yield "write:code_only"
            if "code_change" not in command.kinds and "read" not in command.kinds:
                yield "write:pure"
    if sentence.question and not sentence.skip:
        yield "write:none_in_question"


def _of_nouns(sentence: Sentence) -> Iterator[str]:
    """Who owns the things: "our X", "the X" with X a part of software or unknown."""
    starts = {match.start: match for match in sentence.said}
    for at, token in enumerate(sentence.tokens[:-1]):
        if token not in _DEFINITE and token not in _POSSESSIVE:
            continue
        owner = "our" if token in _POSSESSIVE else "the"
        match = starts.get(at + 1) or starts.get(at)
        if match is None or match.end <= at + 1:
            yield f"{owner}:unknown"
        else:
            for tag in match.tags - {"function_word"}:
                yield f"{owner}:{tag}"
    if IDENTIFIER in sentence.body[:2]:
        yield "begins:identifier"
    if QUOTED in sentence.tokens:
        yield "has:quoted"
    if NOTE_PATH in sentence.tokens:
        yield "has:note_path"


_PREPOSITIONS = frozenset("in on at from of with under into within inside im auf bei aus unter dans sur de du en del con nel nella su no na em uit op".split())


def _of_places(sentence: Sentence) -> Iterator[str]:
    """What stands behind a preposition: "on GitHub", "in the glossary", "from the retro"."""
    for match in sentence.matches:
        if match not in sentence.said and "product" not in match.tags:
            continue
        before = sentence.tokens[max(0, match.start - 2) : match.start]
        if before and (before[-1] in _PREPOSITIONS or (before[0] in _PREPOSITIONS and before[-1] in _DEFINITE | _POSSESSIVE)):
            for tag in match.tags - TALK_TAGS:
                yield f"in:{tag}"


def _of_talk(reading: Reading) -> Iterator[str]:
    if not reading.sentences:
        yield "talk:empty"
        return
    if all(sentence.is_talk for sentence in reading.sentences):
        yield "talk:all"
    first = reading.sentences[0]
    if first.is_talk and len(reading.sentences) > 1:
        yield "talk:first"
    if first.matches and first.matches[0].start == 0:
        for tag in first.matches[0].tags & TALK_TAGS - {"function_word"}:
            yield f"first:{tag}"
    if any(addresses_assistant(sentence) for sentence in reading.requests):
        yield "says:you"
    covered = sum(match.end - match.start for s in reading.sentences for match in s.matches if match.tags & TALK_TAGS - {"function_word"})
    tokens = sum(len(sentence.tokens) for sentence in reading.sentences)
    if covered * 2 >= tokens:
        yield "talk:half"
    if len(first.tokens) and first.skip == len(first.tokens):
        yield "talk:courtesy_only"


_JOINTS: tuple[tuple[str, ...], ...] = (
    ("tag:owner", "tag:product"),
    ("tag:owner", "tag:component"),
    ("tag:owner", "tag:code_noun"),
    ("tag:product", "the:component"),
    ("tag:product", "the:unknown"),
    ("tag:product", "our:component"),
    ("tag:product", "tag:component"),
    ("like:into_note", "tag:code_noun"),
    ("like:want_note", "tag:code_noun"),
    ("like:where_done", "tag:own"),
    ("do:web", "tag:vault_noun"),
    ("do:web", "tag:decision"),
    ("do:change", "in:product"),
    ("write:pure", "like:into_note"),
    ("then_do:read", "like:into_note"),
    ("like:which_code", "tag:owner"),
    ("tag:own", "tag:rule", "tag:standard"),
    ("ask:yesno", "in:vault_noun"),
    ("do:change", "tag:product"),
    ("do:keep", "tag:product"),
    ("do:code_change", "tag:product"),
    ("like:want_note", "form:statement"),
    ("like:want_note", "form:command"),
    ("code_sign:strong", "form:question"),
    ("sign:camel", "form:question"),
    ("like:want_new", "tag:vault_noun"),
    ("like:want_new", "form:statement"),
    ("like:into_note", "form:command"),
    ("like:into_note", "form:question"),
    ("like:into_note", "form:statement"),
    ("like:new_note", "form:question"),
    ("do:read", "tag:vault_noun"),
    ("do:read", "tag:meeting"),
    ("do:read", "tag:docref"),
    ("do:change", "like:restyle"),
    ("do:keep", "form:command"),
    ("tag:vault_noun", "content:1"),
    ("tag:code_noun", "content:1"),
    ("tag:world", "form:question"),
    ("ask:how", "tag:rule"),
    ("ask:how", "tag:component"),
    ("ask:why", "tag:rule"),
    ("ask:yesno", "tag:product"),
    ("ask:yesno", "tag:component"),
    ("ask:yesno", "tag:vault_noun"),
    ("like:is_there", "tag:vault_noun"),
    ("like:is_there", "tag:practice"),
    ("tag:own", "tag:product"),
    ("tag:own", "tag:version"),
    ("tag:own", "tag:standard"),
    ("tag:own", "tag:practice"),
    ("tag:own", "tag:decision"),
    ("tag:own", "tag:rule"),
    ("tag:own", "ask:why"),
    ("tag:own", "ask:how"),
    ("tag:own", "ask:where"),
    ("tag:own", "tag:code_noun"),
    ("tag:own", "tag:component"),
    ("ask:why", "tag:symptom"),
    ("ask:why", "tag:decision"),
    ("ask:why", "code_sign:strong"),
    ("ask:who", "tag:code_noun"),
    ("ask:who", "tag:vault_noun"),
    ("ask:who", "tag:decision"),
    ("ask:where", "tag:vault_noun"),
    ("ask:where", "tag:docref"),
    ("tag:product", "tag:symptom"),
    ("tag:product", "tag:code_noun"),
    ("tag:product", "tag:vault_noun"),
    ("tag:vault_noun", "tag:code_noun"),
    ("tag:vault_noun", "code_sign:strong"),
    ("tag:decision", "code_sign:strong"),
    ("tag:plan", "tag:vault_noun"),
    ("like:how_works", "the:unknown"),
    ("like:how_works", "tag:component"),
    ("like:did_we", "tag:decision"),
    ("form:question", "tag:vault_noun"),
    ("form:statement", "tag:vault_noun"),
    ("form:statement", "tag:symptom"),
    ("form:statement", "topic:none"),
    ("form:question", "topic:none"),
    ("like:follow_up", "topic:none"),
    ("says:you", "topic:none"),
    ("tag:previous", "topic:none"),
    ("form:statement", "content:1"),
    ("form:question", "content:1"),
)
_ABSENCES: tuple[tuple[str, str], ...] = (
    ("like:how_passive", "tag:product"),
    ("like:how_passive", "tag:standard"),
    ("tag:product", "tag:own"),
    ("tag:standard", "tag:own"),
    ("tag:practice", "tag:own"),
    ("tag:version", "tag:own"),
    ("tag:component", "tag:product"),
    ("the:component", "tag:product"),
    ("the:unknown", "tag:product"),
    ("the:code_noun", "tag:product"),
    ("like:how_to", "tag:own"),
    ("tag:code_noun", "tag:product"),
    ("tag:decision", "tag:code_noun"),
    ("like:thanks_for", "form:question"),
    ("ask:how", "tag:own"),
    ("form:question", "tag:own"),
)


def _joint(found: set[str]) -> set[str]:
    joint = {"+".join(names) for names in _JOINTS if found.issuperset(names)}
    joint.update(f"{one}-{other}" for one, other in _ABSENCES if one in found and other not in found)
    return joint
