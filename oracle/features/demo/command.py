"""`oracle demo`: serves the recorded runs from a temporary folder."""

import os
import signal
import sys
import tempfile
from pathlib import Path

import click

from oracle.core.loading import imported


@click.command("demo")
@click.option(
    "--port", default=0, type=click.IntRange(0, 65535), help="The port to listen on; the default is a free one."
)
@click.option("--no-open", is_flag=True, help="Do not open a browser.")
def demo(*, port: int, no_open: bool) -> int:
    """Show the console with ten recorded runs of a small project.

    Needs no key and no network: the offline model answers. All data is in a temporary folder, which is removed at the
    end. Settings in the environment and in a file .env do not apply.

    \b
    Exit codes:
      0    stopped on request
      1    cannot start: the port or the temporary folder cannot be used
    """  # noqa: D301  click's mark for lines that are not rewrapped
    for name in [*os.environ]:
        if name.startswith(("ORACLE_", "ANTHROPIC_")):
            del os.environ[name]
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))  # until the service has a handler of its own
    if signal.getsignal(signal.SIGHUP) is signal.SIG_DFL:  # the terminal is closed; under nohup it is ignored
        signal.signal(signal.SIGHUP, lambda *_: signal.raise_signal(signal.SIGTERM))
    with tempfile.TemporaryDirectory(prefix="oracle-demo-") as folder:
        return int(imported("oracle.features.demo.serving:serve")(Path(folder), port=port, opens=not no_open))
