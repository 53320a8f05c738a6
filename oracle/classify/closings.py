"""How a response ends: with a question to the user, or with what the model is about to do.

Whether a response ends with a question to the user: then it is complete, whatever its signal.

Rules, all about the last line of the text:

- It ends with a question mark of any script; further question or exclamation marks may follow.
- After the mark there may be closing quotes, brackets, Markdown emphasis, and symbols such as emoji.
- A line in a code block, in inline code or in a block quotation, or a heading, is not a question to the user.

Whether a response ends with what the model is about to do, such as "Let me look into that.".

Without a signal and without a tool call such a response looks like an answer, but is not one. Rules, all about the last
sentence of the text, which rather miss an announcement than take an answer for one:

- It begins in the first person ("next I'll", "let me", "ich werde", "je vais", "voy a") and goes on with a verb of
  looking (search, read, check); or it is short and begins with such a verb ("Checking the tests."), or asks for a
  moment.
- A condition ("if you send it"), a later time ("tomorrow") or a negation makes it a plain sentence, and so does code, a
  heading or a quotation around it.
"""

import re
import unicodedata

_QUESTION_MARKS = "?\uff1f\u061f\u037e\u2047\u2048\u2049"
_EXCLAMATION_MARKS = "!\uff01\u203c"
_CLOSERS = frozenset("\"'\u2019\u201d\u00bb\u203a\u201c\u2018\u300d\u300f)]}\uff09\u3011\u300b*_~")
_FENCE = re.compile(r"^ {0,3}(?P<mark>`{3,}+|~{3,}+)(?P<info>.*)$")
_NO_PROSE = re.compile(r"^ {0,3}(?:#{1,6}(?:\s|$)|>)")
_SYMBOLS = frozenset({"So", "Sk", "Cf", "Mn", "Me"})
"""Unicode categories of emoji, their modifiers and joiners."""


def asks_user(text: str) -> bool:
    """Whether the visible text of a response ends with a question to the user."""
    line = closing_line(text)
    end = len(line)
    while end and (line[end - 1] in _CLOSERS or line[end - 1].isspace() or _is_symbol(line[end - 1])):
        end -= 1
    while end and line[end - 1] in _EXCLAMATION_MARKS:
        end -= 1
    if not end or line[end - 1] not in _QUESTION_MARKS:
        return False
    return line[:end].count("`") % 2 == 0


def closing_line(text: str) -> str:
    """The last line of a text, without white space at its end; empty where that is code, a heading or a quotation."""
    lines = text.rstrip().splitlines()
    if not lines or _ends_in_code(lines) or _NO_PROSE.match(lines[-1]):
        return ""
    return lines[-1].rstrip()


def _is_symbol(character: str) -> bool:
    return character != "`" and unicodedata.category(character) in _SYMBOLS


def _ends_in_code(lines: list[str]) -> bool:
    """Whether the last line belongs to a fenced block, closed or not."""
    fence = ""
    is_code = False
    for line in lines:
        found = _FENCE.match(line)
        is_code = bool(fence or found)
        if found is None:
            continue
        if not fence:
            fence = found["mark"] if found["mark"][0] == "~" or "`" not in found["info"] else ""
            is_code = bool(fence)
        elif found["mark"].startswith(fence) and not found["info"].strip():
            fence = ""
    return is_code


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
