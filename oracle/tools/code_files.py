"""Which files of a project there are for the tools, and in which languages.

Inside a git work tree it is what git lists: tracked files and untracked ones that are not ignored. Elsewhere everything
but hidden folders, virtual environments, dependencies and build results. Never links, and never files of secrets:
what a tool reads goes to a model's provider.
"""

import os
import re
import shutil
import stat
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath

from oracle.tools.errors import ToolError
from oracle.tools.suggest import did_you_mean, near
from oracle.tools.workers import check_cancelled

MAX_FILES = 20_000
_GIT_TIMEOUT_S = 10.0
_SKIPPED_FOLDERS = frozenset(
    {"node_modules", "__pycache__", "site-packages", "venv", "env", "dist", "build", "target", "out", "coverage"}
    | {"bower_components", "htmlcov"}
)
_SHOWN_HIDDEN_FOLDERS = frozenset({".github", ".gitlab", ".circleci"})
_SECRET_FOLDERS = frozenset({".git", ".hg", ".svn", ".ssh", ".aws", ".gnupg"})
_SECRET_FILES = (
    *(".env", ".env.*", "*.env", ".netrc", ".pgpass", ".pypirc", ".npmrc", ".git-credentials", ".htpasswd"),
    *("id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", "*.pem", "*.key", "*.p12", "*.pfx", "*.jks", "*.keystore"),
)
_HARMLESS = re.compile(r"(example|sample|template|dist|defaults?)$")

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


@dataclass(frozen=True, slots=True)
class ProjectFile:
    """A regular file: its path below the root, in `/`, and its size in bytes."""

    path: str
    size: int


@dataclass(frozen=True, slots=True)
class Listing:
    """The files of a project, in order; `is_complete` is false where there are more than `MAX_FILES`."""

    files: tuple[ProjectFile, ...]
    is_complete: bool


def list_project(root: Path, *, private: Sequence[str] = ()) -> Listing:
    """All files that the tools may show.

    Args:
        root: the project.
        private: files and folders below it, as `is_private` takes them, that are no part of the project.
    """
    files: list[ProjectFile] = []
    paths = _git_paths(root)
    for path in _walk(root, "") if paths is None else _with_nested(root, paths):
        if len(files) >= MAX_FILES:
            return Listing(tuple(files), is_complete=False)
        size = None if is_secret(path) or is_private(path, private) else _regular_size(root, path)
        if size is not None:
            files.append(ProjectFile(path, size))
    return Listing(tuple(sorted(files, key=lambda file: file.path)), is_complete=True)


def is_private(path: str, private: Sequence[str]) -> bool:
    """Whether the path is one of those, or below one. Case is ignored, as some file systems do."""
    folded = path.casefold()
    return any(folded == each or folded.startswith(f"{each}/") for each in private)


def private_below(root: Path, paths: Iterable[Path]) -> tuple[str, ...]:
    """Those of the paths that lie below the root, in the form that `is_private` compares with."""
    real = (Path(os.path.realpath(path)) for path in paths)
    inside = (path.relative_to(root) for path in real if path != root and path.is_relative_to(root))
    return tuple(path.as_posix().casefold() for path in inside)


def is_secret(path: str) -> bool:
    """Whether the name says that the file holds credentials, or is a version control system's own."""
    *folders, name = path.casefold().split("/")
    if not _SECRET_FOLDERS.isdisjoint([*folders, name]):
        return True
    return any(fnmatchcase(name, pattern) for pattern in _SECRET_FILES) and not _HARMLESS.search(name)


def extensions_of(language: str) -> tuple[str, ...]:
    """The file name extensions of a language, given by name, alias or extension.

    Raises:
        ToolError: it is unknown; the text lists those that are known.
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


def _git_paths(root: Path) -> list[str] | None:
    """What git lists below the root, or `None` if it is no work tree or git is missing or slow.

    The repository may be anybody's: its configuration must not start programs (`core.fsmonitor`), nor may the variables
    of a git command that started this process lead to another repository.
    """
    git = shutil.which("git")
    if git is None:
        return None
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    command = [git, "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-C", str(root)]
    command += ["ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    try:
        done = subprocess.run(  # noqa: S603 - a fixed command without a shell
            command,
            env={**environment, "GIT_OPTIONAL_LOCKS": "0"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_GIT_TIMEOUT_S,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    names = (name.decode("utf-8", "surrogateescape") for name in done.stdout.split(b"\x00") if name)
    return sorted(set(names)) or None


def _with_nested(root: Path, paths: list[str]) -> Iterator[str]:
    """The paths, with the files of repositories inside the repository, which git lists as one entry each."""
    for path in paths:
        inner = path.rstrip("/")
        full = f"{root}/{inner}"  # not by pathlib: this is done for each of very many files
        if os.path.isdir(full) and not os.path.islink(full):  # noqa: PTH112, PTH114
            yield from _walk(root, inner + "/")
        else:
            yield path


def _walk(root: Path, prefix: str) -> Iterator[str]:
    folders = [prefix]
    while folders:
        check_cancelled()
        folder = folders.pop()
        try:
            entries = sorted(os.scandir(root / folder), key=lambda entry: entry.name)
        except OSError:
            continue
        for entry in entries:
            path = folder + entry.name
            if entry.is_dir(follow_symlinks=False):
                if not _is_skipped_folder(root / path, entry.name):
                    folders.append(path + "/")
            elif entry.is_file(follow_symlinks=False):
                yield path


def _is_skipped_folder(path: Path, name: str) -> bool:
    if name.startswith("."):
        return name not in _SHOWN_HIDDEN_FOLDERS
    return name in _SKIPPED_FOLDERS or name.endswith(".egg-info") or (path / "pyvenv.cfg").exists()


def _regular_size(root: Path, path: str) -> int | None:
    """The size, or `None` for what is no regular file, is gone, or has a name that JSON cannot carry."""
    try:
        path.encode()
        status = os.lstat(f"{root}/{path}")
    except (OSError, ValueError):
        return None
    return status.st_size if stat.S_ISREG(status.st_mode) else None
