"""Groups of commands that know what a misspelt one was meant to be."""

from typing import Any

import click

from bt_runtime.text import did_you_mean


class SuggestingGroup(click.Group):
    """A group that names the nearest command where there is none of the name given."""

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[Any, Any, list[str]]:
        """The command that the arguments begin with.

        Raises:
            click.UsageError: there is none.
        """
        known = self.list_commands(ctx)
        hint = did_you_mean(args[0], known)
        if hint and args[0] not in known:
            ctx.fail(f"No such command {args[0]!r}; {hint}")
        return super().resolve_command(ctx, args)
