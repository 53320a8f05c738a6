"""`oracle trees`: the commands for tree authors and operators, each in a module of its own."""

from collections.abc import Mapping
from typing import Final

import click

from oracle.cli.groups import LazyGroup

_COMMANDS: Final[Mapping[str, tuple[str, str]]] = {
    "init": ("oracle.cli.tree_folders:init", "Copy the shipped trees to DIR, for editing."),
    "list": ("oracle.cli.tree_folders:list_", "Print the file that serves each tree name."),
    "show": ("oracle.cli.tree_show:show", "Print a picture of the tree NAME, or of a tree file."),
    "check": ("oracle.cli.tree_check:check", "Check tree files, or all tree files of folders."),
    "verify": ("oracle.cli.tree_verify:verify_", "Explore all behaviours of trees; prove or refute properties."),
    "test": ("oracle.cli.tree_tests:test", "Play scenario files, without network and without waiting."),
    "compare": ("oracle.cli.tree_compare:compare_", "Replay the latest recorded queries on two trees."),
    "judge": ("oracle.cli.tree_judge:judge", "Judge the recorded queries of the tree NAME by its rules."),
    "lsp": ("oracle.cli.lsp:lsp", "Serve an editor with the Language Server Protocol."),
    "schema": ("oracle.cli.tree_schema:schema", "Print the JSON Schema of tree files, for editors."),
}


@click.group("trees", cls=LazyGroup, commands_at=_COMMANDS, no_args_is_help=True)
def trees() -> None:
    """Check, test and compare trees; copy, list and show them."""
