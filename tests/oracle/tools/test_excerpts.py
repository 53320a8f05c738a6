"""Excerpts: the lines around a place, by the rules of the tools that read for the model."""

import pytest

from oracle.tools import Around, ToolError, ToolRegistry, project_tools
from oracle.tools.text import READ_CHARS


async def test_an_excerpt_has_the_lines_around_a_place(project, write):
    write("project/a.py", "one\ntwo\r\nthree\nfour\n")
    found = await project.excerpt("code", "a.py", Around(3, before=1, after=0))
    assert (found.first_line, found.lines, found.total_lines) == (2, ("two", "three"), 4)


@pytest.mark.parametrize(
    ("line", "first", "lines"),
    [(None, 1, ("one", "two")), (1, 1, ("one", "two")), (3, 2, ("two", "three")), (99, 2, ("two", "three"))],
)
async def test_places_beyond_the_ends_are_moved_to_them(project, write, line, first, lines):
    write("project/a.py", "one\ntwo\nthree\n")
    found = await project.excerpt("code", "a.py", Around(line, before=1, after=1))
    assert (found.first_line, found.lines) == (first, lines)


async def test_an_empty_file_has_no_lines(project, write):
    write("project/a.py", "")
    found = await project.excerpt("code", "a.py", Around(7))
    assert (found.first_line, found.lines, found.total_lines) == (1, (), 0)


async def test_very_long_lines_never_push_the_place_out(project, write):
    write("project/a.py", "\n".join(f"{n:03} {'x' * 5_000}" for n in range(200)))
    found = await project.excerpt("code", "a.py", Around(101, before=100, after=99))
    assert found.lines[101 - found.first_line].startswith("100 x")
    assert sum(map(len, found.lines)) <= 2 * READ_CHARS
    assert found.first_line > 1


async def test_wrong_bytes_are_said_to_be_wrong(project, write):
    write("project/a.py", b"caf\xe9\n")
    found = await project.excerpt("code", "a.py", Around())
    assert (found.lines, found.is_exact) == (("caf\ufffd",), False)


@pytest.mark.parametrize("path", ["../a.py", "/etc/passwd", ".env", "b.bin", "folder", "nope.py", "link.py", "own/db"])
async def test_what_read_file_refuses_has_no_excerpt(tmp_path, write, path):
    write("a.py", "outside")
    write("project/.env", "KEY=1")
    write("project/b.bin", b"\0\0")
    write("project/folder/c.py", "")
    write("project/own/db", "private")
    (tmp_path / "project" / "link.py").symlink_to(tmp_path / "a.py")
    tools = ToolRegistry(project_tools(tmp_path / "project", private=[tmp_path / "project" / "own"]))
    assert (await tools.call("read_file", {"path": path})).is_error
    with pytest.raises(ToolError):
        await tools.excerpt("code", path, Around())


@pytest.mark.parametrize("path", [".hidden.md", "../note.md", "link.md", "nope"])
async def test_what_vault_read_refuses_has_no_excerpt(vault, tmp_path, write, path):
    write("vault/.hidden.md", "x")
    write("vault/.git/secret.md", "x")
    write("note.md", "outside")
    (tmp_path / "vault" / "link.md").symlink_to(".git/secret.md")
    assert (await vault.call("vault_read", {"path": path})).is_error
    for source_type in ("vault", "thread"):
        with pytest.raises(ToolError):
            await vault.excerpt(source_type, path, Around())


async def test_addresses_have_no_excerpt(project):
    with pytest.raises(ToolError, match="no tool that reads"):
        await project.excerpt("web", "https://example.com/", Around())
