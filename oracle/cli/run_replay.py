"""`oracle runs replay`: a recorded run, played again without model and network, on its own tree or on another one."""

import json
import time
from pathlib import Path
from typing import Any

import click

from bt_runtime import Registry, TreeDefinition, TreeLibrary, Visit
from bt_runtime.library.named import read_source, read_sources
from bt_runtime.text.data import dataclass
from bt_runtime.text.phrases import counted
from oracle.cli.archive import DATA_DIR, with_archive
from oracle.cli.errors import FAILED
from oracle.cli.run_sources.local import imported_runs
from oracle.cli.run_view.tree import evaluated
from oracle.cli.run_view.words import path_end
from oracle.cli.setup import settings_for
from oracle.cli.text import one_line
from oracle.cli.trees import named_tree
from oracle.replay.comparing import Comparison, compare
from oracle.replay.courses import visits_at
from oracle.replay.histories.nodes import evaluation_facts
from oracle.replay.recorded import RecordedRun, UnreplayableError, read_run, repeat
from oracle.runs.continuing import difference
from oracle.runs.storage.archive import Archive
from oracle.runs.storage.errors import StoreUnavailableError, UnclearRunError
from oracle.runs.storage.records import RunRecord
from oracle.runs.storage.run_pages import RunFilter
from oracle.server.settings.fields import Settings
from oracle.server.wiring.agent import tree_library

_ID_CHARS = 8
_LONGEST_REASON = 700
_ALL = 2**31 - 1


@click.command("replay")
@click.argument("run")
@click.option("--tree", metavar="TREE", help="Another tree: a name, a file, or a file of one of its subtrees.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@DATA_DIR
def replay(*, run: str, tree: str | None, as_json: bool, data_dir: Path | None) -> int:
    """Replay the recorded RUN: no model is asked, no tool is run, nothing is written.

    RUN is the run's id, or its first characters. Without --tree it is replayed on the version of the tree that it ran,
    and every tick must be the same. With --tree it is replayed on another tree. The command then prints the tick up to
    which both trees do the same, the first node that differs with its values in both, and how the run would have ended.
    What would follow a request that the recorded run did not make is unknown.

    \b
    Exit codes:
      0  the run is the same
      1  it differs, or cannot be replayed
    """  # noqa: D301  click's mark for lines that are not rewrapped
    settings = settings_for(log="critical", data_dir=data_dir)
    library = tree_library(settings)

    async def work(archive: Archive) -> RecordedRun:
        return await read_run(archive, await archive.find(run))

    try:
        recorded = with_archive(settings, work)
    except UnclearRunError as error:
        raise _without_log(run, settings, error) from None
    begun = time.perf_counter()
    if tree is None:
        found = _repeated(recorded, library.registry)
    else:
        found = _compared(recorded, _other(recorded, tree, library), library.registry)
    found.data["took_ms"] = round((time.perf_counter() - begun) * 1000)
    if as_json:
        click.echo(json.dumps(found.data, ensure_ascii=False, indent=2))
    else:
        for line in found.lines(found.data["took_ms"]):
            click.echo(line)
    return 0 if found.data["is_same"] else 1


@click.command("verify")
@click.option("--parked", is_flag=True, expose_value=False, help="The parked runs (the default).")
@DATA_DIR
def verify(*, data_dir: Path | None) -> int:
    """Before a deploy, replay the parked runs on this version.

    Use the new version with its plugins and settings; the old one may keep serving. As in `oracle runs replay`, no
    model is asked, no tool is run, and nothing is written. Prints each run that would end as `not_continued`, with the
    first place that differs.

    \b
    Exit codes:
      0  every run can continue
      1  a run cannot continue, or the database cannot be read
    """  # noqa: D301  click's mark for lines that are not rewrapped
    settings = settings_for(log="critical", data_dir=data_dir)
    registry = tree_library(settings).registry

    async def work(archive: Archive) -> list[str]:
        parked = await archive.matching(RunFilter(statuses=("parked",)), limit=_ALL)
        return [await _hindrance(archive, record, registry) for record in parked]

    found = with_archive(settings, work)
    hindrances = list(filter(None, found))
    for text in hindrances:
        click.echo(text)
    click.echo(f"{len(found) - len(hindrances):,} of {len(found):,} parked runs can continue on this version")
    return FAILED if hindrances else 0


async def _hindrance(archive: Archive, record: RunRecord, registry: Registry) -> str:
    """Why a run cannot go on; empty if it can."""
    try:
        result = _repeated(await read_run(archive, record), registry)
    except StoreUnavailableError:
        raise
    except Exception as error:  # noqa: BLE001  whatever a record does to code that did not write it
        problem = one_line(f"{type(error).__name__}: {error}", longest=_LONGEST_REASON)
        return f"{record.id[:_ID_CHARS]}  on {record.tree}: {problem}"
    return "" if result.data["is_same"] else result.text[0]


def _without_log(run: str, settings: Settings, error: UnclearRunError) -> Exception:
    """The error for a run that the database does not have."""
    if error.alike or imported_runs(settings).find(run) is None:
        return error
    message = "it was imported, and an export has no log; replay it in its own installation"
    return UnreplayableError(message)


@dataclass(frozen=True, slots=True)
class _Result:
    """What came of it, as JSON data and as lines; `{ms}` in the first is the duration."""

    data: dict[str, Any]
    text: tuple[str, ...]

    def lines(self, took_ms: int) -> list[str]:
        return [line.replace("{ms}", f"{took_ms:,} ms") if index == 0 else line for index, line in enumerate(self.text)]


def _repeated(run: RecordedRun, registry: Registry) -> _Result:
    replayed = repeat(run, registry=registry)
    ticks, at = len(run.ticks), replayed.diverged_at
    data = {"run_id": run.record.id, "tree": run.version.name, "ticks": ticks, "is_same": at is None, "tick": at}
    name = f"{run.record.id[:_ID_CHARS]}  on its own tree {run.version.name}@{run.version.sha[:7]}"
    if at is None:
        return _Result(data, (f"{name}: identical, {counted(ticks, 'tick')} in {{ms}}",))
    recorded = next(each for each in run.ticks if each.tick == at)
    found = next((each for each in replayed.records if each.tick == at), None)
    why = difference(found, recorded, run.tree(registry).paths, missing=replayed.missing)
    data["why"] = str(why)
    return _Result(data, (f"{name}: {one_line(str(why), longest=_LONGEST_REASON)}",))


def _compared(run: RecordedRun, other: TreeDefinition, registry: Registry) -> _Result:
    own = run.tree(registry)
    found = compare(run, own, other, registry=registry)
    ticks, difference = len(run.ticks), found.difference
    compared = found.to_json()
    if difference is not None:
        del compared["difference"]["answer"]  # which is said below, of both trees
    data = {"run_id": run.record.id, "tree": other.name, "file": other.file, "ticks": ticks} | compared
    data["is_same"] = found.verdict == "same"
    name = f"{run.record.id[:_ID_CHARS]}  on {one_line(other.file)}"
    if difference is None:
        if found.verdict == "same":
            return _Result(data, (f"{name}: the same, {counted(ticks, 'tick')} in {{ms}}, ends as {found.new_end}",))
        return _Result(data, (f"{name}: not known: {one_line(found.unknown or '')}",))
    what = "different" if found.verdict == "differs" else "another path to the same result"
    same = f"the same until tick {difference.tick - 1}, then {what}"
    lines = [f"{name}: {what} from the first tick on" if difference.tick == 1 else f"{name}: {same}"]
    lines.append(f"tick {difference.tick}  {path_end(difference.path)}")
    sides = {}
    for side, definition, did in (("old", own, difference.old), ("new", other, difference.new)):
        visit = visits_at(run, definition, tick=difference.tick, registry=registry).get(difference.path)
        sides[side] = _side(definition, difference.path, visit)
        lines += _side_lines(side, sides[side], did if found.verdict == "differs" else "")
    data["nodes"] = sides
    lines.append(_end(found))
    return _Result(data, tuple(lines))


def _side(definition: TreeDefinition, path: str, visit: Visit | None) -> dict[str, Any] | None:
    """The node in one of the trees: its place, and what it said; `None` if that tree does not have it."""
    node = next((each for each in definition.nodes() if each.path == path), None)
    if node is None:
        return None
    evaluations = [evaluation_facts(node, each) for each in visit.evaluations] if visit else []
    place = {"file": node.place.file, "line": node.place.line}
    source = definition.texts.get(node.place.file, "").split("\n")
    code = source[node.place.line - 1].strip() if node.place.line <= len(source) else ""
    saw = ""
    if evaluations:
        words, verdict = evaluated(evaluations[-1])
        saw = f"{words} {verdict.plain}".strip()
    elif visit is not None:
        saw = visit.words.text or visit.status.name.lower()
    return place | {"status": visit.status.name if visit else None, "code": code, "saw": saw}


def _side_lines(name: str, side: dict[str, Any] | None, did: str | None) -> list[str]:
    if side is None:
        lines = [f"  {name}  does not have this node"]
    else:
        lines = [f"  {name}  {one_line(side['file'])}:{side['line']}  {one_line(side['code'], longest=100)}"]
        lines.append(f"       {one_line(side['saw']) if side['status'] else 'not asked'}")
    return [*lines, f"       {one_line(did)}"] if did else lines


def _end(found: Comparison) -> str:
    if found.new_end is None:
        return f"ended as {found.old_end}; from here on nothing is known: {one_line(found.unknown or '')}"
    if found.new_end == found.old_end:
        return f"ends as {found.new_end} all the same"
    return f"ended as {found.old_end or 'is not known'}, would end as {found.new_end}"


def _other(run: RecordedRun, tree: str, library: TreeLibrary) -> TreeDefinition:
    """The other tree; a file of a subtree takes the place of that subtree in the version that ran.

    Raises:
        CommandError: it is a folder.
        TreeNotFoundError: there is no such tree.
        TreeFileError: it has mistakes, or its file cannot be read.
    """
    path = Path(tree)
    if path.suffix not in (".yaml", ".yml") or path.stem == run.version.name or path.stem not in run.version.source:
        return named_tree(library, tree)
    text = read_source(path, name=path.stem).text
    changed = text.decode(errors="replace") if isinstance(text, bytes) else text
    sources = {**run.version.source, path.stem: changed}
    return read_sources(sources, name=run.version.name, registry=library.registry)
