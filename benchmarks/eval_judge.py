"""The model itself as a blind judge of two answers; it sees both orders (020 SC-005)."""

import re

from oracle.models import Model
from oracle.models.protocol import ModelRequest, TextDelta

TOKENS_PER_VERDICT = 8_000
VERDICTS = {"tree": "tree", "loop": "loop", "same": "same", "unclear": "?"}
"""Names for the table to the verdicts of `judge`."""
_LONGEST_ANSWER = 8_000

JUDGE = """\
Two answers to the same question about a software project follow. Which one helps the person who asked more: right, to \
the point, with places to look at? Ignore length and style. Answer with one line: VERDICT: FIRST, VERDICT: SECOND or \
VERDICT: SAME.

Question: {question}

<first>
{first}
</first>

<second>
{second}
</second>"""


async def judge(model: Model, question: str, *, tree: str, loop: str) -> tuple[str, str]:
    """The better answer, in both orders; `?` if the judge gave no verdict.

    Args:
        model: judges.
        question: what was asked.
        tree: the answer under the tree.
        loop: the answer under the loop.
    """
    answers = {"tree": tree[:_LONGEST_ANSWER], "loop": loop[:_LONGEST_ANSWER]}
    verdicts = []
    for first, second in (("tree", "loop"), ("loop", "tree")):
        text = JUDGE.format(question=question, first=answers[first], second=answers[second])
        found = re.findall(r"VERDICT:\s*(FIRST|SECOND|SAME)", await _answer(model, text), re.IGNORECASE)
        winner = {"FIRST": first, "SECOND": second, "SAME": "same"}
        verdicts.append(winner[found[-1].upper()] if found else "?")
    return verdicts[0], verdicts[1]


async def _answer(model: Model, text: str) -> str:
    request = ModelRequest(system="", messages=({"role": "user", "content": text},), max_tokens=500)
    return "".join([event.text async for event in model.stream(request) if isinstance(event, TextDelta)])
