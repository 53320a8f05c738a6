"""Groups of commands: they suggest a name for a misspelt one, and import a command when it is called."""

from collections.abc import Mapping
from importlib import import_module
from typing import Any, cast

import click

from bt_runtime.text import did_you_mean
from oracle.loading import collector_paused


class SuggestingGroup(click.Group):
    """A group that suggests the closest command if there is none of the given name."""

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[Any, Any, list[str]]:
        """The command named by the first argument; an unknown one is a `click.UsageError`."""
        known = self.list_commands(ctx)
        hint = did_you_mean(args[0], known)
        if hint and args[0] not in known:
            ctx.fail(f"No such command {args[0]!r}; {hint}")
        return super().resolve_command(ctx, args)


class LazyGroup(SuggestingGroup):
    """A group that imports a command when it is called; its own help imports none.

    Args:
        commands_at: by name, in the order of the help: where the command is (`module:attribute`), and its summary.
        **attributes: those of a `click.Group`.
    """

    def __init__(self, *, commands_at: Mapping[str, tuple[str, str]], **attributes: Any) -> None:  # noqa: ANN401
        super().__init__(**attributes)
        self.commands_at = commands_at

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of the commands."""
        del ctx
        return list(self.commands_at)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the command of that name; `None` if there is none."""
        del ctx
        if cmd_name not in self.commands_at:
            return None
        module, _, attribute = self.commands_at[cmd_name][0].partition(":")
        with collector_paused():
            return cast("click.Command", getattr(import_module(module), attribute))

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands with their summaries."""
        del ctx
        with formatter.section("Commands"):
            formatter.write_dl([(name, summary) for name, (_, summary) in self.commands_at.items()])
