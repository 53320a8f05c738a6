"""`make mutants`: mutation tests; how many small defects in a package its own tests detect.

A mutant is one file with one change of its syntax tree: another comparison, a constant off by one, an inverted
condition, a removed statement. It is killed if the package's tests fail, and survives if they pass. Each mutant runs in
a copy of the checkout, so the checkout is not modified.

The sample consists of the mutants with the smallest hashes of their name (file, function, text before and after). An
edit elsewhere does not change the sample, and the sample cannot be chosen.

A survivor that no test can detect, because the program is equivalent, is listed with its reason in
`benchmarks/equivalent_mutants.yaml` and excluded from the share.
"""

import argparse
import ast
import copy
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[1]
EQUIVALENT = ROOT / "benchmarks" / "equivalent_mutants.yaml"
PATIENCE = 5
"""A mutant counts as killed if its tests take this many times as long as without it."""


@dataclass(frozen=True, slots=True)
class Room:
    """A package and its tests.

    Args:
        sources: its folders, relative to the checkout.
        tests: arguments for pytest: paths, the fastest first, and selections.
        aim: the percentage of non-equivalent mutants to be killed.
    """

    sources: tuple[str, ...]
    tests: tuple[str, ...]
    aim: int


_AGENT_ACCEPTANCE = (
    "tests/acceptance/test_012_control.py",
    "tests/acceptance/test_012_tokens.py",
    "tests/acceptance/test_020_us2_signals.py",
    "-k",
    "not [loop",
)
"""The acceptance tests of turns, budgets and signals, under the tree alone: the plain loop runs the same steps, and all
of the acceptance tests take minutes."""

ROOMS = {
    "signals": Room(("signals",), ("tests/signals",), 95),
    "bt_runtime": Room(("bt_runtime",), ("tests/bt_runtime",), 95),
    "decision": Room(("oracle/decision",), ("tests/oracle/decision",), 95),
    "agent": Room(
        ("oracle/agent", "oracle/agent/nodes"),
        ("tests/oracle/agent", "tests/oracle/agent/nodes", *_AGENT_ACCEPTANCE),
        95,
    ),
    "storage": Room(("oracle/runs/storage",), ("tests/oracle/runs/storage",), 90),
    "runs": Room(("oracle/runs",), ("tests/oracle/runs",), 90),
    "service": Room(("oracle/server/api",), ("tests/oracle/server/api", "tests/service"), 90),
}


@dataclass(frozen=True, slots=True)
class Mutant:
    """One change to one file.

    Args:
        path: of the file, relative to the checkout.
        line: the line, from 1.
        where: the enclosing function or class.
        before: the replaced text.
        after: the replacement.
        span: start and end of the replaced text, as offsets into the file.
    """

    path: str
    line: int
    where: str
    before: str
    after: str
    span: tuple[int, int]

    @property
    def name(self) -> str:
        """Its name in the list of equivalents, which does not depend on line numbers."""
        return f"{self.path} {self.where}: {' '.join(self.before.split())} -> {' '.join(self.after.split())}"

    @property
    def rank(self) -> bytes:
        """Its sort key in the sample."""
        return hashlib.sha256(self.name.encode()).digest()


_COMPARISONS = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
_OPERATORS = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.FloorDiv, ast.FloorDiv: ast.Mult, ast.Div: ast.Mult}
_EXPRESSIONS = (ast.Compare, ast.BoolOp, ast.UnaryOp, ast.BinOp, ast.IfExp, ast.Constant)


def mutated(node: ast.AST) -> ast.AST | None:
    """The node with one defect; `None` if there is none for it."""
    if isinstance(node, ast.stmt):
        return _statement(node)
    return _expression(copy.deepcopy(node)) if isinstance(node, _EXPRESSIONS) else None


def _statement(node: ast.stmt) -> ast.stmt | None:
    match node:
        case ast.Return(value=ast.expr() as value) if not (isinstance(value, ast.Constant) and value.value is None):
            return ast.Return(ast.Constant(None))
        case ast.Expr(value=ast.Call() | ast.Await()) | ast.Assign() | ast.Raise():
            return ast.Pass()
        case ast.AugAssign(op=operator) if type(operator) in _OPERATORS:
            return ast.AugAssign(node.target, _OPERATORS[type(operator)](), node.value)
        case ast.Break():
            return ast.Continue()
        case ast.Continue():
            return ast.Break()
    return None


def _expression(node: ast.AST) -> ast.AST | None:
    match node:
        case ast.Compare(ops=[operator, *_]) if type(operator) in _COMPARISONS:
            node.ops[0] = _COMPARISONS[type(operator)]()
        case ast.BoolOp():
            node.op = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        case ast.UnaryOp(op=ast.Not()):
            return node.operand
        case ast.BinOp(op=operator) if type(operator) in _OPERATORS:
            node.op = _OPERATORS[type(operator)]()
        case ast.IfExp():
            node.body, node.orelse = node.orelse, node.body
        case ast.Constant(value=bool()):
            node.value = not node.value
        case ast.Constant(value=int() | float() as number):
            node.value = number + 1
        case _:
            return None
    return node


def _is_left_out(node: ast.AST) -> bool:
    """Whether tests need not detect a change in this node: docstrings, log calls, annotations."""
    match node:
        case ast.Expr(value=ast.Constant()):
            return True  # a docstring
        case ast.Call(func=ast.Attribute(value=ast.Name(id="log" | "warnings"))):
            return True
        case ast.If(test=ast.Name(id="TYPE_CHECKING")) | ast.AnnAssign(value=None):
            return True
        case ast.Assign(targets=[ast.Name(id=name)]) if name.startswith("__"):
            return True
    return False


def _children(node: ast.AST) -> Iterator[ast.AST]:
    for name, value in ast.iter_fields(node):
        if name in {"annotation", "returns", "decorator_list", "type_params", "bases", "keywords"} and isinstance(
            node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.AnnAssign, ast.arg)
        ):
            continue
        yield from (each for each in (value if isinstance(value, list) else [value]) if isinstance(each, ast.AST))


def mutants_of(path: str) -> Iterator[Mutant]:
    """All mutants of a file."""
    text = (ROOT / path).read_bytes()
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))

    def below(node: ast.AST, where: str) -> Iterator[Mutant]:
        for child in _children(node):
            if _is_left_out(child):
                continue
            is_scope = isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))
            inside = f"{where}.{child.name}".lstrip(".") if is_scope else where  # type: ignore[attr-defined]
            other = mutated(child) if where else None  # module-level code is data
            if other is not None:
                yield _mutant(child, other, where)
            yield from below(child, inside)

    def _mutant(node: ast.AST, other: ast.AST, where: str) -> Mutant:
        first = starts[node.lineno - 1] + node.col_offset  # type: ignore[attr-defined]
        last = starts[node.end_lineno - 1] + node.end_col_offset  # type: ignore[attr-defined]
        before = text[first:last].decode()
        after = ast.unparse(ast.fix_missing_locations(other))
        is_expression = isinstance(other, ast.expr) and not isinstance(other, (ast.Constant, ast.Name, ast.Call))
        return Mutant(path, node.lineno, where, before, f"({after})" if is_expression else after, (first, last))  # type: ignore[attr-defined]

    yield from below(ast.parse(text), "")


def sample(room: Room, size: int) -> list[Mutant]:
    """The sample of a package's mutants."""
    files = sorted(
        str(path.relative_to(ROOT))
        for source in room.sources
        for path in (ROOT / source).rglob("*.py")
        if not {"testing.py", "migrations", "__pycache__"} & set(path.parts)
    )
    distinct = {mutant.name: mutant for path in files for mutant in mutants_of(path)}
    return sorted(distinct.values(), key=lambda mutant: mutant.rank)[:size]


class Copy:
    """A copy of the checkout, with one mutant at a time."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        listed = subprocess.run(
            ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
            cwd=ROOT,
            capture_output=True,
            check=True,
        )
        for name in listed.stdout.decode().split("\0"):
            if name and (ROOT / name).is_file():
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / name, folder / name)

    def kills(self, room: Room, mutant: Mutant, *, most_s: float) -> bool:
        """Whether the package's tests fail with this mutant."""
        path = self.folder / mutant.path
        whole = path.read_bytes()
        first, last = mutant.span
        path.write_bytes(whole[:first] + mutant.after.encode() + whole[last:])
        try:
            return not self.passes(room, most_s=most_s)
        finally:
            path.write_bytes(whole)

    def passes(self, room: Room, *, most_s: float) -> bool:
        """Whether the package's tests pass within a time limit."""
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-m", "not long and not soak", "-p", "no:cacheprovider"]
        ran = subprocess.Popen(
            [*command, *room.tests],
            cwd=self.folder,
            env=os.environ | {"PYTHONPATH": str(self.folder), "PYTHONDONTWRITEBYTECODE": "1"},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            return ran.wait(most_s) == 0
        except subprocess.TimeoutExpired:
            os.killpg(ran.pid, 9)
            ran.wait()
            return False


def judge(name: str, room: Room, *, size: int, workers: int) -> bool:
    """Run a package's sample and print the result; returns whether the aim is met."""
    listed = yaml.safe_load(EQUIVALENT.read_text(encoding="utf-8")) or {}
    chosen = sample(room, size)
    tried = [mutant for mutant in chosen if mutant.name not in listed]
    with tempfile.TemporaryDirectory() as folder:
        copies = [Copy(Path(folder) / str(number)) for number in range(workers)]
        started_s = time.monotonic()
        if not copies[0].passes(room, most_s=600):
            print(f"{name}: its tests fail without any mutant")
            return False
        most_s = PATIENCE * (time.monotonic() - started_s) + 10
        with ThreadPoolExecutor(workers) as pool:
            lanes = [tried[number::workers] for number in range(workers)]
            verdicts = pool.map(
                lambda pair: [(each, pair[0].kills(room, each, most_s=most_s)) for each in pair[1]],
                zip(copies, lanes, strict=True),
            )
            survivors = sorted(
                (each for lane in verdicts for each, killed in lane if not killed), key=lambda each: each.name
            )
    killed = len(tried) - len(survivors)
    share = 100 * killed / len(tried) if tried else 100.0
    equivalent = len(chosen) - len(tried)
    print(
        f"{name}: {killed} killed, {len(survivors)} survived, {equivalent} equivalent: {share:.1f} % (aim {room.aim} %)"
    )
    for mutant in survivors:
        print(f"  {mutant.path}:{mutant.line}  {mutant.name}")
    return share >= room.aim


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description="Try a sample of mutants in each room against the room's own tests.")
    parser.add_argument("rooms", nargs="*", metavar="ROOM", help=f"all if left out: {', '.join(ROOMS)}")
    parser.add_argument("--sample", type=int, default=40, help="mutants of each room (default: %(default)s)")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1, help="test runs at a time")
    given = parser.parse_args()
    unknown = [name for name in given.rooms if name not in ROOMS]
    if unknown:
        parser.error(f"there is no room {unknown[0]!r}; rooms are {', '.join(ROOMS)}")
    results = [judge(name, ROOMS[name], size=given.sample, workers=given.workers) for name in (given.rooms or ROOMS)]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
