"""Whether a response ends with what the model is about to do, such as "Let me look into that.".

Without a signal and without a tool call such a response looks like an answer, and is none. Rules, all about the last
sentence of the text, which rather miss an announcement than take an answer for one:

- It begins in the first person ("next I'll", "let me", "ich werde", "je vais", "voy a") and goes on with a verb of
  looking (search, read, check); or it is short and begins with such a verb ("Checking the tests."), or asks for a
  moment.
- A condition ("if you send it"), a later time ("tomorrow") or a negation makes it a plain sentence, and so does code, a
  heading or a quotation around it.
"""

import re

from oracle.classify.asking import closing_line

_SENTENCE_END = re.compile(r"(?<=[.!:\u2026\u3002\uff01])\s+")
_LEAD = (
    r"(?:(?:ok|okay|sure|yes|so|well|now|next|first|then|great|thanks|one more step"
    r"|to answer (?:this|that|your question)|before (?:i \w+|answering|replying|drawing)(?: \w+){0,4}"
    r"|als nächstes|jetzt|ensuite|maintenant|ahora|agora)[,.!:;]* ){0,4}"
)
_LOOK = (
    r"(?:look|check|search|find|see(?! you\b)|read|open|explore|examine|inspect|investigate|scan|review|dig|gather"
    r"|fetch|consult|query|grep|trace|verify|compare|browse|narrow|get a|go (?:through|on)|(?:take|have) a (?:\w+ )?"
    r"look|start|begin|continue|proceed|keep (?:looking|searching|reading|digging))\b"
)
_LOOKING = (
    r"(?:looking|checking|searching|reading|opening|exploring|examining|inspecting|investigating|scanning|reviewing"
    r"|digging|gathering|fetching|verifying|comparing|tracing)\b"
)
_INTENDING = (
    r"(?:let me|let's|let us|i'll|i will|i shall|(?:i'm|i am) (?:going|about) to|i (?:still )?(?:need|have|want) to"
    r"|i should|we'll|we will) (?:\w+ly |now |first |also |then |just )*"
)
_BEGUN = r"(?:i'm|i am) (?:now )?"
_GERMAN = (
    r"(?:ich (?:suche|schaue|sehe|lese|prüfe)|(?:suche|schaue|sehe|lese|prüfe) ich"
    r"|(?:ich werde|lass(?:en sie)? mich) (?:[\w'-]+ ){0,5}?(?:suchen|durchsuchen|schauen|nachsehen|lesen|prüfen))\b"
)
_ROMANCE = (
    r"(?:je vais|laissez-moi|laisse-moi|voy a|déjame|permíteme|vou|deixe-me) (?:[\w'-]+ ){0,2}?"
    r"(?:chercher|regarder|lire|vérifier|examiner|consulter|buscar|mirar|leer|revisar|comprobar|consultar|procurar"
    r"|verificar|ler)\b"
)
_ANNOUNCEMENT = re.compile(rf"{_LEAD}(?:{_INTENDING}{_LOOK}|{_BEGUN}{_LOOKING}|{_GERMAN}|{_ROMANCE})")
_MOMENT = (
    r"(?:(?:just |please )?(?:give me |wait )?(?:one|a) (?:moment|second|minute)|(?:please )?(?:hold on|wait|stand by)"
    r"|einen moment|un moment|un momento|um momento)\b"
)
_SHORT_ANNOUNCEMENT = re.compile(rf"{_LEAD}(?:{_LOOKING}|{_MOMENT})")
_MOST_SHORT_WORDS = 10
_NOT_NOW = re.compile(
    r"\b(?:(?<!see )(?<!check )(?<!verify )if|when|whenever|once|until|unless|tomorrow|later|next (?:time|week)|not"
    r"|never|cannot|can't|won't|you can|you could|for you to|wenn|falls|sobald|morgen|später|nicht|si|quand|demain"
    r"|plus tard|cuando|mañana|amanhã|depois)\b"
)


def announces(text: str) -> bool:
    """Whether the visible text of a response ends with what the model is about to look for."""
    line = closing_line(text)
    if not line:
        return False
    sentence = " ".join(_SENTENCE_END.split(line)[-1].casefold().replace("\u2019", "'").strip("*_ ").split())
    if _NOT_NOW.search(sentence) or sentence.endswith("?"):
        return False
    if _ANNOUNCEMENT.match(sentence):
        return True
    return len(sentence.split()) <= _MOST_SHORT_WORDS and _SHORT_ANNOUNCEMENT.match(sentence) is not None
