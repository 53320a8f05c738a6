"""What `oracle demo` does: fill the folder, serve, announce the address, and open a browser."""

import os
import sys
import webbrowser
from functools import partial
from pathlib import Path

import click

from oracle.core.logs import configure_logging
from oracle.features.demo.loading import fill
from oracle.server.process.process import Listening, run_service
from oracle.server.settings.reading import read_settings


def serve(folder: Path, *, port: int, opens: bool) -> int:
    """Serve the recorded runs until a signal comes, and return the exit code.

    Args:
        folder: an empty folder, for all data.
        port: 0 picks a free one.
        opens: whether a browser is opened, where there is a display.
    """
    settings = read_settings(llm="offline", encoder="off", data_dir=folder / "data", project_dir=folder / "project")
    configure_logging("error")
    fill(folder, settings.database_address)
    return run_service(settings, host="127.0.0.1", port=port, announce=partial(_announce, opens=opens))


def _announce(listening: Listening, *, opens: bool) -> None:
    click.echo(
        f"The demo is at {listening.url}\n"
        "Three things to try:\n"
        f"  1. Open {listening.url}/runs and choose a run: the tree shows why it ended as it did.\n"
        "  2. Ask in the chat: How long can a book be lent? The offline model searches the project and quotes it.\n"
        f"  3. Open {listening.url}/trees, change a limit in the tree oracle, and ask again.\n"
        "Ctrl-C ends the demo and removes its data."
    )
    if opens and (sys.platform == "darwin" or os.environ.keys() & {"DISPLAY", "WAYLAND_DISPLAY"}):
        webbrowser.open(listening.url)
