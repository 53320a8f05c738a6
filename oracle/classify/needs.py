"""Which sources a query may need: a source is withheld only on strong evidence (decision 23).

Rules, in their order:

1. Nothing but chat needs no source.
2. A wish to write needs the notes and the threads, and what has to be looked up for it.
3. A question that is plainly about the outside world needs the web alone.
4. Any other question may need the source code and the notes; of the two, one is left out where the other is named and
   the shares agree. The web is left out unless its share counts, or a public product is compared with ours.
5. Threads are needed where people, events or agreements are asked for.
6. The code is needed where the question says "the code", even if it is about something else.
7. If no type is sure, the code, the notes or the web that the two likeliest types need are needed besides.
"""

import re
from collections.abc import Mapping
from collections.abc import Set as AbstractSet

from oracle.classify.reading import TALK_TAGS, Reading
from oracle.classify.types import CONFIDENT, NEEDS, QueryType, Source

WEB_POSSIBLE = 0.25
"""With this share of `research` the web may be needed: nothing else tells of an unknown thing outside."""
WRITE_POSSIBLE = 0.25
"""With this share of `action` something may have to be written; less, and questions about writes are offered it."""
LIKELY = 0.5
PLAIN = 0.8
"""With this share and a word that names the subject, the other sources are not needed."""
_CHAT = TALK_TAGS - {"function_word"}
_OUTSIDE = frozenset({"tag:product", "tag:standard", "tag:world", "tag:version", "tag:recency"})
_FEW_WORDS = frozenset({"content:0", "content:1", "content:2"})
_INSIDE = frozenset({"tag:own", "like:did_we", "like:compare_us"})
_NOTES = frozenset({"tag:decision", "tag:meeting", "tag:vault_noun", "tag:docref", "tag:rule", "tag:owner", "tag:plan"})
_TALKED = frozenset({"tag:decision", "tag:meeting", "tag:docref", "tag:owner"})
_CODE = frozenset({"code_sign:strong", "code_sign:weak", "tag:code_noun", "tag:component"})
_THE_CODE = re.compile(
    r"\b(?:the|our|your|its|in|im|unser(?:em|en)?|le|notre|el|nuestro|il|nostro|o|no|nosso|de) (?:source )?"
    r"(?:code|codigo|codice)\b(?! (?:review|reviews|of|freeze|name|word)\b)"
    r"|\b(?:codebase|code base|source code|quellcode)\b"
)
_NEWS = frozenset({"tag:recency", "tag:version", "tag:standard", "tag:practice"})


def needed_sources(reading: Reading, found: AbstractSet[str], shares: Mapping[QueryType, float]) -> frozenset[Source]:
    """The sources that a query may need.

    Args:
        reading: the query, read.
        found: its features.
        shares: the share of each type; they add up to 1.
    """
    if _is_chat(reading, found, shares):
        return frozenset()
    named = _named(reading)
    if shares["action"] >= LIKELY:
        return _looked_up(reading, found).union(NEEDS["action"], named)
    if shares["research"] >= PLAIN and _names_outside(found):
        return frozenset({"web"})
    needed: set[Source] = {"code", "vault"}
    if shares["documentation"] >= PLAIN and found & _NOTES:
        needed.discard("code")
    if shares["code"] >= PLAIN and found & _CODE and not found & _NOTES:
        needed.discard("vault")
    if shares["research"] >= WEB_POSSIBLE or (found & _NEWS and "tag:product" in found):
        needed.add("web")
    if "vault" in needed and (shares["documentation"] >= LIKELY or found & _TALKED):
        needed.add("thread")
    if shares["action"] >= WRITE_POSSIBLE:
        needed.update(NEEDS["action"])
    return frozenset(needed | named | _in_doubt(shares))


def _named(reading: Reading) -> set[Source]:
    """The code, if the question says so; what a dictated text says does not count."""
    asked = (sentence for sentence in reading.requests if sentence.topic_start)
    return {"code"} if any(_THE_CODE.search(" ".join(sentence.tokens)) for sentence in asked) else set()


def _in_doubt(shares: Mapping[QueryType, float]) -> set[Source]:
    """The sources that the two likeliest types search first, if neither is sure."""
    first, second = sorted(shares, key=lambda query_type: -shares[query_type])[:2]
    searched = {source for query_type in (first, second) for source in NEEDS[query_type]} - {"thread", "write"}
    return searched if shares[first] < CONFIDENT else set()


def _is_chat(reading: Reading, found: AbstractSet[str], shares: Mapping[QueryType, float]) -> bool:
    """Whether a message is plainly chat: nothing else is in it, or it is likely and a word of chat says so."""
    if all(sentence.is_talk for sentence in reading.sentences):
        return True
    return shares["conversational"] >= LIKELY and any(f"tag:{tag}" in found for tag in _CHAT)


def _names_outside(found: AbstractSet[str]) -> bool:
    """Whether the outside world is named and nothing of ours; a product alone in a few words may be a slip."""
    named = found & _OUTSIDE
    return bool(named) and not found & _INSIDE and not (named == {"tag:product"} and found & _FEW_WORDS)


def _looked_up(reading: Reading, found: AbstractSet[str]) -> frozenset[Source]:
    """What has to be looked up before it is written."""
    needed: set[Source] = set()
    asks = any(sentence.is_question for sentence in reading.requests)
    if (asks or found & {"do:read", "do:explain"}) and found & _CODE:
        needed.add("code")
    if "do:web" in found or ("tag:recency" in found and found & _OUTSIDE - {"tag:recency"}):
        needed.add("web")
    return frozenset(needed)
