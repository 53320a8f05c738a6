"""Groups of commands that suggest a name for a misspelt one."""

from typing import Any

import click

from bt_runtime.text import did_you_mean


class SuggestingGroup(click.Group):
    """A group that suggests the closest command if there is none of the given name."""

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[Any, Any, list[str]]:
        """The command named by the first argument; an unknown one is a `click.UsageError`."""
        known = self.list_commands(ctx)
        hint = did_you_mean(args[0], known)
        if hint and args[0] not in known:
            ctx.fail(f"No such command {args[0]!r}; {hint}")
        return super().resolve_command(ctx, args)
