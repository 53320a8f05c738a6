"""Help that lists the settings, made from them."""

import click

from oracle.settings import settings_table


class CommandWithSettings(click.Command):
    """A command whose help ends with every setting, its default and its meaning."""

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the settings."""
        super().format_epilog(ctx, formatter)
        with formatter.section("Settings (environment variables, also from a file .env in the working folder)"):
            formatter.write_dl(
                [
                    (row.name, f"{row.meaning}{f' [default: {row.default}]' if row.default else ''}")
                    for row in settings_table()
                ]
            )
