"""`oracle debug`: steps through a run of a service. Commands are lines of standard input, so a script can do it too."""

import asyncio
import sys
import time
from contextlib import AsyncExitStack, suppress
from typing import Any, Final

import click
from pydantic import TypeAdapter
from rich.text import Text

from bt_runtime.text import did_you_mean, listing
from oracle.cli.errors import CommandError
from oracle.cli.run_sources.served import ServedSource, open_service, service_url
from oracle.cli.run_view.page import WIDEST, Sections, deciding_tick, run_page, values_before
from oracle.cli.run_view.screen import COLOR, ColorChoice, Screen
from oracle.cli.run_view.words import safe, value_of
from oracle.cli.text import clean
from oracle.core.encoding import from_json, to_json
from oracle.core.logs import is_interactive
from oracle.replay.histories.model import NodeFacts
from oracle.runs.storage.run_pages import RunFilter

_POINTS: Final = "/api/debug/breakpoints"
_BODY: Final = TypeAdapter(dict[str, Any])
_WAIT_S: Final = 20
"""How long one request waits for another state of the run."""
USAGE: Final = """\
n                            run the next tick
c                            continue until a breakpoint or the end
b NODE [if EXPRESSION]       break before a node of this run
d NODE                       delete the breakpoints of this run on a node
p [KEY]                      print a value of the blackboard, or all of them
set KEY VALUE                set a value for the next tick: JSON, or text
force NODE success|failure   force the next result of a node
q                            quit: the run continues, without the breakpoints set here
NODE is a path, the end of one, or a name; an empty line shows the tree again."""


@click.command("debug")
@click.argument("run", required=False)
@click.option("--last", is_flag=True, help="Debug the latest run in progress.")
@click.option("--url", metavar="URL", help="The service; its token is ORACLE_TOKEN. [default: ORACLE_URL]")
@COLOR
def debug(*, run: str | None, last: bool, url: str | None, color: ColorChoice) -> int:
    """Pause RUN, which is in progress, and step through its tree.

    The service needs ORACLE_DEBUG=1, and you must be an operator. Commands come from standard input; `h` lists them. In
    a pipe, the first command that fails ends the debugger. When the debugger ends, the run continues.

    \b
    Exit codes:
      0    the run has ended, or you have quit
      1    there is no such run in progress, it cannot be debugged, or a command in a pipe failed
      130  interrupted with Ctrl-C; the run continues
    """  # noqa: D301  click's mark for lines that are not rewrapped
    if (run is None) is not last:
        raise click.UsageError("give the id of a run, or --last")
    with asyncio.Runner() as runner:
        stack = AsyncExitStack()
        try:
            source = runner.run(stack.enter_async_context(open_service(url or service_url())))
            debugging = Debugging(source, Screen(color, widest=WIDEST))
            stack.push_async_callback(debugging.leave)
            runner.run(debugging.begin(run))
            for line in iter(_read, ""):
                try:
                    if not runner.run(debugging.do(*line.strip().partition(" ")[::2])):
                        break
                except CommandError as error:
                    if not is_interactive(sys.stdin):
                        raise
                    error.show()
        finally:
            runner.run(stack.aclose())
    return 0


def _read() -> str:
    if is_interactive(sys.stdin):
        click.echo("debug> ", nl=False, err=True)
    return sys.stdin.readline()


class Debugging:
    """The commands of one session.

    Args:
        source: the service.
        screen: where the run is shown.
    """

    def __init__(self, source: ServedSource, screen: Screen) -> None:
        self._source = source
        self._screen = screen
        self._debug = ""
        self._state: dict[str, Any] = {}
        self._set: list[str] = []  # ids of breakpoints

    async def begin(self, run: str | None) -> None:
        """Pause the run, by default the latest in progress, and show it.

        Raises:
            CommandError: there is none, it has ended, or it cannot be debugged.
        """
        if run is None:
            running = await self._source.list(RunFilter(statuses=("running",)), limit=1)
            if not running:
                raise CommandError("no run is in progress; ask a question, or name a run")
            run = running[0].run.id
        self._history = await self._source.history(run)
        self._run = self._history.run.id
        self._debug = f"/api/runs/{self._run}/debug"
        await self._look()
        if self._state["state"] == "ended":
            raise CommandError(f"the run has ended; see it with: oracle runs show {self._run[:8]}")
        await self._go("")

    async def do(self, word: str, rest: str) -> bool:
        """Carry out a command; returns whether another one may follow.

        Raises:
            CommandError: it is wrong, or is refused.
        """
        rest = rest.strip()
        await self._look()
        match word:
            case "q":
                return False
            case "n" | "c":
                await self._go("step" if word == "n" else "resume")
            case "b":
                await self._break(rest)
            case "d":
                await self._delete(self._node(rest).path)
            case "p":
                self._print(rest)
            case "set":
                key, _, value = rest.partition(" ")
                with suppress(ValueError):  # not JSON: text
                    value = from_json(value.encode())
                await self._send("set", key=key, value=value)
            case "force":
                name, _, result = rest.rpartition(" ")
                await self._send("force", path=self._node(name).path, result=result)
            case "":
                await self._show()
            case _:
                click.echo(USAGE)
        return bool(self._state["state"] != "ended")

    async def leave(self) -> None:
        """Let the run continue, without the breakpoints that were set here."""
        with suppress(CommandError):
            for each in self._set:
                await self._source.send("DELETE", f"{_POINTS}/{each}")
            if self._state and self._state["state"] != "ended":
                await self._send("resume")

    async def _look(self, *, wait_s: int = 0) -> None:
        since = self._state["since"] if wait_s else None
        self._state = await self._source.read(self._debug, _BODY, since=since, wait_s=wait_s)

    async def _send(self, command: str, **more: Any) -> None:  # noqa: ANN401  JSON data
        self._state = await self._source.send("POST", self._debug, {"command": command, **more}, run=self._run)

    async def _go(self, command: str) -> None:
        """Send a command, or pause a run that is not paused; wait until it is paused or has ended, and show it."""
        before = None
        if self._state["state"] == "running":
            await self._send("pause")
        elif self._state["state"] == "paused" and command:
            before = self._state["since"]
            await self._send(command)
        while self._state["state"] != "ended" and (self._state["state"] != "paused" or self._state["since"] == before):
            await self._look(wait_s=_WAIT_S)
        await self._show()

    async def _show(self) -> None:
        history = self._history = await self._source.history(self._run)
        page = run_page(history, deciding_tick(history), width=self._screen.width, sections=Sections(), now=time.time())
        self._screen.write([*page.rows, *page.foot[:-1], Text(self._where(), "strong")])

    def _where(self) -> str:
        state, hit = self._state, self._state["hit"] or {}
        if state["state"] != "paused":
            reason = safe(self._history.run.termination_reason or "")
            return f"The run has ended: {reason}." if reason else "The run is in progress."
        after = f"after tick {state['tick']}" if state["tick"] else "before the first tick"
        node = self._node(hit["path"]) if hit.get("path") else None
        name = f"{safe(node.title)} ({safe(node.file)}:{node.line})" if node else ""
        match hit.get("kind"):
            case "node":
                work = "it runs in the next tick" if hit["is_ahead"] else "its work has not started"
                return f"Paused before {name}, {after}: {work}."
            case "condition":
                return f"Paused {after}: {safe(hit['expression'])} became true."
            case "error":
                return f"Paused {after}: error in {name}: {safe(hit['error'])}."
        return f"Paused {after}."

    def _node(self, name: str) -> NodeFacts:
        """The node of a path, of the end of one, or of a name.

        Raises:
            CommandError: there is none, or more than one.
        """
        nodes = self._history.tree.nodes if self._history.tree else ()
        found = [each for each in nodes if each.path == name]
        found = found or [each for each in nodes if each.title == name or each.path.endswith(f"/{name}")]
        if len(found) == 1:
            return found[0]
        if found:
            raise CommandError(f"{name!r} means {listing([each.path for each in found])}; give the whole path")
        hint = did_you_mean(name, [each.path for each in nodes] + [each.title for each in nodes])
        raise CommandError(f"the tree has no node {name!r}; {hint or 'the paths are those of `oracle trees show`'}")

    async def _break(self, rest: str) -> None:
        name, _, condition = rest.partition(" if ")
        point = {"kind": "node", "run_id": self._run, "path": self._node(name.strip()).path}
        point |= {"expression": condition} if condition else {}
        self._set.append((await self._source.send("POST", _POINTS, point))["id"])
        click.echo(clean(f"Breaks before {point['path']}{condition and f' if {condition}'}."))

    async def _delete(self, path: str) -> None:
        points = (await self._source.read(_POINTS, _BODY))["breakpoints"]
        found = [each["id"] for each in points if (each["run_id"], each["path"]) == (self._run, path)]
        if not found:
            raise CommandError(f"this run has no breakpoint of its own on {path!r}")
        for each in found:
            await self._source.send("DELETE", f"{_POINTS}/{each}")
        self._set = [each for each in self._set if each not in found]

    def _print(self, key: str) -> None:
        """Print values as they are after the last tick, with those that the next one gets."""
        values = values_before(self._history, len(self._history.ticks)) | self._state["values"]
        if key and key not in values:
            raise CommandError(f"there is no blackboard key {key!r}; {did_you_mean(key, values) or '`p` prints all'}")
        for name in [key] if key else sorted(values):
            click.echo(clean(f"{name} = {to_json(values[name]).decode() if key else value_of(values[name])}"))
