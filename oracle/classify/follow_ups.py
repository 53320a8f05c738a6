"""Words that mark a message as a follow-up to the previous one, in any domain."""

from collections.abc import Sequence

from oracle.classify.tokens import word_set

FOLLOW_UP_WORDS = 12
"""A message of more words has a subject of its own."""
INHERITED_CONFIDENCE = 0.7
"""Confidence of a follow-up, which mostly has the subject of the previous query."""
BACK = word_set("it its it's that that's this these those they them their one ones there same davon dazu dafur dafür")
"""Words that refer to an earlier subject."""
MORE = word_set("and also but or so same und auch aber et aussi mais y tambien pero e anche ma mas en ook maar")
"""Words that begin a follow-up to the previous message."""
GO_AHEAD = word_set(
    """
    yes yeah yep yup sure please go ahead do it continue proceed more next other second first third last one both
    all another option ja bitte gern gerne weiter oui vas-y allez-y si adelante sigue hazlo sim pode procedi avanti
    vai doe maar ga door graag
    """
)
REFUSAL = word_set("no not stop cancel nein non nee")


def begins_with_more(tokens: Sequence[str]) -> bool:
    """Whether a message begins like a follow-up to the previous one."""
    return tokens[0] in MORE or tuple(tokens[:2]) in (("what", "about"), ("how", "about"))
