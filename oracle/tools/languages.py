"""Programming languages by the extensions of their files."""

from pathlib import PurePosixPath

from bt_runtime.text import near
from oracle.tools.errors import ToolError
from oracle.tools.suggest import did_you_mean

LANGUAGES: dict[str, tuple[str, ...]] = {
    "python": ("py", "pyi", "pyx"),
    "javascript": ("js", "jsx", "mjs", "cjs"),
    "typescript": ("ts", "tsx", "mts", "cts"),
    "java": ("java",),
    "kotlin": ("kt", "kts"),
    "scala": ("scala", "sc"),
    "go": ("go",),
    "rust": ("rs",),
    "c": ("c", "h"),
    "cpp": ("cpp", "cc", "cxx", "hpp", "hh", "hxx", "h"),
    "csharp": ("cs",),
    "ruby": ("rb", "rake"),
    "php": ("php",),
    "swift": ("swift",),
    "elixir": ("ex", "exs"),
    "haskell": ("hs",),
    "lua": ("lua",),
    "dart": ("dart",),
    "shell": ("sh", "bash", "zsh"),
    "sql": ("sql",),
    "html": ("html", "htm"),
    "css": ("css", "scss", "sass", "less"),
    "vue": ("vue",),
    "svelte": ("svelte",),
    "yaml": ("yaml", "yml"),
    "json": ("json", "jsonc", "json5"),
    "toml": ("toml",),
    "markdown": ("md", "mdx", "markdown"),
}
_ALIASES = {"c++": "cpp", "c#": "csharp", "golang": "go", "bash": "shell", "node": "javascript", "react": "javascript"}


def extensions_of(language: str) -> tuple[str, ...]:
    """The file name extensions of a language, given by name, alias or extension.

    Raises:
        ToolError: it is unknown; the message lists the known ones.
    """
    wanted = language.strip().casefold().removeprefix("*").removeprefix(".")
    wanted = _ALIASES.get(wanted, wanted)
    if wanted in LANGUAGES:
        return LANGUAGES[wanted]
    for extensions in LANGUAGES.values():
        if wanted in extensions:
            return extensions
    hint = did_you_mean(near(wanted, LANGUAGES))
    raise ToolError(f"there is no language {language[:80]!r}.{hint} Known: {', '.join(LANGUAGES)}.")


def extension(path: str) -> str:
    """`py` for `a/b.PY`."""
    return PurePosixPath(path).suffix.removeprefix(".").casefold()
