"""Which sources a query may need: a source is withheld only on strong evidence.

Rules, in their order:

1. What is plainly chat, or consists of words of chat alone, needs no source.
2. A source is needed where its own chance counts, or where a type that searches it has a share that counts: a needless
   source costs some cached tokens, a missing one costs the answer.
3. The code is needed where the question says "the code", even if it is about something else.
4. Where no type is sure, there is no evidence against code and notes.
"""

import re
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from typing import get_args

from oracle.classify.reading import MessageReading
from oracle.classify.types import NEEDS, QueryType, Source
from oracle.classify.weights import SOURCE_WEIGHTS, chances, load_weights

SOURCES: tuple[Source, ...] = get_args(Source)
"""The labels of the weights, in their order."""
PLAINLY_CHAT = 0.9
"""With this share of `conversational` nothing is looked up."""
POSSIBLE_TYPE = 0.12
"""With this share of a type the sources that it searches first may be needed."""
UNSURE = 0.7
"""With less of every type the search in code and notes is kept."""
PLAIN_TYPE = 0.95
"""With this share of a type a source takes a likely chance, except the web, which nothing else can stand in for."""
POSSIBLE = 0.06
"""With this chance a source may be needed."""
LIKELY = 0.2
THREAD_LIKELY = 0.35
THREAD_TYPE = 0.5
"""Threads repeat what notes say, so they take this chance, or this share of `documentation` or `action`."""
_THE_CODE = re.compile(
    r"\b(?:the|our|your|its|in|im|unser(?:em|en)?|le|notre|el|nuestro|il|nostro|o|no|nosso|de) (?:source )?"
    r"(?:code|codigo|codice)\b(?! (?:review|reviews|of|freeze|name|word)\b)"
    r"|\b(?:codebase|code base|source code|quellcode)\b"
)


def needed_sources(
    reading: MessageReading, found: AbstractSet[str], shares: Mapping[QueryType, float]
) -> frozenset[Source]:
    """The sources that a query may need.

    Args:
        reading: the query, read.
        found: its features.
        shares: the share of each type; they add up to 1.
    """
    if shares["conversational"] >= PLAINLY_CHAT or all(sentence.is_talk for sentence in reading.sentences):
        return frozenset()
    possible = chances(load_weights(SOURCE_WEIGHTS), found, SOURCES)
    is_plain = max(shares.values()) >= PLAIN_TYPE
    needed = {
        source
        for source, chance in possible.items()
        if chance >= (LIKELY if is_plain and source != "web" else POSSIBLE)
    }
    needed.update(*(NEEDS[query_type] for query_type, share in shares.items() if share >= POSSIBLE_TYPE))
    if possible["thread"] < THREAD_LIKELY and max(shares["documentation"], shares["action"]) < THREAD_TYPE:
        needed.discard("thread")
    if max(shares.values()) < UNSURE:
        needed.update(("code", "vault"))
    return frozenset(needed | _named(reading))


def _named(reading: MessageReading) -> set[Source]:
    """The code, if the question says so; what a dictated text says does not count."""
    asked = (sentence for sentence in reading.requests if sentence.topic_start)
    return {"code"} if any(_THE_CODE.search(" ".join(sentence.tokens)) for sentence in asked) else set()
