"""The language server of tree files: the protocol's side of `oracle.features.editing`.

Only this package imports pygls, and only `oracle trees lsp` imports more of it than its name.
"""

from oracle.core.features import Feature

FEATURE = Feature(
    name="language-server",
    summary="Serves editors of tree files: mistakes, completion, descriptions, rename and fixes.",
    needs=("editing",),
    commands={
        "trees lsp": (
            "oracle.features.language_server.command:lsp",
            "Serve an editor with the Language Server Protocol.",
        )
    },
)
