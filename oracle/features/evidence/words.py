"""The English of the matcher, which `english.json` has: verbs, words, and patterns by name."""

import re
from functools import cache
from pathlib import Path
from typing import Any, Final

from oracle.core.encoding import from_json

ENGLISH: Final[dict[str, Any]] = from_json(Path(__file__).with_name("english.json").read_bytes())
DEEDS: Final[dict[str, str]] = {verb: deed for deed, verbs in ENGLISH["deeds"].items() for verb in verbs.split()}
"""What kind of deed a past tense or a participle is."""
VERBS: Final = "(?:re-?)?(?:" + "|".join(sorted(map(re.escape, DEEDS), key=len, reverse=True)) + ")"


@cache
def words(name: str) -> frozenset[str]:
    """A list of words."""
    return frozenset(ENGLISH[name].split())


@cache
def pattern(name: str) -> re.Pattern[str]:
    """A pattern; upper and lower case are the same."""
    return re.compile("|".join(ENGLISH["patterns"][name]).replace("SAYS", ENGLISH["says"]), re.IGNORECASE)


def says(name: str, text: str) -> bool:
    """Whether a text has what a pattern looks for."""
    return pattern(name).search(text) is not None


def deed_of(verb: str) -> str:
    """What kind of deed a verb is; one with `re-` in front is as the verb without."""
    return DEEDS.get(verb) or DEEDS[verb.removeprefix("re").removeprefix("-")]
