"""Makes the tools over a vault: notes and threads share the folder, the index and the worker threads."""

from collections.abc import Callable
from datetime import datetime
from functools import partial
from pathlib import Path

from oracle.tools.labels import STORED
from oracle.tools.paths import Root
from oracle.tools.protocol import Tool
from oracle.tools.schema import tool, with_excerpts
from oracle.tools.threads import ThreadTools
from oracle.tools.vault import VaultTools
from oracle.tools.vault_index import VaultIndex
from oracle.tools.workers import Workers


def vault_tools(root: Path, *, now: Callable[[], datetime]) -> tuple[Tool, ...]:
    """The tools over a vault and its threads.

    Args:
        root: its folder; if it does not exist, the vault is empty and the first write creates it.
        now: the time for entries of threads.

    Raises:
        ToolSetupError: the folder is a file or cannot be read.
    """
    folder = Root(root, label="the vault")
    if folder.path.exists():
        folder.require(setting="--vault or ORACLE_VAULT_DIR")
    index = VaultIndex(folder)
    vault = VaultTools(folder, index)
    threads = ThreadTools(folder, index, now=now)
    workers = Workers()
    make = partial(tool, workers=workers, labels=STORED)
    write = partial(tool, workers=workers, writes=True, takes_key=True, labels={"writes": "inward"})
    readable = partial(with_excerpts, read=vault.excerpt, workers=workers)
    return (
        make(
            group="vault",
            when_to_use="First for decisions, plans, meetings, conventions and anything else that was written down.",
        )(vault.vault_search),
        readable(
            make(
                group="vault",
                when_to_use="To see a note or thread that a search hit does not show whole.",
            )(vault.vault_read)
        ),
        make(
            group="vault",
            when_to_use="To see which notes there are, all or in one folder.",
        )(vault.vault_list),
        readable(
            make(
                group="thread",
                when_to_use="To see a whole thread, when its name is known or a search hit does not answer.",
            )(threads.thread_read)
        ),
        make(
            group="thread",
            when_to_use="For what was discussed or logged over time; with vault_search, the first place for past talk.",
        )(threads.thread_seek),
        write(
            group="vault",
            when_to_use="When the user asks for a note to be written or replaced; read it first if it exists.",
        )(vault.vault_write),
        write(
            group="thread",
            when_to_use="When the user asks to log, remember or add something to a thread.",
        )(threads.thread_push),
    )
