"""Which files of a project the tools see: as git has it, without git."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from oracle.tools import ToolRegistry, project_tools
from oracle.tools.code_files import is_listed, list_project

Write = Callable[..., Path]


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user without own settings for git."""
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    return folder


def git(folder: Path, *arguments: str) -> str:
    who = ["-c", "user.name=a", "-c", "user.email=a@example.com"]
    return subprocess.run(
        ["git", *who, "-C", str(folder), *arguments], check=True, capture_output=True, text=True
    ).stdout


def repository(folder: Path, files: dict[str, str]) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    git(folder, "init", "-q")
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    return folder


def listed(folder: Path) -> list[str]:
    return [file.path for file in list_project(folder).files]


def listed_by_git(folder: Path) -> list[str]:
    return sorted(filter(None, git(folder, "ls-files", "-co", "--exclude-standard", "-z").split("\0")))


# --- nothing of a project is executed ---------------------------------------------------------------------------------


def trap(tmp_path: Path) -> tuple[str, Path]:
    """A program, and the file that it leaves when it is run."""
    marker = tmp_path / "ran"
    script = tmp_path / "trap"
    script.write_text(f"#!/bin/sh\ntouch '{marker}'\nexit 1\n")
    script.chmod(0o755)
    return str(script), marker


def partial_clone_with_a_missing_tree(folder: Path, program: str) -> None:
    """One in which `git ls-files` fetches, by a program that the clone's own configuration names."""
    repository(folder, {"kept/a.py": "x = 1\n", "missing/b.py": "y = 2\n", "top.py": "needle = 3\n"})
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "first")
    git(folder, "sparse-checkout", "set", "--cone", "--sparse-index", "kept")
    tree = git(folder, "rev-parse", "HEAD:missing").strip()
    (folder / ".git/objects" / tree[:2] / tree[2:]).unlink()
    for name, value in {
        "core.repositoryFormatVersion": "1",
        "extensions.partialClone": "origin",
        "remote.origin.promisor": "true",
        "remote.origin.url": f"file://{folder}",
        "remote.origin.uploadpack": program,
    }.items():
        git(folder, "config", name, value)


def fsmonitor(folder: Path, program: str) -> None:
    repository(folder, {"top.py": "needle = 3\n"})
    git(folder, "add", "-A")
    git(folder, "config", "core.fsmonitor", program)


def hooks_filters_and_ssh(folder: Path, program: str) -> None:
    repository(folder, {"top.py": "needle = 3\n", ".gitattributes": "* filter=evil diff=evil\n"})
    git(folder, "add", "-A")
    for hook in ("post-index-change", "post-checkout", "pre-auto-gc", "fsmonitor-watchman"):
        (folder / ".git/hooks").mkdir(exist_ok=True)
        (folder / ".git/hooks" / hook).symlink_to(program)
    names = ["filter.evil.clean", "filter.evil.process", "diff.evil.textconv", "core.sshCommand", "core.pager"]
    for name in [*names, "core.gitProxy", "core.askPass", "credential.helper", "alias.ls-files"]:
        git(folder, "config", name, program)
    git(folder, "config", "core.worktree", "/")


@pytest.mark.parametrize("prepare", [partial_clone_with_a_missing_tree, fsmonitor, hooks_filters_and_ssh])
async def test_a_project_runs_no_program_when_it_is_searched_listed_and_read(
    tmp_path: Path, prepare: Callable[[Path, str], None]
) -> None:
    program, marker = trap(tmp_path)
    project = tmp_path / "project"
    prepare(project, program)
    marker.unlink(missing_ok=True)
    tools = ToolRegistry(project_tools(project))
    found = await tools.call("search_code", {"query": "needle"})
    await tools.call("list_files", {})
    await tools.call("read_file", {"path": "top.py"})
    assert [source.path for source in found.sources] == ["top.py"]
    assert not marker.exists()


@pytest.mark.parametrize("prepare", [partial_clone_with_a_missing_tree, fsmonitor])
def test_git_itself_would_run_the_programs(tmp_path: Path, prepare: Callable[[Path, str], None]) -> None:
    program, marker = trap(tmp_path)
    prepare(tmp_path / "project", program)
    marker.unlink(missing_ok=True)
    subprocess.run(["git", "-C", str(tmp_path / "project"), "ls-files", "-co"], check=False, capture_output=True)
    assert marker.exists()


async def test_git_itself_is_never_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project = repository(tmp_path / "project", {"a.py": "needle\n"})
    program, marker = trap(tmp_path)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/git").symlink_to(program)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
    await ToolRegistry(project_tools(project)).call("search_code", {"query": "needle"})
    assert not marker.exists()


# --- as git has it ----------------------------------------------------------------------------------------------------

_NAMES = st.sampled_from(["a", "b", "ab", "abc", "b.c", "-a", "c]", "a b", "[a]", "!a", "#b", "B"])
_PIECES = st.sampled_from(
    [
        *["a", "b", "c", ".", "-", "]", "!", "#", " ", "/", "\\a", "\\*", "\\ ", "\\"],
        *["*", "**", "?", "/**/", "**/", "/**", "[a", "[ab]", "[!a]", "[^b]", "[a-c]", "[]a]", "[[:alpha:]]"],
        *["[[:no:]]", "[a-]", "[--a]", "[\\]a]", "[a/b]"],
    ]
)
_GLOBS = _NAMES | st.lists(_PIECES, min_size=1, max_size=5).map("".join)
_PATTERNS = st.builds(
    "{}{}{}{}{}".format,
    st.sampled_from(["", "", "!"]),
    st.sampled_from(["", "", "/", "a/", "b/"]),
    _GLOBS,
    st.sampled_from(["", "", "/"]),
    st.sampled_from(["", "", " ", "\r"]),
)
_PATHS = st.lists(_NAMES, min_size=1, max_size=4).map("/".join)


@st.composite
def work_trees(draw: st.DrawFn) -> tuple[list[str], dict[str, list[str]], list[str]]:
    """Paths of files; ignore files by folder; which paths are tracked."""
    paths: list[str] = []
    for path in draw(st.lists(_PATHS, min_size=1, max_size=10, unique=True)):
        if not any(path.startswith(f"{each}/") or each.startswith(f"{path}/") for each in paths):
            paths.append(path)
    folders = sorted({str(folder) for path in paths for folder in Path(path).parents})
    ignore_files = draw(
        st.dictionaries(st.sampled_from([*folders, ".git/info"]), st.lists(_PATTERNS, min_size=1, max_size=4))
    )
    return paths, ignore_files, draw(st.lists(st.sampled_from(paths), unique=True))


@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture],
    max_examples=settings().max_examples * 2 // 5,
    deadline=None,
)
@given(work_tree=work_trees(), version=st.sampled_from("24"))
def test_the_list_equals_that_of_git(
    tmp_path_factory: pytest.TempPathFactory,
    work_tree: tuple[list[str], dict[str, list[str]], list[str]],
    version: str,
) -> None:
    paths, ignore_files, tracked = work_tree
    top = repository(tmp_path_factory.mktemp("project"), dict.fromkeys(paths, "x"))
    for folder, patterns in ignore_files.items():
        name = "exclude" if folder == ".git/info" else ".gitignore"
        (top / folder).mkdir(exist_ok=True)
        (top / folder / name).write_text("\n".join(patterns) + "\n")
    git(top, "update-index", "--index-version", version)
    for path in tracked:
        git(top, "--literal-pathspecs", "add", "-f", "--", path)
    found = listed(top)
    assert found == listed_by_git(top)
    assert [path for path in sorted(paths) if is_listed(top, path)] == [path for path in found if path in paths]


def test_a_tracked_file_is_listed_even_if_a_pattern_matches_it(tmp_path: Path) -> None:
    project = repository(tmp_path / "project", {"build/kept.py": "", "build/other.py": "", "notes.log": ""})
    git(project, "add", "-A")
    git(project, "rm", "-q", "--cached", "build/other.py")
    (project / ".gitignore").write_text("build/\n*.log\n")
    assert listed(project) == [".gitignore", "build/kept.py", "notes.log"] == listed_by_git(project)


def test_an_index_with_sha256_hashes_is_read(tmp_path: Path) -> None:
    project = tmp_path / "project"
    subprocess.run(["git", "init", "-q", "--object-format=sha256", str(project)], check=True)
    (project / "a.log").write_text("")
    (project / ".gitignore").write_text("*.log\n")
    git(project, "add", "-f", "a.log")
    assert listed(project) == [".gitignore", "a.log"]


@pytest.mark.parametrize(
    "index",
    [
        b"",
        b"DIRC",
        b"DIRC\0\0\0\x02\xff\xff\xff\xff",
        b"DIRC\0\0\0\x02\0\0\0\x09" + b"\xff" * 400,
        b"DIRC\0\0\0\x04\0\0\0\x09" + b"\0" * 62 + b"\xff" * 400,
        b"DIRC\0\0\0\x04\0\0\x27\x10" + b"\0" * 63 + b"a" * 4_000 + (b"\0" * 63 + b"a" * 4_000) * 20,
    ],
    ids=["empty", "short", "endless", "nonsense", "endless number", "names that grow"],
)
def test_a_damaged_index_tracks_nothing(tmp_path: Path, index: bytes) -> None:
    project = repository(tmp_path / "project", {"a.py": "", "a.log": "", ".gitignore": "*.log\n"})
    (project / ".git/index").write_bytes(index)
    assert listed(project) == [".gitignore", "a.py"]


def test_paths_in_an_index_are_never_opened(tmp_path: Path) -> None:
    project = repository(tmp_path / "project", {".gitignore": "linked\n", "real/a.py": "", "secret": "", "b.py": ""})
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/a.py").write_text("")
    git(project, "add", "-f", "real/a.py", "b.py")
    data = (project / ".git/index").read_bytes()
    for path in (b"link/a.py", b"/etc/motd"):
        (project / ".git/index").write_bytes(data.replace(b"real/a.py", path))
        (project / "link").unlink(missing_ok=True)
        (project / "link").symlink_to(tmp_path / "outside")
        assert listed(project) == [".gitignore", "b.py", "real/a.py", "secret"]
        assert not is_listed(project, "link/a.py")


def test_a_linked_work_tree_follows_the_shared_rules(tmp_path: Path) -> None:
    main = repository(tmp_path / "main", {"a.py": "", "kept.log": ""})
    git(main, "add", "-A")
    git(main, "commit", "-q", "-m", "first")
    (main / ".git/info/exclude").write_text("*.log\n")
    git(main, "worktree", "add", "-q", str(tmp_path / "second"))
    (tmp_path / "second/dropped.log").write_text("")
    assert listed(tmp_path / "second") == ["a.py", "kept.log"] == listed_by_git(tmp_path / "second")


def test_a_nested_repository_follows_its_own_rules(tmp_path: Path) -> None:
    project = repository(tmp_path / "project", {".gitignore": "*.txt\nignored/\n", "a.txt": "", "a.py": ""})
    repository(project / "inner", {".gitignore": "*.py\n", "b.txt": "", "b.py": ""})
    repository(project / "ignored", {"c.py": ""})
    assert listed(project) == [".gitignore", "a.py", "inner/.gitignore", "inner/b.txt"]


def test_a_submodule_is_listed_even_if_a_pattern_matches_it(tmp_path: Path) -> None:
    part = repository(tmp_path / "part", {"b.py": "", "b.log": "", ".gitignore": "*.log\n"})
    git(part, "add", "-A")
    git(part, "commit", "-q", "-m", "first")
    project = repository(tmp_path / "project", {"a.py": ""})
    git(project, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(part), "part")
    (project / ".gitignore").write_text("part\n")
    (project / "part/new.log").write_text("")
    assert listed(project) == [".gitignore", ".gitmodules", "a.py", "part/.gitignore", "part/b.py"]


def test_a_project_inside_a_repository_follows_its_rules(tmp_path: Path) -> None:
    top = repository(tmp_path / "top", {".gitignore": "/sub/x.py\n*.log\n", "sub/x.py": "", "sub/y.py": ""})
    for path in ("sub/z.log", "other.py", "sub/deep/x.py"):
        (top / path).parent.mkdir(exist_ok=True)
        (top / path).write_text("")
    assert listed(top / "sub") == ["deep/x.py", "y.py"] == listed_by_git(top / "sub")
    assert not is_listed(top / "sub", "x.py")


def test_a_project_that_is_ignored_by_its_repository_follows_no_rules(tmp_path: Path) -> None:
    top = repository(tmp_path / "top", {".gitignore": "*\n", "sub/x.py": "", "sub/build/y.py": ""})
    assert listed(top / "sub") == ["x.py"]


def test_an_ignore_file_applies_outside_of_git_as_well(tmp_path: Path, write: Write) -> None:
    write("project/.gitignore", "credentials.txt\n")
    write("project/credentials.txt", "")
    write("project/a.py", "")
    assert listed(tmp_path / "project") == [".gitignore", "a.py"]


@pytest.mark.parametrize(
    ("config", "file"),
    [
        (None, "home/.config/git/ignore"),
        ("[user]\n\tname = a\n[core]\n\texcludesFile = ~/mine\n", "home/mine"),
        ('[core "x"]\nexcludesfile = no\n[CORE]\n  excludesfile = "~/mine"\n', "home/mine"),
    ],
    ids=["where git looks", "where the settings say", "in other letters"],
)
def test_the_users_global_excludes_apply(
    tmp_path: Path, home: Path, write: Write, config: str | None, file: str
) -> None:
    project = repository(tmp_path / "project", {"a.py": "", "mine.txt": "", "kept.txt": "", ".gitignore": "!kept.txt"})
    if config is not None:
        (home / ".gitconfig").write_text(config)
    write(file, "*.txt\n")
    assert listed(project) == [".gitignore", "a.py", "kept.txt"] == listed_by_git(project)


# --- hostile input ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "place", [".gitignore", "deep/.gitignore", ".git/info/exclude", ".git/index", ".git/commondir"]
)
@pytest.mark.parametrize("kind", ["pipe", "device", "folder", "link to a device"])
async def test_only_regular_files_are_opened(tmp_path: Path, place: str, kind: str) -> None:
    project = repository(tmp_path / "project", {"deep/a.py": "needle\n"})
    (project / place).unlink(missing_ok=True)
    if kind == "pipe":
        os.mkfifo(project / place)  # opening one for reading waits for a writer
    elif kind == "folder":
        (project / place).mkdir()
    elif kind == "link to a device" or os.geteuid() != 0:
        (project / place).symlink_to("/dev/zero")
    else:
        os.mknod(project / place, 0o20666, os.makedev(1, 5))
    assert listed(project) == ["deep/a.py"]
    found = await ToolRegistry(project_tools(project)).call("search_code", {"query": "needle"})
    assert [source.path for source in found.sources] == ["deep/a.py"]


@pytest.mark.long("patterns that would never end if they were read backwards")
@pytest.mark.parametrize(
    "patterns",
    [
        "*a" * 400 + "b",
        "**/" + "*a*/**/" * 100 + "b",
        "a/" + "**/a/" * 200 + "b",
        "\n".join("*a" * 20 + f"{number}b" for number in range(20_000)),
        "\n".join(f"x{number}" for number in range(200_000)),
        "\n".join(f"*.{number}" for number in range(200_000)),
        "[" * 900,
        "?" * 900 + "*" * 90,
    ],
    ids=["stars", "folders", "names", "many globs", "many names", "many endings", "brackets", "signs"],
)
def test_hostile_ignore_patterns_take_bounded_time(tmp_path: Path, patterns: str) -> None:
    deep = "/".join(["a" * 200] * 15)
    project = repository(tmp_path / "project", {f"{deep}/{'a' * 250}": "", ".gitignore": patterns})
    assert listed(project)[0] == ".gitignore"


def test_a_listing_that_times_out_is_incomplete(tmp_path: Path) -> None:
    project = repository(tmp_path / "project", {f"{number:02}/a.py": "" for number in range(20)})
    seconds = iter(range(1_000))
    listing = list_project(project, clock=lambda: float(next(seconds)))
    assert not listing.is_complete
    assert 0 < len(listing.files) < 20


# --- reading goes by the same list ------------------------------------------------------------------------------------


@pytest.mark.parametrize("is_git", [True, False], ids=["in git", "outside git"])
@pytest.mark.parametrize(
    "path", ["local_settings.py", "link.py", "keys/dump.txt", "linked/dump.txt", "tool/.git/info/exclude"]
)
async def test_a_file_that_is_not_listed_cannot_be_read(tmp_path: Path, write: Write, path: str, is_git: bool) -> None:
    write("project/.gitignore", "local_settings.py\nkeys/\ntool/\n")
    write("project/local_settings.py", "PASSWORD = 'x-secret'\n")
    write("project/keys/dump.txt", "x-secret\n")
    write("project/tool/.git/info/exclude", "x-secret\n")
    (tmp_path / "project/link.py").symlink_to("local_settings.py")
    (tmp_path / "project/linked").symlink_to("keys")
    if is_git:
        git(tmp_path / "project", "init", "-q")
    result = await ToolRegistry(project_tools(tmp_path / "project")).call("read_file", {"path": path})
    assert result.is_error
    assert "is not shown" in result.text
    assert "x-secret" not in result.text


async def test_a_link_to_a_file_that_is_listed_can_be_read(tmp_path: Path) -> None:
    project = repository(tmp_path / "project", {"docs/README.md": "hello\n"})
    (project / "README.md").symlink_to("docs/README.md")
    assert "hello" in (await ToolRegistry(project_tools(project)).call("read_file", {"path": "README.md"})).text
