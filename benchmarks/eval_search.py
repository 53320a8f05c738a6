"""Measures how often a search over this repository finds a right file first, or among the first three.

Run `.venv/bin/python benchmarks/eval_search.py`; `--misses` also lists the development questions that were missed.
The search gets the question as it stands, as the embedded model passes it on. The labelled questions are in
`tests/data/search`: `questions.jsonl` is mostly about the implementation, `usage.jsonl` about using this repository and
a small project of another kind. The misses of the held-out questions are not listed, so that nothing is tuned to them.
"""

import argparse
import json
import tempfile
import time
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from oracle.tools.code import CodeTools
from oracle.tools.code_files import list_project
from oracle.tools.paths import Root

REPOSITORY = Path(__file__).resolve().parent.parent
DATA = REPOSITORY / "tests" / "data" / "search"
OTHER_PROJECT = DATA / "parcel"
SETS = ("dev", "heldout")


@dataclass(frozen=True)
class Outcome:
    """The result of one question: the distinct files found, best first, and the patterns of acceptable ones."""

    question: str
    files: tuple[str, ...]
    acceptable: tuple[str, ...]
    elapsed_ms: float

    def is_hit(self, first):
        return any(fnmatchcase(file, pattern) for file in self.files[:first] for pattern in self.acceptable)


def load_questions(name, *, file="questions", project="repository"):
    lines = (DATA / f"{file}.jsonl").read_text(encoding="utf-8").splitlines()
    rows = map(json.loads, lines)
    return [row for row in rows if row["set"] == name and row.get("project", "repository") == project]


def copy_without_questions(folder):
    """Copy the repository without the labelled questions, which would match themselves."""
    for file in list_project(REPOSITORY).files:
        if not file.path.startswith("tests/data/search/"):
            target = folder / file.path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes((REPOSITORY / file.path).read_bytes())


def search(rows, *, project):
    code = CodeTools(Root(project, label="the project"))
    found = []
    for row in rows:
        started = time.perf_counter()
        result = code.search_code(query=row["question"])
        elapsed_ms = 1000 * (time.perf_counter() - started)
        files = tuple(dict.fromkeys(source.path for source in result.sources))
        found.append(Outcome(row["question"], files, tuple(row["acceptable"]), elapsed_ms))
    return found


def report(project, *, show_misses):
    print("questions           set       hit@1         hit@3          median ms  slowest ms")
    for name in SETS:
        report_set("implementation", name, search(load_questions(name), project=project), show_misses)
    for name in SETS:
        found = search(load_questions(name, file="usage"), project=project)
        report_set("usage", name, found, show_misses)
        found = search(load_questions(name, file="usage", project="parcel"), project=OTHER_PROJECT)
        report_set("another project", name, found, show_misses)


def report_set(kind, name, found, show_misses):
    times = sorted(outcome.elapsed_ms for outcome in found)
    shares = "  ".join(_share(found, first) for first in (1, 3))
    print(f"{kind:18}  {name:8}  {shares}  {times[len(times) // 2]:9.0f}  {times[-1]:10.0f}")
    for outcome in found if show_misses and name == "dev" else ():
        if not outcome.is_hit(1):
            print(f"    {outcome.question!r}: {', '.join(outcome.files)}")


def _share(found, first):
    hits = sum(outcome.is_hit(first) for outcome in found)
    return f"{hits:2}/{len(found)} = {100 * hits / len(found):3.0f} %"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--misses", action="store_true", help="list the development questions missed at first place")
    show_misses = parser.parse_args().misses
    with tempfile.TemporaryDirectory() as folder:
        copy_without_questions(Path(folder))
        report(Path(folder), show_misses=show_misses)


if __name__ == "__main__":
    main()
