"""Help that lists the settings."""

import click

from oracle.settings import settings_table


class CommandWithSettings(click.Command):
    """A command whose help ends with a table of all settings."""

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the table of settings."""
        super().format_epilog(ctx, formatter)
        with formatter.section("Settings (environment variables, also from a file .env in the working folder)"):
            formatter.write_dl(
                [
                    (row.name, f"{row.meaning}{f' [default: {row.default}]' if row.default else ''}")
                    for row in settings_table()
                ]
            )
