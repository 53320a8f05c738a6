"""What a question asks of its sources: which of them it names, and whether a first answer can be enough."""

import re
from typing import Final

_NOTES: Final = frozenset({"vault", "thread"})
_NAMED: Final = (
    (
        frozenset({"code"}),
        re.compile(r"\b(?:source )?(?:code|quellcode|codebase|c[oó]digo|codice|kodzie|implement\w*)\b", re.IGNORECASE),
    ),
    (
        _NOTES,
        re.compile(
            r"\b(?:deci(?:de|ded|sion|sions)|agreed|notes?|vault|threads?|polic(?:y|ies)|adrs?|runbook|minutes"
            r"|entschied\w*|entscheidung\w*|festgelegt|vereinbart|beschl[ou]ss\w*|notiz\w*|d[ée]cid\w*|d[ée]cision\w*|decis\w*|nota)\b",
            re.IGNORECASE,
        ),
    ),
)
"""The groups that words of a question name."""
_ALL: Final = re.compile(
    r"\b(?:all|any|every\w*|each|both|list|table|count|how many|compare|overview|review|summar\w+|go through|write up"
    r"|instal?lments|parts|complete(?:ly)?|exhaustive\w*"
    r"|alle[nrs]?|jede[mnrs]?|s[äa]mtliche\w*|liste|tabelle|[üu]berall|wie viele|vergleich\w*|[üu]bersicht|teilen"
    r"|tou(?:s|tes)|toute|chaque|tableau|combien|compare[rz]?|r[ée]sume\w*"
    r"|tod[oa]s?|cada|lista|tabla|cu[áa]nt[oa]s|compara\w*|resum\w*|tutt[ie]|ogni|wszystk\w+|ka[żz]d\w+)\b",
    re.IGNORECASE,
)
_PARTS: Final = re.compile(r"[,;?:]|\b(?:and|und|et|y|e|i|oraz)\b", re.IGNORECASE)
_MANY_PARTS: Final = 4
_LONGEST: Final = 2_000


def groups_named(question: str) -> tuple[frozenset[str], ...]:
    """Sets of tool groups: a question that names code and decisions is answered when one group of each has answered."""
    return tuple(groups for groups, words in _NAMED if words.search(question[:_LONGEST]))


def asks_for_all(question: str) -> bool:
    """Whether it asks for each of many things, so that no first answer is enough."""
    text = question[:_LONGEST]
    return len(question) > _LONGEST or _ALL.search(text) is not None or len(_PARTS.findall(text)) >= _MANY_PARTS
