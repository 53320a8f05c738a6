"""The groups of commands: they suggest a name for a misspelt one, and import a command when it is called."""

from collections.abc import Mapping
from typing import Any, Final, cast

import click

from bt_runtime.text import did_you_mean
from oracle.core.loading import imported


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
        return cast("click.Command", imported(self.commands_at[cmd_name][0]))

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands with their summaries."""
        del ctx
        with formatter.section("Commands"):
            formatter.write_dl([(name, summary) for name, (_, summary) in self.commands_at.items()])


_TREES: Final[Mapping[str, tuple[str, str]]] = {
    "init": ("oracle.cli.tree_folders:init", "Copy the shipped trees to DIR, for editing."),
    "list": ("oracle.cli.tree_folders:list_", "Print the file that serves each tree name."),
    "show": ("oracle.cli.tree_show:show", "Print a picture of the tree NAME, or of a tree file."),
    "check": ("oracle.cli.tree_check:check", "Check tree files, or all tree files of folders."),
    "verify": ("oracle.cli.tree_verify:verify_", "Explore all behaviours of trees; prove or refute properties."),
    "test": ("oracle.cli.tree_tests:test", "Play scenario files, without network and without waiting."),
    "compare": ("oracle.cli.tree_compare:compare_", "Replay the latest recorded queries on two trees."),
    "judge": ("oracle.cli.tree_judge:judge", "Judge the recorded queries of the tree NAME by its rules."),
    "lsp": ("oracle.cli.lsp:lsp", "Serve an editor with the Language Server Protocol."),
    "schema": ("oracle.cli.tree_show:schema", "Print the JSON Schema of tree files, for editors."),
}


@click.group("trees", cls=LazyGroup, commands_at=_TREES, no_args_is_help=True)
def trees() -> None:
    """Check, test and compare trees; copy, list and show them."""


_RUNS: Final[Mapping[str, tuple[str, str]]] = {
    "list": ("oracle.cli.run_list:list_", "List recorded runs, newest first."),
    "show": ("oracle.cli.run_show:show", "Show what happened in a run, tick by tick, and why."),
    "watch": ("oracle.cli.run_watch:watch", "Watch a run until it ends."),
    "replay": ("oracle.cli.run_replay:replay", "Play a recorded run again, on its own tree or on another one."),
    "diff": ("oracle.cli.run_diff:diff", "Compare two recorded runs: where they part, and why."),
    "export": ("oracle.cli.run_export:export", "Write a recorded run as JSON, a picture, or a page."),
    "import": ("oracle.cli.run_import:import_", "Keep an exported run of another installation, to look at."),
    "scenario": ("oracle.cli.run_scenario:scenario", "Turn a recorded run into a scenario file."),
}


@click.group("runs", cls=LazyGroup, commands_at=_RUNS, no_args_is_help=True)
def runs() -> None:
    """Look at recorded runs, also while a service is running."""


_SHADOW: Final[Mapping[str, tuple[str, str]]] = {
    "report": ("oracle.cli.shadow_report:report", "Say whether two controls agree, and what each one needs."),
}


@click.group("shadow", cls=LazyGroup, commands_at=_SHADOW, no_args_is_help=True)
def shadow() -> None:
    """Compare the control that answers users with the one that runs beside it."""
