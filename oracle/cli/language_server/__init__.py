"""The language server of tree files: the protocol's side of `oracle.authoring.editing`.

Only this package imports pygls, and only `oracle trees lsp` imports this package.
"""
