"""The groups of commands: they suggest a name for a misspelt one, and import a command when it is called."""

from collections.abc import Mapping
from typing import Any, Final, cast

import click

from bt_runtime.text import did_you_mean
from oracle.core.features import chosen_features, features
from oracle.core.loading import imported


class SuggestingGroup(click.Group):
    """A group that suggests the closest command if there is none of the given name."""

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[Any, Any, list[str]]:
        """The command named by the first argument; an unknown one is a `click.UsageError`."""
        known = self.list_commands(ctx)
        if args[0] not in known and not args[0].startswith("-"):
            hint = did_you_mean(args[0], known) or f"there are {', '.join(known)}"
            ctx.fail(f"No such command {args[0]!r}; {hint}")
        return super().resolve_command(ctx, args)


class LazyGroup(SuggestingGroup):
    """A group that imports a command when it is called; its own help imports none.

    Args:
        commands_at: by name, in the order of the help: where the command is (`module:attribute`), and its summary.
        of_features: the commands of features that begin so are further ones, such as `trees ` or, for all that are one
            word, nothing; `None`: there are none.
        **attributes: those of a `click.Group`.
    """

    def __init__(
        self,
        *,
        commands_at: Mapping[str, tuple[str, str]],
        of_features: str | None = None,
        **attributes: Any,  # noqa: ANN401
    ) -> None:
        super().__init__(**attributes)
        self._own = commands_at
        self._of_features = of_features

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of the commands."""
        del ctx
        return list(self._commands())

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the command of that name; `None` if there is none."""
        del ctx
        found = self._own.get(cmd_name) or self._commands().get(cmd_name)
        if found is None:
            return None
        if not found[0]:  # only features have commands behind this word
            below = f"{self._of_features}{cmd_name} "
            return LazyGroup(name=cmd_name, help=found[1], commands_at={}, of_features=below)
        return cast("click.Command", imported(found[0]))

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[Any, Any, list[str]]:
        """The command named by the first argument; a command of the kernel is found without a look at the features."""
        if args[0] in self._own:
            return args[0], self.get_command(ctx, args[0]), args[1:]
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands with their summaries."""
        del ctx
        with formatter.section("Commands"):
            formatter.write_dl([(name, summary) for name, (_, summary) in self._commands().items()])

    def _commands(self) -> Mapping[str, tuple[str, str]]:
        """The commands of this group, and behind them those of the features that are not left out."""
        if self._of_features is None:
            return self._own
        further = dict(self._own)
        for feature in features(chosen_features()):
            for path, place in feature.commands.items():
                name, _, rest = path.removeprefix(self._of_features).partition(" ")
                if path.startswith(self._of_features) and not (rest and name in further):
                    further[name] = ("", place[1]) if rest else place
        return further


_TREES: Final[Mapping[str, tuple[str, str]]] = {
    "init": ("oracle.cli.trees:init", "Copy the shipped trees to DIR for editing."),
    "list": ("oracle.cli.trees:list_", "Print the file that provides each tree."),
    "show": ("oracle.cli.trees:show", "Print a picture of the tree NAME, or of a tree file."),
    "check": ("oracle.cli.trees:check", "Check tree files or folders of tree files."),
    "compare": ("oracle.cli.tree_compare:compare_", "Replay the latest recorded runs on two trees."),
    "schema": ("oracle.cli.trees:schema", "Print the JSON Schema of tree files for editors."),
}


@click.group("trees", cls=LazyGroup, commands_at=_TREES, of_features="trees ", no_args_is_help=True)
def trees() -> None:
    """Check, test and compare trees; copy, list and show them."""


_RUNS: Final[Mapping[str, tuple[str, str]]] = {
    "list": ("oracle.cli.run_list:list_", "List recorded runs, newest first."),
    "show": ("oracle.cli.run_show:show", "Show what happened in a run, tick by tick, and why."),
    "watch": ("oracle.cli.run_watch:watch", "Watch a run until it ends."),
    "replay": ("oracle.cli.run_replay:replay", "Replay a recorded run on its own tree or on another one."),
    "verify": ("oracle.cli.run_replay:verify", "Before a deploy, replay the parked runs on this version."),
    "diff": ("oracle.cli.run_diff:diff", "Compare two recorded runs: where they differ, and why."),
    "export": ("oracle.cli.run_export:export", "Export a recorded run as JSON, a picture or a page."),
    "import": ("oracle.cli.run_export:import_", "Import an exported run of another installation."),
}


@click.group("runs", cls=LazyGroup, commands_at=_RUNS, of_features="runs ", no_args_is_help=True)
def runs() -> None:
    """Look at recorded runs, also while a service is running."""
