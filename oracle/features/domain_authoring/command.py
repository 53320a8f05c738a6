"""`oracle domain new` and `oracle domain check`: the folder of a domain, made and checked."""

import re
from collections.abc import Iterator
from importlib.resources import files
from importlib.resources.abc import Traversable
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Final

import click

from bt_runtime.analysis.files import check_files
from bt_runtime.library.named import files_in
from bt_runtime.text.mistakes import format_mistakes
from bt_runtime.text.phrases import counted, listed
from oracle.cli.errors import CommandError
from oracle.cli.groups import LazyGroup
from oracle.cli.setup import settings_for
from oracle.cli.text import one_line
from oracle.core.sources import WRITE
from oracle.domains.domain import Domain
from oracle.domains.words import WordClassifier
from oracle.server.wiring.agent import build_tools, tree_library
from oracle.server.wiring.domains import domain_of
from oracle.server.wiring.plugins import plugins_of
from oracle.tools import ToolRegistry
from oracle.tools.selection import check_tools

_NAME: Final = re.compile(r"[a-z][a-z0-9_-]{0,31}")
_PLACEHOLDER: Final = "NAME"
_END: Final = ".txt"
"""Behind the names of the template's files that are no modules of this package."""


@click.group("domain", cls=LazyGroup, commands_at={}, of_features="domain ", no_args_is_help=True)
def domain() -> None:
    """Make and check the folder of a domain: what questions are about, with its words, tools and prompts."""


@click.command("new")
@click.argument("name", metavar="NAME")
@click.argument("folder", metavar="[DIR]", required=False)
def new(*, name: str, folder: str | None) -> None:
    """Write the folder of a new domain NAME to DIR, by default to a folder of that name.

    You can use the domain at once; comments in its files say what to change. Existing files are never changed.

    \b
    Exit codes:
      0  the folder was written
      1  the name is not valid, a file exists, or a file cannot be written
    """  # noqa: D301  click's mark for lines that are not rewrapped
    if not _NAME.fullmatch(name):
        raise CommandError(f"{name[:80]!r} cannot name a domain: use lower-case letters, digits, '-' and '_'")
    root = Path(folder or name)
    made = dict(_template(files(__package__) / "template", name))
    taken = [str(root / file) for file in made if (root / file).exists()]
    if taken:
        raise CommandError(f"there already: {listed(taken)}; name another folder, or remove these files")
    for file, text in made.items():
        try:
            (root / file).parent.mkdir(parents=True, exist_ok=True)
            (root / file).write_text(text, encoding="utf-8")
        except OSError as error:
            raise CommandError(f"{str(root / file)!r} cannot be written: {error.strerror}") from None
        click.echo(root / file)
    shown = root if root.is_absolute() else f"./{root}"
    click.echo(f'Now: oracle domain check {shown}, and ORACLE_DOMAIN={shown} oracle ask "What can you do?"')


def _template(folder: Traversable, name: str, within: str = "") -> Iterator[tuple[str, str]]:
    for entry in sorted(folder.iterdir(), key=lambda each: each.name):
        if entry.is_dir():
            yield from _template(entry, name, f"{entry.name}/")
        else:
            file = within + entry.name.removesuffix(_END)
            yield file, entry.read_text(encoding="utf-8").replace(_PLACEHOLDER, name)


@click.command("check")
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
def check(*, folder: Path) -> None:
    """Check the domain in DIR: its file, prompts, tools and trees, and how well its words tell its types apart.

    Each example is classified by the words of the types and by all other examples. If an example is taken for another
    type, add a word or a similar example to its own type.

    \b
    Exit codes:
      0  the domain can be used
      1  it has mistakes
    """  # noqa: D301  click's mark for lines that are not rewrapped
    settings = settings_for(log="error", domain=folder)
    domain = domain_of(settings)
    segments = domain.segments(settings.prompts_dir)
    tools = build_tools(settings, has_web_search=True)
    check_tools(tools)
    library = tree_library(settings, tools)
    report = check_files(library, (file for trees in domain.trees for file in sorted(files_in(trees))))
    if report.mistakes:
        raise CommandError(format_mistakes(report.mistakes, report.sources), prefix="")
    of_modules = [each for each in plugins_of(settings).loaded if each.package in domain.modules]
    own_tools = sum(len(each.names) for each in of_modules if each.group == "oracle.tools")
    own = sum(Path(each.source).is_relative_to(folder.resolve()) for each in segments)
    counts = (counted(len(domain.types.needs), "type"), counted(own_tools, "tool"), counted(own, "segment"))
    click.echo(f"{domain.name}: {', '.join(counts)} of its own")
    for line in (*_recognized(domain), *_doubts(domain, tools)):
        click.echo(one_line(line, longest=200))


def _recognized(domain: Domain) -> Iterator[str]:
    classifier = domain.classifier()
    if not isinstance(classifier, WordClassifier):
        return
    for query_type, several in groupby(classifier.judged(), key=itemgetter(0)):
        judged = [(text, max(shares, key=lambda each: shares[each])) for _, text, shares in several]
        wrong = [f"  {text!r} is taken for {found}" for text, found in judged if found != query_type]
        yield f"{query_type}: {len(judged) - len(wrong)} of {counted(len(judged), 'example')} recognized"
        yield from wrong


def _doubts(domain: Domain, tools: ToolRegistry) -> Iterator[str]:
    groups = {WRITE if tool.writes else tool.group for tool in tools.tools}
    for query_type, needs in domain.types.needs.items():
        for source in needs:
            if source not in groups:
                what = "writes" if source == WRITE else f"reads and is in the group {source!r}"
                yield f"Note: {query_type} needs {source!r}, but no tool {what}, unless an MCP server has one"
    for tool in tools.tools:
        if not tool.writes and tool.group not in domain.types.sources and tool.query_types is None:
            yield f"Note: no type needs the group {tool.group!r} of {tool.name}; its own words decide who is offered it"
