"""The shipped domain: a project's source code, its vault of notes and threads, and the world outside it.

`lexicon` has the words, `reading` and `features` find them in a question, the weights rate them, `needs` says which
sources a question needs. The prompt's segments are `prompts/oracle`, the tools those of `oracle.tools`.
"""

from importlib import import_module
from typing import cast

from oracle.classify.protocol import Classifier
from oracle.core.sources import QueryTypes
from oracle.domains.domain import Domain, Suggestion

TYPES = QueryTypes(
    needs={
        "code": ("code",),
        "documentation": ("vault", "thread"),
        "research": ("web",),
        "conversational": (),
        "action": ("vault", "thread", "write"),
    },
    instead={"code": ("vault", "thread"), "vault": ("code",), "thread": ("vault", "code")},
)
DOMAIN = Domain(
    name="code",
    types=TYPES,
    classifier=lambda: cast("Classifier", import_module("oracle.classify")),
    suggestions=(
        Suggestion("Where does this program begin?", "code", "code"),
        Suggestion("What did we decide lately, and why?", "notes", "vault"),
        Suggestion("What was discussed last?", "threads", "thread"),
        Suggestion("Which dependencies have new versions?", "web", "web"),
        Suggestion("How are errors handled and reported?", "code", "code"),
        Suggestion("Which questions are still open?", "notes", "vault"),
        Suggestion("Which settings can a user change?", "code", "code"),
        Suggestion("Which parts have no tests?", "code", "code"),
    ),
)
