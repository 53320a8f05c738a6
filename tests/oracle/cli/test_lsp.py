"""`oracle trees lsp` over the protocol, with pygls' client in the place of an editor."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.uris import from_fs_path

from tests.oracle.cli.language_client import editor, editor_inside, identified

ROOT = Path(__file__).parents[3]
TREE = """\
tree: mine
blackboard:
  nudges: { type: int, default: 0, description: How often. }
root:
  sequence:
    - set: { hint: "'😀😀 ' + question", nudges: nudges + 1 }
    - subtree: part
"""
PART = "tree: part\ninternal: true\nroot:\n  condition: turn > 1\n"
BROKEN = "tree: part\ninternal: true\nroot:\n  condition: turns > 1\n"
SNIPPETS = types.TextDocumentClientCapabilities(
    completion=types.CompletionClientCapabilities(
        completion_item=types.ClientCompletionItemOptions(snippet_support=True)
    )
)
WATCHES = types.WorkspaceClientCapabilities(
    did_change_watched_files=types.DidChangeWatchedFilesClientCapabilities(dynamic_registration=True)
)


@pytest.fixture
def env() -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("ORACLE_")}
    return {**kept, "PYTHONPATH": str(ROOT)}


def at(text: str, what: str, *, behind: bool = False, line: int | None = None) -> types.Position:
    """The position of a word, in UTF-16."""
    rows = text.split("\n")
    row = next(number for number, each in enumerate(rows) if what in each) if line is None else line
    before = rows[row][: rows[row].index(what) + (len(what) if behind else 1)]
    return types.Position(row, len(before.encode("utf-16-le")) // 2)


async def test_an_editor_sees_mistakes_while_it_types(tmp_path: Path) -> None:
    (tmp_path / "part.yaml").write_text(PART)
    async with editor_inside() as here:
        await here.start(tmp_path)
        uri = here.open(tmp_path / "mine.yaml", TREE)
        assert await here.diagnostics(uri) == []
        here.change(uri, TREE.replace("nudges + 1", "nudge + 1"))
        (found,) = await here.diagnostics(uri)
        assert found.message == "there is no blackboard key or parameter 'nudge'\ndid you mean 'nudges'?"
        assert (found.severity, found.source) == (types.DiagnosticSeverity.Error, "oracle trees")
        assert found.code == "wrong-expression"
        # Two characters before it take two code units each.
        assert found.range == types.Range(types.Position(5, 49), types.Position(5, 54))
        here.change(uri, "tree: [")
        assert (await here.diagnostics(uri))[0].message.startswith("this is not valid YAML")
        here.change(uri, TREE)
        assert await here.diagnostics(uri) == []


async def test_the_newest_of_many_changes_is_what_is_shown(tmp_path: Path) -> None:
    (tmp_path / "part.yaml").write_text(PART)
    async with editor_inside() as here:
        await here.start(tmp_path)
        uri = here.open(tmp_path / "mine.yaml", TREE)
        for number in range(40):
            here.change(uri, TREE.replace("nudges + 1", f"nudge{number} + 1"))
        (found,) = await here.diagnostics(uri)
        assert "'nudge39'" in found.message


async def test_a_text_that_is_not_saved_counts_for_the_trees_that_include_it(tmp_path: Path) -> None:
    (tmp_path / "part.yaml").write_text(PART)
    async with editor_inside() as here:
        await here.start(tmp_path)
        mine = here.open(tmp_path / "mine.yaml", TREE)
        part = here.open(tmp_path / "part.yaml", PART)
        assert await here.diagnostics(mine, none=True) == []
        here.change(part, BROKEN)
        (found,) = await here.diagnostics(mine, until="in the tree 'part', line 4")
        assert found.range.start == types.Position(6, 15)
        (related,) = found.related_information or ()
        assert related.location.uri == part
        assert related.location.range.start == types.Position(3, 13)
        here.client.text_document_did_close(types.DidCloseTextDocumentParams(identified(part)))
        assert await here.diagnostics(mine, none=True) == []  # the file itself is right


async def test_a_file_that_changes_on_disk_is_checked_again(tmp_path: Path) -> None:
    (tmp_path / "part.yaml").write_text(PART)
    async with editor_inside() as here:
        await here.start(tmp_path, workspace=WATCHES)
        mine = here.open(tmp_path / "mine.yaml", TREE)
        assert await here.diagnostics(mine, none=True) == []
        assert here.requests == [types.WORKSPACE_DID_CHANGE_WATCHED_FILES]
        (tmp_path / "part.yaml").write_text(BROKEN)
        event = types.FileEvent(from_fs_path(str(tmp_path / "part.yaml")) or "", types.FileChangeType.Changed)
        here.client.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams([event]))
        assert await here.diagnostics(mine, until="in the tree 'part'")


async def test_completion_and_hover(tmp_path: Path) -> None:
    (tmp_path / "part.yaml").write_text(PART)
    async with editor_inside() as here:
        await here.start(tmp_path, text_document=SNIPPETS)
        uri = here.open(tmp_path / "mine.yaml", TREE)
        position = at(TREE, "nudges + 1", line=5)
        behind = types.Position(position.line, position.character + 2)
        offered = await here.client.text_document_completion_async(types.CompletionParams(identified(uri), behind))
        assert isinstance(offered, types.CompletionList)
        nudges = next(each for each in offered.items if each.label == "nudges")
        assert isinstance(nudges.text_edit, types.TextEdit)
        assert nudges.text_edit.range == types.Range(types.Position(5, 49), types.Position(5, 55))
        here.change(uri, "tree: mine\nroot:\n  ")
        end = types.Position(2, 2)
        offered = await here.client.text_document_completion_async(types.CompletionParams(identified(uri), end))
        assert isinstance(offered, types.CompletionList)
        sequence = next(each for each in offered.items if each.label == "sequence")
        assert sequence.insert_text_format == types.InsertTextFormat.Snippet
        assert isinstance(sequence.documentation, types.MarkupContent)
        assert "until one fails" in sequence.documentation.value
        here.change(uri, TREE)
        said = await here.client.text_document_hover_async(types.HoverParams(identified(uri), at(TREE, "question")))
        assert said is not None
        assert isinstance(said.contents, types.MarkupContent)
        assert "What the user asked." in said.contents.value


async def test_without_tab_stops_an_editor_gets_plain_text(tmp_path: Path) -> None:
    async with editor_inside() as here:
        await here.start(tmp_path)
        uri = here.open(tmp_path / "mine.yaml", "tree: mine\nroot:\n  ")
        where = types.CompletionParams(identified(uri), types.Position(2, 2))
        offered = await here.client.text_document_completion_async(where)
        assert isinstance(offered, types.CompletionList)
        assert offered.items
        assert not any("$" in each.text_edit.new_text for each in offered.items if each.text_edit)


async def test_definition_references_and_rename(tmp_path: Path) -> None:
    (tmp_path / "part.yaml").write_text(PART)
    async with editor_inside() as here:
        await here.start(tmp_path)
        uri = here.open(tmp_path / "mine.yaml", TREE)
        part = from_fs_path(str(tmp_path / "part.yaml"))
        to_tree = types.DefinitionParams(identified(uri), at(TREE, "part"))
        assert [each.uri for each in await here.client.text_document_definition_async(to_tree) or ()] == [part]
        declared = types.ReferenceContext(include_declaration=True)
        used = types.ReferenceParams(declared, identified(uri), at(TREE, "nudges", line=2))
        found = await here.client.text_document_references_async(used)
        assert [(each.range.start.line, each.range.start.character) for each in found or ()] == [
            (2, 2),
            (5, 41),
            (5, 49),
        ]
        prepared = await here.client.text_document_prepare_rename_async(
            types.PrepareRenameParams(identified(uri), at(TREE, "nudges", line=2))
        )
        assert isinstance(prepared, types.PrepareRenamePlaceholder)
        assert prepared.placeholder == "nudges"
        change = types.RenameParams(identified(uri), at(TREE, "nudges", line=2), "pushes")
        edit = await here.client.text_document_rename_async(change)
        assert edit is not None
        assert [each.new_text for each in (edit.changes or {})[uri]] == ["pushes"] * 3
        refused = types.RenameParams(identified(uri), at(TREE, "question"), "asked")
        with pytest.raises(JsonRpcException, match="'question' is a key of the host"):
            await here.client.text_document_rename_async(refused)


@pytest.mark.long("starts a language server")
async def test_a_refused_rename_is_an_error_of_the_editor_and_not_logged(tmp_path: Path, env: dict[str, str]) -> None:
    async with editor(tmp_path, env) as here:
        await here.start(tmp_path)
        uri = here.open(tmp_path / "mine.yaml", TREE)
        refused = types.RenameParams(identified(uri), at(TREE, "nudges", line=2), "turn")
        with pytest.raises(JsonRpcException, match="'turn' is a key of the host already") as error:
            await here.client.text_document_rename_async(refused)
        assert error.value.code == -32803
        nameless = types.PrepareRenameParams(identified(uri), types.Position(0, 0))
        with pytest.raises(JsonRpcException, match="there is no name here"):
            await here.client.text_document_prepare_rename_async(nameless)
        assert await here.shut_down() == 0
        assert here.server.stderr is not None
        assert await here.server.stderr.read() == b""


async def test_a_fix_is_offered_for_a_mistake(tmp_path: Path) -> None:
    text = "tree: mine\nroot:\n  llm_turn: { timeout: 120 }\n"
    async with editor_inside() as here:
        await here.start(tmp_path)
        uri = here.open(tmp_path / "mine.yaml", text)
        (shown,) = await here.diagnostics(uri)
        context = types.CodeActionContext([shown])
        actions = await here.client.text_document_code_action_async(
            types.CodeActionParams(identified(uri), shown.range, context)
        )
        (action,) = actions or ()
        assert isinstance(action, types.CodeAction)
        assert (action.title, action.kind) == ("Replace 'timeout' by 'timeout_s'", types.CodeActionKind.QuickFix)
        assert action.edit is not None
        (edit,) = (action.edit.changes or {})[uri]
        assert isinstance(edit, types.TextEdit)
        assert (edit.new_text, edit.range) == ("timeout_s", shown.range)


async def test_a_warning_can_be_silenced_with_a_reason(tmp_path: Path) -> None:
    text = "tree: mine\nroot: finish\n"
    async with editor_inside() as here:
        await here.start(tmp_path)
        uri = here.open(tmp_path / "mine.yaml", text)
        found = await here.diagnostics(uri, until="without a reason", warnings=True)
        shown = next(each for each in found if "without a reason" in each.message)
        assert shown.severity == types.DiagnosticSeverity.Warning
        context = types.CodeActionContext([shown])
        asked = types.CodeActionParams(identified(uri), shown.range, context)
        actions = await here.client.text_document_code_action_async(asked) or ()
        titles = {each.title: each for each in actions}
        silence = titles[f"Silence {shown.code} with a reason"]
        assert isinstance(silence, types.CodeAction)
        assert silence.edit is not None
        (edit,) = (silence.edit.changes or {})[uri]
        assert isinstance(edit, types.TextEdit)
        assert edit.range.start == types.Position(1, len("root: finish"))
        here.change(uri, f"tree: mine\nroot: finish{edit.new_text}\n")
        left = await here.diagnostics(uri, warnings=True)
        assert shown.code not in {each.code for each in left}


async def test_other_yaml_files_are_left_alone(tmp_path: Path) -> None:
    async with editor_inside() as here:
        await here.start(tmp_path)
        uri = here.open(tmp_path / "compose.yaml", "services:\n  web: { image: nginx }\n")
        assert await here.diagnostics(uri) == []
        where = types.CompletionParams(identified(uri), types.Position(0, 0))
        assert await here.client.text_document_completion_async(where) is None


async def test_a_huge_text_is_one_mistake_and_does_not_stop_the_server(tmp_path: Path) -> None:
    async with editor_inside() as here:
        await here.start(tmp_path)
        uri = here.open(tmp_path / "mine.yaml", "tree: mine\n" + "#" * 1_000_000)
        (found,) = await here.diagnostics(uri)
        assert "larger than" in found.message
        where = types.HoverParams(identified(uri), types.Position(0, 1))
        assert await here.client.text_document_hover_async(where) is None
        here.change(uri, "tree: mine\nroot: finish\n")
        assert await here.diagnostics(uri) == []


async def test_a_request_that_makes_no_sense_does_not_stop_the_server(tmp_path: Path) -> None:
    async with editor_inside() as here:
        await here.start(tmp_path)
        uri = here.open(tmp_path / "mine.yaml", TREE)
        far = types.Position(10_000, 10_000)
        assert await here.client.text_document_hover_async(types.HoverParams(identified(uri), far)) is None
        unknown = types.HoverParams(identified("untitled:new"), far)
        assert await here.client.text_document_hover_async(unknown) is None
        with pytest.raises(JsonRpcException):
            await here.client.protocol.send_request_async("oracle/unknown", {})


@pytest.mark.long("starts a language server")
async def test_an_editor_that_goes_away_ends_the_server(tmp_path: Path, env: dict[str, str]) -> None:
    async with editor(tmp_path, env) as here:
        await here.start(tmp_path)
        assert here.server.stdin is not None
        here.server.stdin.close()
        assert await here.server.wait() == 1


@pytest.mark.long("starts a process")
def test_no_other_command_imports_the_protocol() -> None:
    code = (
        "import sys; from oracle.cli.groups import trees; assert all(trees.get_command(None, name) for name in "
        "trees.list_commands(None)); "
        "sys.exit(not {'pygls', 'lsprotocol'}.isdisjoint(sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False, cwd=ROOT).returncode == 0
