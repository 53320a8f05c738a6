"""Measures whether questions are offered the tools that their answers need, beside the tools of the type alone.

The labelled questions are in `tests/data/labelled`. The offer is trained on `questions` and on nothing of the other
sets. Misses are not listed, so that nothing is tuned to them.
"""

import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.train_classifiers import LABELLED, rows_of
from oracle.classify import classify_query
from oracle.tools import ToolRegistry, project_tools, tools_for, vault_tools, web_tools

SETS = ("questions", "questions_heldout", "heldout_queries", "exam_queries", "exam_offers", "exam2_offers")


@dataclass(frozen=True)
class Question:
    """A labelled question.

    Args:
        text: as a user put it.
        must: the groups that the answer needs, each.
        any_of: the groups of which the answer needs one; all are better.
        must_not: groups that are no use, or do harm.
        language: as in `lang="de"`.
    """

    text: str
    must: frozenset[str]
    any_of: frozenset[str]
    must_not: frozenset[str]
    language: str

    def is_served(self, offered: frozenset[str]) -> bool:
        """Whether these groups are enough for an answer."""
        return self.must <= offered and (not self.any_of or not self.any_of.isdisjoint(offered))

    def is_fully_served(self, offered: frozenset[str]) -> bool:
        """Whether all groups are offered that may be of use."""
        return self.must | self.any_of <= offered

    def needless(self, offered: frozenset[str]) -> int:
        """How many groups are offered that are of no use."""
        return len(offered - self.must - self.any_of)


@dataclass(frozen=True)
class Score:
    """How a set of questions is served; shares are between 0 and 1, counts per question."""

    questions: int
    served: float
    fully: float
    needless: float
    forbidden: float


Offer = Callable[[str], frozenset[str]]


def load_questions(name: str) -> list[Question]:
    fields = ("must", "any", "must_not")
    return [
        Question(row.get("query") or row["q"], *(frozenset(row[field]) for field in fields), row["lang"])
        for row in rows_of(LABELLED / f"{name}.jsonl")
    ]


def score(questions: Sequence[Question], offer: Offer) -> Score:
    offered = [(question, offer(question.text)) for question in questions]
    count = len(questions)
    return Score(
        count,
        sum(question.is_served(groups) for question, groups in offered) / count,
        sum(question.is_fully_served(groups) for question, groups in offered) / count,
        sum(question.needless(groups) for question, groups in offered) / count,
        sum(len(groups & question.must_not) for question, groups in offered) / count,
    )


def shipped_tools(folder: Path) -> ToolRegistry:
    now = datetime(2026, 11, 21, tzinfo=UTC)
    return ToolRegistry(
        [*project_tools(folder), *vault_tools(folder, now=lambda: now), *web_tools(has_web_search=True)]
    )


def by_evidence(registry: ToolRegistry) -> Offer:
    """The product's offer: by what the question may need."""

    def offer(text: str) -> frozenset[str]:
        found = classify_query(text)
        return _groups(tools_for(found.types, registry, sources=found.sources, question=text), registry)

    return offer


def by_evidence_after(registry: ToolRegistry, befores: Mapping[str, str]) -> Offer:
    """The product's offer to a follow-up; by its text, the question before it."""

    def offer(text: str) -> frozenset[str]:
        found = classify_query(text, previous=classify_query(befores[text]))
        return _groups(tools_for(found.types, registry, sources=found.sources, question=text), registry)

    return offer


def by_type(registry: ToolRegistry) -> Offer:
    """The baseline: the tools of the question's type, below a confidence of 0.6 of two."""
    return lambda text: _groups(tools_for(classify_query(text).types, registry), registry)


def _groups(names: Iterable[str], registry: ToolRegistry) -> frozenset[str]:
    tools = [tool for name in names if (tool := registry.get(name))]
    return frozenset("write" if tool.writes else tool.group for tool in tools)


def _line(name: str, found: Score) -> str:
    shares = f"{100 * found.served:5.1f} %  {100 * found.fully:10.1f} %"
    return f"{name:32} {found.questions:9}  {shares}  {found.needless:8.2f}  {found.forbidden:8.2f}"


def main() -> None:
    print(f"{'':32} questions   served  all groups  needless  must not")
    with tempfile.TemporaryDirectory() as folder:
        registry = shipped_tools(Path(folder))
        everything = frozenset({"code", "vault", "thread", "web", "write"})
        for name in SETS:
            questions = load_questions(name)
            print(_line(f"{name}: all tools", score(questions, lambda _: everything)))
            print(_line(f"{name}: by type alone", score(questions, by_type(registry))))
            print(_line(f"{name}: as offered", score(questions, by_evidence(registry))))
            for language in sorted({question.language for question in questions}):
                own = [question for question in questions if question.language == language]
                print(_line(f"    {language}", score(own, by_evidence(registry))))
        befores = {row["query"]: row["before"] for row in rows_of(LABELLED / "follow_ups.jsonl")}
        follow_ups = load_questions("follow_ups")
        print(_line("follow_ups: by themselves", score(follow_ups, by_evidence(registry))))
        print(_line("follow_ups: as offered", score(follow_ups, by_evidence_after(registry, befores))))


if __name__ == "__main__":
    main()
