import os
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from oracle.core.chunks import Source
from oracle.core.search import ranking
from oracle.tools import ToolRegistry, ToolSetupError, project_tools
from oracle.tools.code import CodeTools
from oracle.tools.paths import Root

REPORT = """'''Report mistakes of a tree file like a compiler.'''

def report_mistakes(file):
    ...
"""
RETRY = """def backoff_delays(attempts):
    for attempt in range(attempts):
        yield 2**attempt
"""
CLIENT = """export async function fetchInvoice(id: string) {
  return request(`/invoices/${id}`)
}
"""
MIDDLEWARE = """
'''Checks who calls.'''
class AuthMiddleware:
    def __call__(self, request):
        return self.check_token(request)
    def check_token(self, request):
        if not request.token:
            raise PermissionError("no token")
"""
FILES = {
    "service/auth/middleware.py": MIDDLEWARE,
    "service/auth/sessions.py": "def refresh_session(session):\n    session.expires = later()\n",
    "service/http/retry.py": RETRY,
    "service/http/client.ts": CLIENT,
    "service/tree/reader.py": "def read(text):\n    mistakes = collect(text)\n    return mistakes\n",
    "service/tree/report.py": REPORT,
    "service/street.py": "profile = 'street: restricted'\n",
    "tests/test_middleware.py": "def test_check_token():\n    assert check_token(request)\n",
    "README.md": "# The service\n\nAuth is done in the middleware.\n",
    "data/tokens.json": '{"token": "token token token check_token"}\n',
    "Dockerfile": "FROM python\nRUN pip install .\n",
}

NAMED_FILES = {
    "service/run_loop.py": "'''Ticks on events.'''\n\n\nclass RunLoop:\n    def tick(self):\n        self.ticks += 1\n",
    "service/kinds/loop.py": "class Loop:\n    '''Again and again; guards are ticked first.'''\n",
    "service/kinds/subtree.py": "class Subtree:\n    '''Another tree: `subtree: fallback`.'''\n",
    "trees/fallback.yaml": "tree: fallback\nroot: {sequence: [classify_response, strategies]}\n",
    "trees/scenarios/fallback.yaml": "scenarios:\n  - name: The fallback subtree is asked, and the fallback answers\n",
    "docs/naming.md": "Nodes of a subtree are named so: `fallback/give_up`. The fallback subtree has three.\n",
}


@pytest.fixture
def root(tmp_path: Path, write: Callable[..., Path]) -> Path:
    for path, text in FILES.items():
        write(f"project/{path}", text)
    return tmp_path / "project"


@pytest.fixture
def project(root: Path) -> ToolRegistry:
    return ToolRegistry(project_tools(root))


async def best(project: ToolRegistry, query: str, **arguments: object) -> list[str]:
    result = await project.call("search_code", {"query": query, **arguments})
    assert not result.is_error, result.text
    return [f"{source.path}:{source.line}" for source in result.sources]


SEARCHES = [
    pytest.param("AuthMiddleware", "service/auth/middleware.py:3", id="a class"),
    pytest.param("auth middleware", "service/auth/middleware.py:3", id="a class in words"),
    pytest.param("check_token", "service/auth/middleware.py:6", id="a definition above usages"),
    pytest.param("How are mistakes in a tree file reported?", "service/tree/report.py:3", id="a question"),
    pytest.param("fetch invoice", "service/http/client.ts:1", id="words of a camelCase name"),
    pytest.param("where do we refresh sessions", "service/auth/sessions.py:1", id="another form of a word"),
    pytest.param("yield 2**attempt", "service/http/retry.py:3", id="a literal piece of code"),
    pytest.param('"no token"', "service/auth/middleware.py:8", id="in quotes"),
    pytest.param(r"raise \w+Error\(", "service/auth/middleware.py:8", id="a regular expression"),
    pytest.param(r"def backoff.*attempts|class Nothing", "service/http/retry.py:1", id="alternatives"),
    pytest.param("dockerfile", "Dockerfile:1", id="the path alone"),
    pytest.param("explain service/http/retry.py", "service/http/retry.py:1", id="a file that is named"),
    pytest.param(
        'File "/srv/x/service/tree/reader.py", line 2, in read', "service/tree/reader.py:2", id="a stack trace's line"
    ),
    pytest.param("test check token", "tests/test_middleware.py:1", id="a test, when tests are asked for"),
]


@pytest.mark.parametrize(("query", "expected"), SEARCHES)
async def test_a_search_finds_the_right_place_first(project: ToolRegistry, query: str, expected: str) -> None:
    assert (await best(project, query))[0] == expected


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        pytest.param("How does the fallback subtree work?", "trees/fallback.yaml", id="a tree"),
        pytest.param("Where is the tick loop?", "service/run_loop.py", id="a loop that ticks, and not any loop"),
        pytest.param("Where is the loop kept?", "service/kinds/loop.py", id="a class by its whole name"),
    ],
)
async def test_a_file_that_the_words_of_a_question_name_comes_first(
    root: Path, project: ToolRegistry, write: Callable[..., Path], query: str, expected: str
) -> None:
    for path, text in NAMED_FILES.items():
        write(f"project/{path}", text)
    assert (await best(project, query))[0].partition(":")[0] == expected


async def test_words_are_not_found_inside_other_words(project: ToolRegistry) -> None:
    assert all(not place.startswith("service/street.py") for place in (await best(project, "tree file", limit=50)))


async def test_a_hit_is_shown_with_its_place_score_and_lines(project: ToolRegistry) -> None:
    result = await project.call("search_code", {"query": "backoff delays", "limit": 1})
    assert len(result.sources) == 1
    source = result.sources[0]
    assert (source.path, source.source_type, source.line) == ("service/http/retry.py", "code", 1)
    assert source.snippet == "def backoff_delays(attempts):"
    assert result.text == (
        f"service/http/retry.py:1 (score {source.score:.2f})\n"
        "> 1 | def backoff_delays(attempts):\n"
        "  2 |     for attempt in range(attempts):\n"
        "  3 |         yield 2**attempt"
    )


async def test_an_empty_result_says_what_to_try_instead(project: ToolRegistry) -> None:
    result = await project.call("search_code", {"query": "quaternion"})
    assert result.is_empty
    assert not result.is_error
    assert "Nothing in the code matches 'quaternion'" in result.text
    assert result.sources == ()


@pytest.mark.parametrize("language", ["typescript", "TypeScript", "ts", ".tsx", "*.ts"])
async def test_a_language_is_given_by_name_or_extension(project: ToolRegistry, language: str) -> None:
    assert await best(project, "request", language=language) == ["service/http/client.ts:2"]


async def test_an_unknown_language_is_an_error_that_lists_the_known_ones(project: ToolRegistry) -> None:
    result = await project.call("search_code", {"query": "x", "language": "pyton"})
    assert result.is_error
    assert result.text.startswith("there is no language 'pyton'. Did you mean 'python'? Known: python, javascript")


@pytest.mark.parametrize(("limit", "expected"), [(1, 1), (2, 2), (0, 1), (-5, 1), ("3", 3)])
async def test_the_limit_is_the_maximum_number_of_hits(project: ToolRegistry, limit: object, expected: int) -> None:
    assert len(await best(project, "token", limit=limit)) == expected


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(query=st.text(max_size=60) | st.text(alphabet=r"ab_*+?()[]{}|\^$.-'\" ", max_size=40))
async def test_any_query_gives_a_result(project: ToolRegistry, query: str) -> None:
    result = await project.call("search_code", {"query": query})
    assert result.is_error == (not query.strip() or "\x00" in query)
    result.text.encode()


async def test_symbols_and_parts_of_words_are_found_literally(
    root: Path, project: ToolRegistry, write: Callable[..., Path]
) -> None:
    write("project/-odd name.ts", "const sum = (a) => a ?? 0\n")
    write("project/latin.py", b"name = 'caf\xe9'\n")
    for query, expected in (("??", "-odd name.ts:1"), ("ackoff_del", "service/http/retry.py:1"), ("caf", "latin.py:1")):
        assert (await best(project, query))[0] == expected


async def test_a_search_sees_every_change(root: Path, project: ToolRegistry, write: Callable[..., Path]) -> None:
    assert await best(project, "zebra") == []
    write("project/new.py", "zebra = 1\n")
    assert await best(project, "zebra") == ["new.py:1"]
    write("project/new.py", "tiger = 1\n")  # the same size, within the same moment
    assert (await best(project, "zebra"), await best(project, "tiger")) == ([], ["new.py:1"])
    (root / "new.py").rename(root / "moved.py")
    assert await best(project, "tiger") == ["moved.py:1"]
    (root / "moved.py").unlink()
    assert await best(project, "tiger") == []


def test_a_search_that_times_out_says_so(root: Path) -> None:
    code = CodeTools(Root(root, label="the project"), search_timeout_s=-1)
    assert "[The time was up after 0 of 11 files" in code.search_code(query="token").text


def test_a_project_that_is_too_large_for_the_index_says_so(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ranking, "MAX_SIZE", 1)
    code = CodeTools(Root(root, label="the project"))
    assert "[Only 1 of 11 files are searched" in code.search_code(query="token").text


def make_repository(folder: Path) -> None:
    subprocess.run(["git", "init", "-q", str(folder)], check=True)


@pytest.mark.long("searches files of the greatest size")
@pytest.mark.parametrize(
    "content",
    ["\n" * 900_000, "ab" * 450_000, "a_b " * 225_000, "ab\n" * 300_000, "aB" * 450_000, "((" * 450_000],
    ids=["empty lines", "one long word", "many names", "many hits", "all humps", "brackets"],
)
async def test_a_hostile_file_is_searched_in_bounded_time(
    tmp_path: Path, write: Callable[..., Path], content: str
) -> None:
    write("project/slow_ab.py", content)
    project = ToolRegistry(project_tools(tmp_path / "project"))
    started = time.monotonic()
    for query in ("ab a_b aB b_a ba", r"(a|b)*((a|b)*)*c", "((("):
        assert not (await project.call("search_code", {"query": query})).is_error
    assert time.monotonic() - started < 20  # seconds; a search that is quadratic here takes hours


@pytest.mark.parametrize("is_git", [True, False], ids=["in git", "outside git"])
async def test_ignored_hidden_secret_binary_and_huge_files_are_not_searched(
    tmp_path: Path, write: Callable[..., Path], is_git: bool
) -> None:
    skipped = {
        "node_modules/a.js": "needle",
        "build/b.py": "needle",
        ".hidden/c.py": "needle",
        "deep/.venv/d.py": "needle",
        "__pycache__/e.py": "needle",
        ".env": "needle",
        "server.pem": "needle",
        "binary.py": b"needle\x00",
        "huge.py": b"needle " * 200_000,
    }
    for path, text in skipped.items():
        write(f"project/{path}", text)
    write("project/good.py", "needle = 1\n")
    write("project/wrong.py", b"needle = '\xff\xfe'\n")
    write("outside.py", "needle\n")
    (tmp_path / "project" / "link.py").symlink_to(tmp_path / "outside.py")
    (tmp_path / "project" / "folder").symlink_to(tmp_path)
    if is_git:
        write("project/.gitignore", "node_modules/\nbuild/\n.hidden/\n.venv/\n__pycache__/\n")
        make_repository(tmp_path / "project")
    project = ToolRegistry(project_tools(tmp_path / "project"))
    found = await best(project, "needle", limit=50)
    assert sorted(found) == ["good.py:1", "wrong.py:1"]


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("../outside.py", "has '..' in it"),
        ("/etc/passwd", "is absolute"),
        ("service/auth/midleware.py", "Did you mean 'service/auth/middleware.py'"),
        ("middleware.py", "Did you mean 'service/auth/middleware.py'"),
        ("service/auth", "is a folder; list it with list_files(path='service/auth')"),
        (".env", "holds credentials"),
        ("innocent.py", "holds credentials"),
        (".git/config", "holds credentials or belongs to version control"),
        ("binary.py", "is a binary file"),
    ],
)
async def test_a_file_that_cannot_be_read_is_an_error_that_helps(
    root: Path, write: Callable[..., Path], path: str, message: str
) -> None:
    write("project/binary.py", b"\x7fELF\x00\x01")
    write("project/.env", "KEY=1")
    (root / "innocent.py").symlink_to(".env")
    result = await ToolRegistry(project_tools(root)).call("read_file", {"path": path})
    assert result.is_error
    assert message in result.text
    assert str(root) not in result.text


@pytest.mark.parametrize(
    ("arguments", "heading"),
    [
        ({"path": "service/http/retry.py"}, "service/http/retry.py, lines 1-3 of 3"),
        ({"path": "./service//http/retry.py"}, "service/http/retry.py, lines 1-3 of 3"),
        ({"path": "service/http/retry.py", "start_line": "2"}, "service/http/retry.py, lines 2-3 of 3"),
        ({"path": "service/http/retry.py", "start_line": 2, "end_line": 2}, "service/http/retry.py, lines 2-2 of 3"),
        ({"path": "service/http/retry.py:2"}, "service/http/retry.py, lines 2-3 of 3"),
        ({"path": "service/http/retry.py:1-2"}, "service/http/retry.py, lines 1-2 of 3"),
        ({"path": "service/http/retry.py:3", "start_line": 1}, "service/http/retry.py, lines 1-3 of 3"),
        ({"path": "service/http/retry.py", "start_line": -4, "end_line": 99}, "service/http/retry.py, lines 1-3 of 3"),
    ],
)
async def test_a_file_is_read_whole_or_in_part(
    project: ToolRegistry, arguments: dict[str, object], heading: str
) -> None:
    result = await project.call("read_file", arguments)
    assert not result.is_error, result.text
    assert result.text.split("\n")[0] == heading
    assert result.sources[0].path == "service/http/retry.py"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"start_line": 3, "end_line": 1}, "end_line 1 is before start_line 3"),
        ({"start_line": 4}, "start_line 4 is behind the end: 'service/http/retry.py' has 3 lines"),
    ],
)
async def test_an_invalid_range_is_an_error(project: ToolRegistry, arguments: dict[str, int], message: str) -> None:
    result = await project.call("read_file", {"path": "service/http/retry.py", **arguments})
    assert result.is_error
    assert message in result.text


@pytest.mark.parametrize(
    "content",
    [
        pytest.param("short\n" * 5_000, id="many lines"),
        pytest.param("x" * 200 + "\n", id="all fits"),
        pytest.param(("y" * 900 + "\n") * 400, id="long lines"),
        pytest.param(("漢" * 900 + "\n") * 400, id="three bytes a letter"),
        pytest.param("z" * 500_000, id="one line"),
    ],
)
async def test_the_pages_of_a_long_file_are_complete(tmp_path: Path, write: Callable[..., Path], content: str) -> None:
    write("project/long.txt", content)
    project = ToolRegistry(project_tools(tmp_path / "project"))
    seen, start, total = 0, 1, len(content.rstrip("\n").split("\n"))
    while True:
        text = (await project.call("read_file", {"path": "long.txt", "start_line": start})).text
        assert len(text) <= 32_000
        assert len(text.encode()) <= 66_000
        assert "[Cut:" not in text
        seen += sum(1 for line in text.split("\n") if " | " in line)
        marker = "start_line="
        if marker not in text.rsplit("\n", 1)[-1]:
            break
        start = int(text.rsplit(marker, 1)[1].split(")")[0])
    assert seen == total


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        pytest.param(
            b"caf\xe9\n", ["[Not valid UTF-8: wrong bytes are shown as \ufffd.]", "  1 | caf\ufffd"], id="Latin-1"
        ),
        pytest.param("naïve\n".encode("utf-16"), ["  1 | naïve"], id="UTF-16"),
        pytest.param("\ufeffcafé\n".encode(), ["  1 | café"], id="a byte order mark"),
        pytest.param(b"a\r\nb\r\n", ["  1 | a", "  2 | b"], id="DOS line ends"),
        pytest.param("a\u2028b\x0cc\n".encode(), ["  1 | a\u2028b\x0cc"], id="other separators end no line"),
        pytest.param(b"", [], id="empty"),
    ],
)
async def test_a_file_in_any_encoding_is_text(
    tmp_path: Path, write: Callable[..., Path], data: bytes, expected: list[str]
) -> None:
    write("project/file.txt", data)
    result = await ToolRegistry(project_tools(tmp_path / "project")).call("read_file", {"path": "file.txt"})
    assert not result.is_error
    assert result.text.split("\n")[1:] == expected


async def test_a_folder_is_listed_with_its_folders_first(project: ToolRegistry) -> None:
    assert (await project.call("list_files", {})).text.split("\n") == [
        "data/ (1 file)",
        "service/ (7 files)",
        "tests/ (1 file)",
        "Dockerfile",
        "README.md",
    ]
    assert (await project.call("list_files", {"path": "service/auth/"})).text.split("\n") == [
        "service/auth/middleware.py",
        "service/auth/sessions.py",
    ]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"pattern": "*.ts"}, ["service/http/client.ts"]),
        ({"pattern": "**/*.ts"}, ["service/http/client.ts"]),
        ({"pattern": "service/*/r*.py"}, ["service/http/retry.py", "service/tree/reader.py", "service/tree/report.py"]),
        ({"pattern": "service/*.py"}, ["service/street.py"]),
        ({"pattern": "service/**/se*.py"}, ["service/auth/sessions.py"]),
        ({"pattern": "*.{ts,md}"}, ["README.md", "service/http/client.ts"]),
        ({"path": "service/http", "pattern": "*.py"}, ["service/http/retry.py"]),
        ({"path": "service", "pattern": "service/http/*.py"}, ["service/http/retry.py"]),
    ],
)
async def test_a_pattern_finds_files_by_name_or_path(
    project: ToolRegistry, arguments: dict[str, str], expected: list[str]
) -> None:
    assert (await project.call("list_files", arguments)).text.split("\n") == expected


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"path": "servce"}, "there is no folder 'servce'. Did you mean 'service'"),
        ({"path": "README.md"}, "is a file; read it with read_file"),
        ({"path": ".."}, "has '..' in it"),
        ({"pattern": "{a,b}" * 8}, "more than 32 alternatives"),
        ({"pattern": "*a" * 200}, "at most 200"),
    ],
)
async def test_a_folder_that_cannot_be_listed_is_an_error_that_helps(
    project: ToolRegistry, arguments: dict[str, str], message: str
) -> None:
    result = await project.call("list_files", arguments)
    assert result.is_error
    assert message in result.text


async def test_a_listing_is_bounded_and_an_empty_one_says_so(tmp_path: Path, write: Callable[..., Path]) -> None:
    for number in range(510):
        write(f"project/f{number:03}.py", "")
    project = ToolRegistry(project_tools(tmp_path / "project"))
    lines = (await project.call("list_files", {})).text.split("\n")
    assert (len(lines), lines[-1]) == (501, "[10 more; give a folder or a narrower pattern.]")
    assert (await project.call("list_files", {"pattern": "*.rs"})).is_empty


async def test_a_hostile_pattern_is_matched_in_bounded_time(tmp_path: Path, write: Callable[..., Path]) -> None:
    write("project/" + "a/" * 60 + "a" * 100 + ".py", "")
    result = await ToolRegistry(project_tools(tmp_path / "project")).call(
        "list_files", {"pattern": "**/" * 30 + "*a" * 40 + "b"}
    )
    assert result.is_empty


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_an_unreadable_project_is_a_setup_error(tmp_path: Path) -> None:
    (tmp_path / "locked").mkdir(mode=0o000)
    with pytest.raises(ToolSetupError, match="cannot be read"):
        project_tools(tmp_path / "locked")


def test_a_missing_project_is_a_setup_error(tmp_path: Path) -> None:
    with pytest.raises(ToolSetupError, match="does not exist; set --project or ORACLE_PROJECT_DIR"):
        project_tools(tmp_path / "none")


async def test_sources_of_a_search_are_of_type_code(project: ToolRegistry) -> None:
    result = await project.call("search_code", {"query": "token"})
    assert all(isinstance(source, Source) and source.source_type == "code" for source in result.sources)
    scores = [source.score or 0 for source in result.sources]
    assert scores == sorted(scores, reverse=True)
