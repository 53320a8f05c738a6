"""Measures how often a search over this repository finds a right file first, or among the first three.

Run `.venv/bin/python benchmarks/eval_search.py`; `--misses` also lists the development questions that were missed.
The search gets the question as it stands, as the embedded model passes it on. The labelled questions are in
`tests/data/search`: `questions.jsonl` is mostly about the implementation, `usage.jsonl` about using this repository and
a small project of another kind. The misses of the held-out questions are not listed, so that nothing is tuned to them.

`--questions FILE` measures others: a JSON list of `{"project": "p1", "index": "code", "query": "…", "wants": ["…"]}`;
the project is `projects/p1` beside the file, with the index `notes` the vault `vaults/p1`. What is wanted is a path, or
`path::Class.method` of Python, which is found where the line of its definition or one inside of it is shown.
"""

import argparse
import ast
import asyncio
import json
import re
import tempfile
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from pathlib import Path

from oracle.tools import project_tools, vault_tools
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


def report_questions(path):
    """Print, for each index of a file of questions, how often something wanted is in the first, three and five hits."""
    rows = json.loads(path.read_text(encoding="utf-8"))
    print("index      hit@1         hit@3         hit@5          median ms  characters of a result")
    for index in sorted({row["index"] for row in rows}):
        asked = [row for row in rows if row["index"] == index]
        results = [_timed_search(path.parent, row) for row in asked]
        ranks = [_rank_of_wanted(path.parent, row, text) for row, (text, _) in zip(asked, results, strict=True)]
        hits = [sum(rank is not None and rank < first for rank in ranks) for first in (1, 3, 5)]
        shares = "  ".join(f"{count:2}/{len(asked)} = {100 * count / len(asked):3.0f} %" for count in hits)
        times = sorted(elapsed_ms for _, elapsed_ms in results)
        chars = sum(len(text) for text, _ in results) // len(results)
        print(f"{index:9}  {shares}  {times[len(times) // 2]:9.0f}  {chars:11,}")


def _timed_search(folder, row):
    """The text of a search for a question, and its milliseconds; the index is built before."""
    if row["index"] == "code":
        tools, name = project_tools(folder / "projects" / row["project"]), "search_code"
    else:
        tools = vault_tools(folder / "vaults" / row["project"], now=lambda: datetime.now(UTC))
        name = "thread_seek" if all(wanted.startswith("threads/") for wanted in row["wants"]) else "vault_search"
    search = next(tool for tool in tools if tool.name == name)
    asyncio.run(search.call({"query": "index"}))
    started = time.perf_counter()
    return asyncio.run(search.call({"query": row["query"]})).text, 1000 * (time.perf_counter() - started)


def _rank_of_wanted(folder, row, text):
    """The position of the first hit that shows something wanted; `None` if there is none."""
    for rank, block in enumerate(re.split(r"\n\n(?=\S)", text)):
        shown = {int(number) for number in re.findall(r"^[> ] *(\d+) \| ", block, re.MULTILINE)}
        for path, _, symbol in (wanted.partition("::") for wanted in row["wants"]):
            is_there = re.match(rf"{re.escape(path)}(?::\d+ |$)", block, re.MULTILINE)
            if is_there and (not symbol or shown & _lines_of(folder / "projects" / row["project"] / path, symbol)):
                return rank
    return None


def _lines_of(file, symbol):
    """The lines of a class or function of a Python file; of a class those before its first method."""
    node = ast.parse(file.read_text(encoding="utf-8"))
    for name in symbol.split("."):
        node = next(each for each in ast.walk(node) if getattr(each, "name", None) == name)
    inner = [each.lineno for each in node.body if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef)]
    is_class = isinstance(node, ast.ClassDef) and inner
    return set(range(node.lineno, min(inner) if is_class else node.end_lineno + 1))


def _share(found, first):
    hits = sum(outcome.is_hit(first) for outcome in found)
    return f"{hits:2}/{len(found)} = {100 * hits / len(found):3.0f} %"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--misses", action="store_true", help="list the development questions missed at first place")
    parser.add_argument("--questions", type=Path, help="a file of other questions, beside their projects and vaults")
    arguments = parser.parse_args()
    if arguments.questions is not None:
        report_questions(arguments.questions)
        return
    with tempfile.TemporaryDirectory() as folder:
        copy_without_questions(Path(folder))
        report(Path(folder), show_misses=arguments.misses)


if __name__ == "__main__":
    main()
