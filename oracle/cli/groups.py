"""Groups of commands that know what a misspelt one was meant to be."""

import difflib
from typing import Any

import click


class SuggestingGroup(click.Group):
    """A group that names the nearest command where there is none of the name given."""

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[Any, Any, list[str]]:
        """The command that the arguments begin with.

        Raises:
            click.UsageError: there is none.
        """
        known = self.list_commands(ctx)
        near = difflib.get_close_matches(args[0], known, n=1)
        if near and args[0] not in known:
            ctx.fail(f"No such command {args[0]!r}; did you mean {near[0]!r}?")
        return super().resolve_command(ctx, args)
