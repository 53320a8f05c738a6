"""The questions of `make eval` about this repository, and the facts of right answers. Its docs are the vault."""

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Question:
    """A question with the expected properties of its answer.

    Args:
        name: for the table.
        text: what is asked.
        facts: patterns that a right answer contains.
        sources: groups of tools that it requires; calls of others are unnecessary.
        signals: signal types that are right for the last response.
        empty: asked with an empty project and vault, so that nothing can be found.
        compared: asked under every control; the others test one signal type under the shipped tree.
    """

    name: str
    text: str
    facts: tuple[str, ...] = ()
    sources: frozenset[str] = frozenset()
    signals: frozenset[str] = frozenset({"context_sufficient"})
    empty: bool = False
    compared: bool = True

    def facts_in(self, answer: str) -> int:
        return sum(re.search(fact, answer, re.IGNORECASE) is not None for fact in self.facts)


CODE, NOTES = frozenset({"code"}), frozenset({"vault", "thread"})

QUESTIONS = (
    Question(
        "no progress",
        "Where in the code is it decided that a query makes no progress, and what counts as no progress?",
        (r"decision/(progress|rules)\.py", r"\bthree\b|\b3\b", r"same (results?|error)|identical"),
        CODE,
    ),
    Question(
        "run loop",
        "How does the run loop of bt_runtime get by without polling? Which code wakes it?",
        (r"run_loop\.py", r"deadline|timer", r"wake|woken|event"),
        CODE,
    ),
    Question(
        "mistakes",
        "How does the code report mistakes in a tree file?",
        (r"mistakes\.py", r"\bline\b", r"\bcolumn\b|caret", r"hint|suggest"),
        CODE,
    ),
    Question(
        "too many calls",
        "What does the code do with tool calls beyond max_tool_calls_per_turn?",
        (r"tool_calls\.py", r"not run|refus|error", r"next turn"),
        CODE,
    ),
    Question(
        "wrap-up",
        "What do our notes say about the last turn that the limits allow?",
        (r"not run|without tools|no tools|tool_choice", r"\bnote\b|hint|told|asked"),
        NOTES,
    ),
    Question(
        "plain loop",
        "What did we decide about keeping the plain loop, according to the design notes?",
        (r"loop", r"compar", r"decision ?tree"),
        NOTES,
    ),
    Question("thanks", "Thanks, that helps!"),
    Question(
        "weather",
        "What's the weather in Paris?",
        (r"Paris",),
        frozenset({"web"}),
        frozenset({"context_sufficient", "partial_answer"}),
    ),
    Question(
        "US2-1 need_turn",
        "Describe in two instalments what happens in one query, from this project's code: in your next reply the part "
        "up to the model's answer and nothing more, then, in a reply of its own without asking me, the rest.",
        sources=CODE,
        signals=frozenset({"need_turn"}),
        compared=False,
    ),
    Question(
        "US2-3 stuck",
        "How does the auth middleware in our code work?",
        sources=CODE | NOTES,
        signals=frozenset({"stuck", "partial_answer", "need_capability"}),
        empty=True,
        compared=False,
    ),
    Question(
        "asks back",
        "Replace our note about it with the new text.",
        signals=frozenset({"partial_answer"}),
        sources=NOTES,
        compared=False,
    ),
)
