"""The English of the matcher, which `english.json` has: verbs, words, and patterns by name."""

import re
from functools import cache
from pathlib import Path
from typing import Any, Final

from oracle.core.encoding import from_json

ENGLISH: Final[dict[str, Any]] = from_json(Path(__file__).with_name("english.json").read_bytes())
_DEEDS: Final[dict[str, str]] = {verb: deed for deed, verbs in ENGLISH["deeds"].items() for verb in verbs.split()}
_PATTERNS: Final = {
    name: re.compile("|".join(parts).replace("SAYS", ENGLISH["says"]), re.IGNORECASE)
    for name, parts in ENGLISH["patterns"].items()
}


@cache
def words(name: str) -> frozenset[str]:
    """A list of words."""
    return frozenset(ENGLISH[name].split())


def says(name: str, text: str) -> bool:
    """Whether a text has what a pattern looks for; upper and lower case are the same."""
    return _PATTERNS[name].search(text) is not None


def deed_of(verb: str) -> str:
    """What kind of deed a past tense or a participle is: `other` if it is not in the list, empty if it is no verb."""
    found = _DEEDS.get(verb) or _DEEDS.get(verb.removeprefix("re").removeprefix("-"))
    return found or ("other" if verb.endswith("ed") and len(verb) > 5 and verb not in words("states_of_mind") else "")
