"""The help of every command: it says what the command does, and no summary in a list is cut off."""

from collections.abc import Iterator

import click
import pytest

from oracle.cli.entry import cli
from oracle.cli.groups import LazyGroup


def contexts(command: click.Command, name: str, parent: click.Context | None = None) -> Iterator[click.Context]:
    """The command and all commands below it, each as its own help is asked for."""
    context = click.Context(command, info_name=name, parent=parent)
    yield context
    if isinstance(command, click.Group):
        for below in command.list_commands(context):
            found = command.get_command(context, below)
            assert found is not None
            yield from contexts(found, below, context)


@pytest.mark.long("imports every command")
def test_every_command_says_what_it_does() -> None:
    told = {context.command_path: context for context in contexts(cli, "oracle")}
    assert {"oracle domain", "oracle trees verify", "oracle shadow report"} <= told.keys()
    assert [path for path, context in told.items() if not context.command.help] == []
    cut_off = [path for path, context in told.items() if "..." in context.get_help().partition("\n")[2]]
    assert cut_off == []


def test_a_word_that_only_features_have_commands_behind_says_what_the_first_of_them_does(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("ORACLE_FEATURES", "-mcp-server")
    group = cli.get_command(click.Context(cli), "mcp")
    assert isinstance(group, LazyGroup)
    assert group.help == "List the tools of MCP servers; approve changed ones."
