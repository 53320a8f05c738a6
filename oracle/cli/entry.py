"""The console script: loads a command, and turns its result or error into an exit code and a message."""

import atexit
import errno
import gc
import sys
from collections.abc import Mapping
from importlib import import_module
from typing import Any, Final

import click

from oracle.cli.errors import INTERRUPTED, REPORTED, CommandError
from oracle.cli.groups import LazyGroup
from oracle.cli.streams import abandon_standard_output, prepare_standard_streams
from oracle.core.features import FeatureError

_COMMANDS: Final[Mapping[str, tuple[str, str]]] = {
    "ask": ("oracle.cli.ask:ask", "Ask one question and print the answer as it arrives."),
    "serve": ("oracle.cli.serve:serve", "Answer questions over HTTP until SIGTERM or Ctrl-C."),
    "pending": ("oracle.cli.pending:pending", "List the decisions that runs wait for, and answer them."),
    "runs": ("oracle.cli.groups:runs", "Inspect recorded runs, even while a service is running."),
    "trees": ("oracle.cli.groups:trees", "Check, test and compare trees; copy, list and show them."),
    "features": ("oracle.cli.features:features_", "Print the features and what each one adds."),
    "plugins": ("oracle.cli.plugins:plugins", "Print what other packages add."),
}


class _Commands(LazyGroup):
    """The commands, with errors for people."""

    def invoke(self, ctx: click.Context) -> Any:  # noqa: ANN401  as click declares it
        """Run the command; an error that a person can act on is reported without a traceback."""
        try:
            return super().invoke(ctx)
        except (click.ClickException, click.exceptions.Exit):
            raise
        except Exception as error:
            from bt_runtime import TreeFileError, TreeNotFoundError  # noqa: PLC0415  help and version need none
            from prompts import PromptError  # noqa: PLC0415

            if isinstance(error, TreeFileError):
                raise CommandError(str(error), prefix="") from None
            if isinstance(error, (*REPORTED, TreeNotFoundError, PromptError)):
                raise CommandError(str(error)) from None
            raise


@click.group(
    "oracle",
    cls=_Commands,
    commands_at=_COMMANDS,
    of_features="",
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(package_name="oracle-bt", message="oracle %(version)s")
def cli() -> None:
    """An LLM agent whose control is a YAML behavior tree.

    \b
    oracle serve --project .
    oracle ask "How does the login work?" --project .
    oracle trees init my-trees
    oracle trees check my-trees

    `oracle serve --help` lists the settings.
    """  # noqa: D301  click's mark for lines that are not rewrapped


_HELP: Final = frozenset(("--help", "-h", "--version"))


def _load_structlog() -> None:
    """Import structlog without rich, which it imports for tracebacks that the log of a command never shows.

    Those are 70 modules, and a twentieth of the start of a service; whatever else imports rich, later, gets it.
    """
    if not {"structlog", "rich"} & sys.modules.keys():
        sys.modules["rich"] = None  # type: ignore[assignment]
        try:
            import_module("structlog")
        finally:
            del sys.modules["rich"]


def main(arguments: list[str] | None = None) -> int:
    """Run a command, by default that of the process's arguments, and return the exit code."""
    atexit.register(gc.freeze)  # spares the interpreter a last full collection at exit
    prepare_standard_streams()
    if not _HELP & {*(sys.argv if arguments is None else arguments)}:
        _load_structlog()
    try:
        code = cli.main(arguments, prog_name="oracle", standalone_mode=False)
        sys.stdout.flush()
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except FeatureError as error:  # from the help of a group, which lists the commands of the features
        CommandError(str(error)).show()
        return CommandError.exit_code
    except (click.Abort, KeyboardInterrupt):
        return INTERRUPTED + 2
    except OSError as error:
        if error.errno != errno.EPIPE:
            raise
        abandon_standard_output()
        return INTERRUPTED + 13
    return code if isinstance(code, int) else 0
