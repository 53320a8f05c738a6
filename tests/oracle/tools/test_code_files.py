import os
from collections.abc import Callable
from pathlib import Path

import pytest

from oracle.tools import ToolRegistry, ToolSetupError, project_tools


@pytest.fixture
def project(root: Path) -> ToolRegistry:
    return ToolRegistry(project_tools(root))


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("../outside.py", "has '..' in it"),
        ("/etc/passwd", "is absolute"),
        ("service/auth/midleware.py", "Did you mean 'service/auth/middleware.py'"),
        ("middleware.py", "Did you mean 'service/auth/middleware.py'"),
        ("tests/middleware.py", "Did you mean 'service/auth/middleware.py' or 'tests/test_middleware.py'?"),
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
