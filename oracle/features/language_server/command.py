"""`oracle trees lsp`: the language server of tree files, for editors."""

import os
import sys
from typing import BinaryIO

import click

from oracle.cli.setup import settings_for
from oracle.core.loading import collector_paused


@click.command("lsp")
def lsp() -> int:
    """Speak the Language Server Protocol on standard input and output, for an editor.

    An editor starts this command. It then shows mistakes while you type, completes and explains names, finds
    definitions and uses, and offers fixes and renames. Subtrees are searched in a file's own folder, then in
    ORACLE_TREES_DIR, in the folders that the editor has opened, and among the shipped trees. Texts that are not saved
    yet count. docs/watching.md has the setup for VS Code, Neovim and Zed.

    \b
    Exit codes:
      0  the editor has shut the server down
      1  the editor has ended without doing so
    """  # noqa: D301  click's mark for lines that are not rewrapped
    output = _take_standard_output()
    settings = settings_for()
    with collector_paused():
        from oracle.features.editing.desk import editing_desk  # noqa: PLC0415
        from oracle.features.language_server.server import serve  # noqa: PLC0415  its library is large

        desk = editing_desk(settings)
    return serve(desk, input_=sys.stdin.buffer, output=output)


def _take_standard_output() -> BinaryIO:
    """Standard output for the protocol alone: whatever else writes there goes to standard error from now on."""
    sys.stdout.flush()
    protocol = os.fdopen(os.dup(sys.stdout.fileno()), "wb", buffering=0)
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    return protocol
