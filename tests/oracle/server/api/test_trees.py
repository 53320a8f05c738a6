"""`/api/trees`: trees that are looked at, checked, saved and taken back."""

import asyncio
import fcntl
import hashlib
import os
from pathlib import Path
from typing import Any

import pytest

from oracle.authoring.editor import Save
from oracle.features.editing.calls import TreeCheck, TreeCompletions, TreeHover, TreePlaces
from oracle.features.explaining.calls import TreeExplanation
from oracle.features.scenarios.calls import TreeTest
from oracle.features.verifier.calls import TreeVerification
from oracle.server.api.tree_replies import (
    TreeComparison,
    TreeConflict,
    TreeMistakes,
)
from tests.oracle.server.api.conftest import ALICE, HANGS, OLGA, OPERATOR, TOKENS, Service

INNER = """tree: inner
description: A part.
internal: true
root:
  sequence: # why
    - llm_turn
    - stop: completed
"""
OUTER = "tree: outer\ndescription: Uses a part.\nroot:\n  sequence:\n    - compose_prompt\n    - subtree: inner\n"
WRONG = INNER.replace("llm_turn", "llm_trun")


def sha(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


async def put(service: Service, name: str, source: str, version: str | None, **more: object):
    body = {"source": source, "version": version} | more
    return await service.client.put(f"/api/trees/{name}", json=body)


@pytest.fixture
async def library(start, tmp_path: Path):
    """A service whose operator has two trees, one a part of the other."""
    folder = tmp_path / "trees"
    folder.mkdir()
    (folder / "inner.yaml").write_bytes(INNER.encode())
    (folder / "outer.yaml").write_bytes(OUTER.encode())
    return await start(trees_folder=folder)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "trees"


async def test_the_list_says_whose_each_tree_is_and_what_it_consists_of(library):
    listed = {each["name"]: each for each in (await library.client.get("/api/trees")).json()["trees"]}
    assert list(listed) == sorted(listed)
    assert {"oracle", "fallback", "inner", "outer"} <= listed.keys()
    inner, outer = listed["inner"], listed["outer"]
    assert (inner["origin"], inner["internal"], inner["used_by"], inner["includes"]) == (
        "operator",
        True,
        ["outer"],
        [],
    )
    assert (outer["description"], outer["includes"], outer["is_current"]) == ("Uses a part.", ["inner"], True)
    assert (outer["version"], outer["mistake_count"]) == (sha(OUTER), 0)
    assert outer["file"].endswith("trees/outer.yaml")
    assert listed["oracle"]["origin"] == "shipped"
    assert "follow_signal" in listed["oracle"]["includes"]


async def test_the_list_says_how_large_a_tree_is_how_often_it_changed_and_how_the_queries_of_a_day_ended(library):
    before = (await library.client.get("/api/trees")).json()
    assert before["folder"].endswith("trees")
    await library.ask(tree="outer")
    await put(library, "outer", OUTER + "# more\n", sha(OUTER))
    listed = {each["name"]: each for each in (await library.client.get("/api/trees")).json()["trees"]}
    assert (listed["outer"]["node_count"], listed["outer"]["version_count"]) == (6, 2)
    assert listed["outer"]["changed_at"] > listed["inner"]["changed_at"]
    assert listed["outer"]["runs_of_day"] == {"completed": 1, "stopped": 0, "failed": 0, "running": 0}
    assert listed["inner"]["runs_of_day"]["completed"] == 0
    read = (await library.client.get("/api/trees/outer")).json()
    assert (read["node_count"], read["version_count"]) == (6, 2)


async def test_a_tree_is_read_with_its_exact_text_a_picture_and_its_nodes(library):
    tree = (await library.client.get("/api/trees/outer")).json()
    assert (tree["source"], tree["version"]) == (OUTER, sha(OUTER))
    assert tree["outline"].startswith("outer: Uses a part.")
    assert tree["picture"].startswith("<svg")
    assert [(node["path"], node["kind"], node["file"], node["line"]) for node in tree["nodes"]][:3] == [
        ("sequence", "sequence", "outer.yaml", 4),
        ("sequence/compose_prompt", "compose_prompt", "outer.yaml", 5),
        ("sequence/subtree", "subtree", "outer.yaml", 6),
    ]
    assert tree["nodes"][3]["file"] == "inner.yaml"
    assert (tree["mistakes"], tree["is_current"]) == ([], True)


async def test_a_saved_tree_is_used_by_the_next_query_and_kept_exactly(library, folder):
    before = await library.ask(tree="outer")
    text = OUTER.replace("- compose", "# say hello first\r\n    - say: Saved.\n    - compose")
    response = await put(library, "outer", text, sha(OUTER), note="politer")
    assert response.status_code == 200
    assert (response.json()["version"], response.json()["source"]) == (sha(text), text)
    after = await library.ask(tree="outer")
    assert (before.text, after.text) == ("Hello.", "Saved.\n\nHello.")
    assert (folder / "outer.yaml").read_bytes() == text.encode()
    run = (await library.client.get(f"/api/oracle/runs/{after.run_id}")).json()
    assert run["tree"] == {"name": "outer", "version": response.json()["run_version"]}


async def test_a_new_tree_is_saved_without_a_version_and_only_once(library, folder):
    text = "tree: fresh\nroot: {sequence: [compose_prompt, llm_turn, {stop: completed}]}\n".replace(
        "{compose_prompt: }", "compose_prompt"
    )
    assert (await put(library, "fresh", text, None)).status_code == 200
    again = await put(library, "fresh", text + "# more\n", None)
    assert (again.status_code, again.json()["version"]) == (409, sha(text))
    assert again.json()["detail"] == "there is a tree 'fresh' already"
    assert (folder / "fresh.yaml").read_bytes() == text.encode()


async def test_the_shipped_tree_is_replaced_by_a_file_of_the_operators(library, folder):
    shipped = (await library.client.get("/api/trees/continue_answer")).json()
    text = shipped["source"] + "# ours\n"
    saved = (await put(library, "continue_answer", text, shipped["version"])).json()
    assert (shipped["origin"], saved["origin"]) == ("shipped", "operator")
    assert (folder / "continue_answer.yaml").read_bytes() == text.encode()
    versions = (await library.client.get("/api/trees/continue_answer/versions")).json()["versions"]
    assert [(each["how"], each["version"], each["is_present"]) for each in versions] == [
        ("saved", sha(text), True),
        ("shipped", shipped["version"], False),
    ]


async def test_a_wrong_text_changes_nothing_and_all_mistakes_are_told_with_their_places(library, folder):
    response = await put(library, "inner", WRONG, sha(INNER))
    assert response.status_code == 422
    assert TreeMistakes.model_validate(response.json()).model_dump() == response.json()
    (mistake,) = response.json()["detail"]
    assert (mistake["file"], mistake["line"], mistake["column"], mistake["severity"]) == ("inner.yaml", 6, 7, "error")
    assert mistake["message"] == "there is no node kind 'llm_trun'"
    assert "llm_turn" in mistake["hint"]
    assert {"path", "code", "end_line", "end_column", "fixes"} <= mistake.keys()
    assert (folder / "inner.yaml").read_bytes() == INNER.encode()
    assert sorted(path.name for path in folder.iterdir()) == ["inner.yaml", "outer.yaml"]
    assert (await library.ask(tree="outer")).text == "Hello."
    assert len((await library.client.get("/api/trees/inner/versions")).json()["versions"]) == 1


async def test_a_change_that_breaks_a_tree_which_includes_it_is_refused_with_that_file_named(library):
    response = await put(library, "inner", INNER.replace("root:", "parameters: {of: str}\nroot:"), sha(INNER))
    assert response.status_code == 422
    (mistake,) = response.json()["detail"]
    assert (mistake["file"], mistake["line"]) == ("outer.yaml", 6)
    assert mistake["message"] == "the tree 'inner' needs the argument 'of' (text)"


async def test_an_edit_of_an_older_version_is_a_conflict_that_says_who_when_and_what(library):
    second = INNER.replace("# why", "# still")
    third = second.replace("- stop", "- say: Bye.\n    - stop")
    await put(library, "inner", second, sha(INNER), note="words")
    await put(library, "inner", third, sha(second), note="says goodbye")
    response = await put(library, "inner", INNER + "# mine\n", sha(INNER))
    assert response.status_code == 409
    conflict = response.json()
    assert TreeConflict.model_validate(conflict).model_dump() == conflict
    assert conflict["detail"] == "the tree 'inner' has changed since the version that this edit was made from"
    assert (conflict["version"], conflict["user_id"], conflict["note"]) == (sha(third), "local", "says goodbye")
    assert conflict["at"].endswith("Z")
    assert conflict["difference"] == "+ sequence/say: text 'Bye.'"
    assert (await library.client.get("/api/trees/inner")).json()["version"] == sha(third)


async def test_of_two_saves_at_once_one_is_a_conflict(library):
    texts = [INNER + f"# {at}\n" for at in range(6)]
    responses = await asyncio.gather(*(put(library, "inner", text, sha(INNER)) for text in texts))
    assert sorted(response.status_code for response in responses) == [200, *[409] * 5]
    (saved,) = (response.json()["version"] for response in responses if response.status_code == 200)
    assert {response.json()["version"] for response in responses} == {saved}


async def test_who_keeps_the_folder_locked_keeps_no_change_from_being_read(library, folder):
    handle = os.open(folder, os.O_RDONLY)
    fcntl.flock(handle, fcntl.LOCK_EX)
    editor = library.parts.trees
    saving = asyncio.create_task(editor.save(Save("inner", INNER + "# saved\n", sha(INNER), "olga")))
    await asyncio.sleep(0)  # it begins, and waits for the folder
    (folder / "other.yaml").write_bytes(OUTER.replace("outer", "other").encode())
    async with asyncio.timeout(10):
        await editor.refresh()
    assert editor.state("other").error is None
    assert not saving.done()
    os.close(handle)
    await saving
    assert editor.state("inner").source.text.endswith(b"# saved\n")


async def test_saving_what_is_there_already_makes_no_version(library):
    assert (await put(library, "inner", INNER, sha(INNER))).status_code == 200
    assert len((await library.client.get("/api/trees/inner/versions")).json()["versions"]) == 1


async def test_former_versions_are_listed_read_and_taken_back(library, folder):
    changed = INNER.replace("llm_turn", "say: No turn.")
    await put(library, "inner", changed, sha(INNER), note="an experiment")
    response = await library.client.post(
        f"/api/trees/inner/versions/{sha(INNER)}/restore", json={"version": sha(changed), "note": "it failed"}
    )
    assert (response.status_code, response.json()["source"]) == (200, INNER)
    assert (folder / "inner.yaml").read_bytes() == INNER.encode()
    listed = (await library.client.get("/api/trees/inner/versions")).json()
    assert listed["name"] == "inner"
    told = [(each["how"], each["version"], each["user_id"], each["note"]) for each in listed["versions"]]
    assert told == [
        ("restored", sha(INNER), "local", "it failed"),
        ("saved", sha(changed), "local", "an experiment"),
        ("file", sha(INNER), None, None),
    ]
    assert listed["versions"][1]["size"] == len(changed)
    former = await library.client.get(f"/api/trees/inner/versions/{sha(changed)}")
    assert former.json() == {"name": "inner", "version": sha(changed), "source": changed}


async def test_a_former_version_is_only_taken_back_from_the_present_one_and_if_it_is_still_valid(library):
    changed = INNER.replace("# why", "# because")
    await put(library, "inner", changed, sha(INNER))
    url = f"/api/trees/inner/versions/{sha(INNER)}/restore"
    assert (await library.client.post(url, json={"version": sha(INNER)})).status_code == 409
    with_parameter = INNER.replace("root:", "parameters: {of: {type: str, default: x}}\nroot:")
    await put(library, "inner", with_parameter, sha(changed))
    uses_it = OUTER.replace("subtree: inner", "subtree: {tree: inner, with: {of: y}}")
    assert (await put(library, "outer", uses_it, sha(OUTER))).status_code == 200
    refused = await library.client.post(url, json={"version": sha(with_parameter)})
    assert refused.status_code == 422
    assert refused.json()["detail"][0]["file"] == "outer.yaml"


async def test_a_query_under_way_ends_on_the_version_that_it_began_with(start, tmp_path, folder):
    folder.mkdir()
    (folder / "outer.yaml").write_bytes(b"tree: outer\nroot: {sequence: [compose_prompt, llm_turn, {say: Old.}]}\n")
    service = await start([HANGS], trees_folder=folder)
    version = (await service.client.get("/api/trees/outer")).json()
    async with service.asking(tree="outer") as streamed:
        await streamed.until("here")
        changed = "tree: outer\nroot: {sequence: [compose_prompt, {say: New.}, {stop: completed}]}\n"
        saved = (await put(service, "outer", changed, version["version"])).json()
        run = (await service.client.get(f"/api/oracle/runs/{streamed.run_id}")).json()
        await service.client.post(f"/api/oracle/runs/{streamed.run_id}/cancel")
        await streamed.rest()
    assert run["tree"]["version"] == version["run_version"] != saved["run_version"]


async def test_a_text_is_checked_alone_or_with_the_trees_that_include_it(library, folder):
    alone = (await library.client.post("/api/trees/check", json={"source": WRONG})).json()
    assert (alone["ok"], [mistake["line"] for mistake in alone["mistakes"]]) == (False, [6])
    needy = INNER.replace("root:", "parameters: {of: str}\nroot:")
    assert (await library.client.post("/api/trees/check", json={"source": needy})).json()["ok"] is True
    within = (await library.client.post("/api/trees/check", json={"source": needy, "name": "inner"})).json()
    assert [mistake["file"] for mistake in within["mistakes"]] == ["outer.yaml"]
    right = (await library.client.post("/api/trees/check", json={"source": INNER, "name": "inner"})).json()
    assert (right["ok"], right["mistakes"]) == (True, [])
    for answer in (alone, right):
        assert TreeCheck.model_validate(answer).model_dump() == answer
    assert (folder / "inner.yaml").read_bytes() == INNER.encode()


async def test_a_text_is_completed_at_the_cursor(library):
    async def items(source: str, **more: object):
        line, column = source.count("\n") + 1, len(source.rpartition("\n")[2]) + 1
        body = {"source": source, "line": line, "column": column} | more
        answer = await library.client.post("/api/trees/complete", json=body)
        assert answer.status_code == 200
        assert TreeCompletions.model_validate(answer.json()).model_dump() == answer.json()
        return {item["label"]: item for item in answer.json()["items"]}

    kinds = await items("tree: new\nroot:\n  sequence:\n    - llm_t")
    assert (kinds["llm_turn"]["column"], kinds["llm_turn"]["end_column"]) == (7, 12)
    assert "inner" in await items("tree: new\nroot:\n  subtree: ", name="new")
    assert "signal" in await items('tree: new\nroot:\n  condition: "turn > 3 and si')
    assert "root" in await items("tree: new\n", line=900, column=7)  # behind the end
    wrong = await library.client.post("/api/trees/complete", json={"source": "", "line": 0, "column": 1})
    assert wrong.status_code == 422


async def test_a_word_is_explained_and_its_declaration_found(library):
    text = "tree: new\nblackboard:\n  mood: {type: str, description: How it feels.}\nroot:\n  sequence:\n"
    text += "    - condition: \"mood == 'good'\"\n    - subtree: inner\n    - llm_turn\n"

    async def ask(call: str, word: str, **more: object) -> dict[str, Any]:
        line = next(n for n, each in enumerate(text.splitlines(), start=1) if word in each and n > 3)
        column = text.splitlines()[line - 1].index(word) + 2
        body = {"source": text, "line": line, "column": column, "name": "new"} | more
        answer = await library.client.post(f"/api/trees/{call}", json=body)
        assert answer.status_code == 200
        model = {"hover": TreeHover, "definition": TreePlaces}[call]
        assert model.model_validate(answer.json()).model_dump() == answer.json()
        return answer.json()

    assert "How it feels." in (await ask("hover", "mood"))["markdown"]
    assert "Runs one turn" in (await ask("hover", "llm_turn"))["markdown"]
    assert (await ask("hover", "mood", line=400))["markdown"] is None
    (key,) = (await ask("definition", "mood"))["places"]
    assert (key["tree"], key["file"], key["line"], key["column"], key["end_column"]) == ("new", "new.yaml", 3, 3, 7)
    (tree,) = (await ask("definition", "inner"))["places"]
    assert (tree["tree"], tree["file"], tree["line"]) == ("inner", "inner.yaml", 1)
    assert (await ask("definition", "llm_turn"))["places"] == []


def apply(text: str, fix: dict[str, Any]) -> str:
    """The text after a quick fix."""
    lines = text.split("\n")
    for edit in sorted(fix["edits"], key=lambda each: (each["line"], each["column"]), reverse=True):
        first, last = edit["line"] - 1, edit["end_line"] - 1
        new = lines[first][: edit["column"] - 1] + edit["text"] + lines[last][edit["end_column"] - 1 :]
        lines[first : last + 1] = new.split("\n")
    return "\n".join(lines)


async def test_a_check_offers_what_removes_each_mistake(library):
    async def check(text: str, name: str | None = None) -> dict[str, Any]:
        return (await library.client.post("/api/trees/check", json={"source": text, "name": name})).json()

    (mistake,) = (await check(WRONG, "inner"))["mistakes"]
    assert (mistake["line"], mistake["end_line"], mistake["end_column"] - mistake["column"]) == (6, 6, len("llm_trun"))
    assert apply(WRONG, mistake["fixes"][0]) == INNER
    unknown = OUTER.replace("    - subtree", '    - condition: "mood == 1"\n    - subtree')
    (mistake,) = (await check(unknown))["mistakes"]
    assert mistake["fixes"][-1]["title"] == "Declare 'mood' under 'blackboard:'"
    assert (await check(apply(unknown, mistake["fixes"][-1])))["ok"]
    questionable = "tree: new\nroot:\n  sequence:\n    - stop: completed\n    - llm_turn\n"
    warnings = (await check(questionable))["warnings"]
    silenced = apply(questionable, warnings[0]["fixes"][-1])
    left = (await check(silenced))["warnings"]
    assert [each["code"] for each in left] == [each["code"] for each in warnings[1:]]


async def test_a_broken_file_is_shown_with_its_mistakes_while_the_old_tree_answers(library, folder):
    (folder / "inner.yaml").write_bytes(WRONG.encode())
    tree = (await library.client.get("/api/trees/outer")).json()
    assert (tree["is_current"], tree["version"], tree["mistake_count"]) == (False, sha(OUTER), 1)
    assert tree["mistakes"][0]["file"] == "inner.yaml"
    assert "llm_turn" in tree["outline"]
    assert (await library.ask(tree="outer")).text == "Hello."
    assert (await library.client.get("/readyz")).json() == {"status": "ready", "broken_trees": 2}
    assert (await put(library, "inner", INNER, sha(WRONG))).status_code == 200
    assert (await library.client.get("/readyz")).json() == {"status": "ready"}


async def test_a_file_that_is_no_text_is_no_crash(library, folder):
    (folder / "inner.yaml").write_bytes(b"tree: inner\xff\xfe\n")
    tree = (await library.client.get("/api/trees/inner")).json()
    assert (tree["source"], tree["is_current"], len(tree["mistakes"])) == (None, False, 1)
    assert tree["version"] == hashlib.sha256(b"tree: inner\xff\xfe\n").hexdigest()
    assert (await library.ask(tree="outer")).text == "Hello."


async def test_a_link_out_of_the_folder_is_neither_read_nor_written_through(library, folder, tmp_path):
    secret = tmp_path / "secret.yaml"
    secret.write_bytes(b"tree: inner\npassword: hidden\n")
    (folder / "inner.yaml").unlink()
    (folder / "inner.yaml").symlink_to(secret)
    response = await library.client.get("/api/trees/inner")
    assert "hidden" not in response.text
    assert (
        response.json()["mistakes"][0]["message"] == "the file is a link that leads out of its folder, and is not read"
    )
    assert (await put(library, "inner", INNER, None)).status_code == 200
    assert secret.read_bytes() == b"tree: inner\npassword: hidden\n"
    assert not (folder / "inner.yaml").is_symlink()


@pytest.mark.parametrize(
    "name",
    ["..%2f..%2fetc%2fpasswd", "..", "%2e%2e%2fx", "a.b", "A", "x%00y", "con%0a", "a" * 61, "a%2fb", "-x", "é"],
)
async def test_names_that_are_no_trees_names_reach_no_file(library, folder, name):
    before = set(folder.parent.rglob("*"))
    for method, path in (("PUT", ""), ("GET", ""), ("GET", "/versions"), ("GET", f"/versions/{sha(INNER)}")):
        body = {"source": INNER, "version": None} if method == "PUT" else None
        response = await library.client.request(method, f"/api/trees/{name}{path}", json=body)
        assert response.status_code in {404, 405, 422}, (method, path)
    assert set(folder.parent.rglob("*")) == before


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"source": INNER},
        {"source": INNER, "version": "x"},
        {"source": "a\0b", "version": None},
        {"source": 5, "version": None},
        {"source": INNER, "version": None, "note": "n" * 2_001},
        {"source": INNER, "version": None, "more": 1},
    ],
    ids=["nothing", "no version", "no digest", "a NUL", "no text", "a long note", "more"],
)
async def test_a_body_that_is_wrong_is_refused(library, body):
    response = await library.client.put("/api/trees/inner", json=body)
    assert response.status_code == 422
    assert {"type", "loc", "msg"} <= response.json()["detail"][0].keys()


async def test_half_a_character_is_refused(library):
    content = b'{"source": "tree: \\ud800", "version": null}'
    headers = {"Content-Type": "application/json"}
    response = await library.client.put("/api/trees/fresh", content=content, headers=headers)
    assert response.status_code == 422


@pytest.mark.long("tries a tree in a process")
async def test_a_tree_is_verified_with_a_text_in_place(library, folder):
    body = {"name": "inner", "source": INNER.replace("- stop: completed", "- stop: user_cancelled"), "turns": 1}
    found = (await library.client.post("/api/trees/verify", json=body)).json()
    assert TreeVerification.model_validate(found).model_dump(exclude_unset=True) == found
    assert (found["tree"], found["verdict"], found["bounds"]) == ("inner", "refuted", {"turns": 1, "stopped_at": None})
    [reason] = [each for each in found["properties"] if each["name"] == "reason"]
    assert reason["verdict"] == "refuted"
    assert reason["story"][0].startswith("1. The user asks")
    assert (folder / "inner.yaml").read_text(encoding="utf-8") == INNER


@pytest.mark.long("tries a tree in a process")
async def test_a_part_is_verified_in_a_tree_that_includes_it(library):
    body = {"name": "inner", "source": INNER.replace("- stop: completed", "- stop: stuck"), "of": "outer", "turns": 1}
    found = (await library.client.post("/api/trees/verify", json=body)).json()
    assert found["tree"] == "outer"
    assert (await library.client.post("/api/trees/verify", json={**body, "of": "nothing"})).status_code == 404


@pytest.mark.long("tries a tree in a process")
async def test_an_exploration_that_stops_early_says_where(library):
    body = {"name": "inner", "source": INNER.replace("- llm_turn", "- llm_turn\n    - llm_turn"), "states": 1}
    found = (await library.client.post("/api/trees/verify", json=body)).json()
    assert found["bounds"]["stopped_at"] == "1 states"
    assert found["verdict"] != "proven"


@pytest.mark.long("tries a tree in a process")
async def test_a_text_with_mistakes_is_not_verified(library):
    response = await library.client.post("/api/trees/verify", json={"name": "inner", "source": WRONG})
    assert response.status_code == 409
    assert "inner.yaml:6:7: there is no node kind 'llm_trun'" in response.json()["detail"]
    assert "/tmp" not in response.json()["detail"]


@pytest.mark.long("tries a tree in a process")
async def test_a_tree_is_explained_with_a_text_in_place_and_what_that_changes(library, folder):
    body = {"name": "inner", "source": INNER.replace("- stop: completed", "- say: Bye.\n    - stop: completed")}
    found = (await library.client.post("/api/trees/explain", json={**body, "of": "outer"})).json()
    assert TreeExplanation.model_validate(found).model_dump() == found
    assert (found["tree"], found["left_out"]) == ("outer", [])
    first = next(row for row in found["rows"] if "answers" in row["ids"])
    assert "“Bye.”" in first["sees"]
    line = 1 + body["source"].splitlines().index("    - stop: completed")
    assert (first["line"], line in first["lines"]) == (line, True)
    change = next(each for each in found["changes"] if "answers" in each["ids"])
    assert "“Bye.”" not in change["old"]["sees"]
    unchanged = (await library.client.post("/api/trees/explain", json={"name": "outer"})).json()
    assert unchanged["changes"] == []
    assert (folder / "inner.yaml").read_text(encoding="utf-8") == INNER


async def test_a_folder_that_cannot_be_written_is_said(start, tmp_path):
    (tmp_path / "file").write_text("no folder", encoding="utf-8")
    service = await start(trees_folder=tmp_path / "file" / "trees")
    response = await put(service, "fresh", "tree: fresh\nroot: llm_turn\n", None)
    assert response.status_code == 409
    assert "cannot be written: Not a directory; set ORACLE_TREES_DIR" in response.json()["detail"]


CALLS = [
    ("POST", "/api/trees/check", {"source": INNER}),
    ("POST", "/api/trees/complete", {"source": INNER, "line": 1, "column": 1}),
    ("POST", "/api/trees/hover", {"source": INNER, "line": 1, "column": 1}),
    ("POST", "/api/trees/definition", {"source": INNER, "line": 1, "column": 1}),
    ("POST", "/api/trees/compare", {"name": "nothing", "source": INNER}),
    ("POST", "/api/trees/test", {"name": "nothing", "source": INNER}),
    ("POST", "/api/trees/verify", {"name": "nothing", "source": INNER}),
    ("POST", "/api/trees/explain", {"name": "nothing", "source": INNER}),
    ("PUT", "/api/trees/oracle", {"source": INNER, "version": None}),
    ("PUT", "/api/trees/nothing", {"source": INNER, "version": None}),
    ("GET", "/api/trees/oracle/versions", None),
    ("GET", f"/api/trees/oracle/versions/{sha(INNER)}", None),
    ("POST", f"/api/trees/oracle/versions/{sha(INNER)}/restore", {"version": None}),
]


async def test_only_operators_check_save_and_take_back(guarded):
    for method, path, body in CALLS:
        response = await guarded.client.request(method, path, json=body, headers=ALICE)
        assert response.status_code == 403, path
        assert response.json() == {"detail": "Only operators may do this; ORACLE_OPERATORS names them."}
        operators = await guarded.client.request(method, path, json=body, headers=OLGA)
        assert operators.status_code != 403, path


async def test_users_see_the_trees_that_they_may_name_without_the_operators_paths(guarded):
    own = (await guarded.client.get("/api/trees", headers=ALICE)).json()
    assert [(tree["name"], tree["file"]) for tree in own["trees"]] == [("oracle", None)]
    assert (await guarded.client.get("/api/trees/oracle", headers=ALICE)).json()["file"] is None
    for name in ("fallback", "nothing"):
        response = await guarded.client.get(f"/api/trees/{name}", headers=ALICE)
        assert (response.status_code, response.json()["detail"]) == (
            404,
            "There is no such tree, or no such version of it.",
        )
    everything = (await guarded.client.get("/api/trees", headers=OLGA)).json()
    assert "fallback" in [tree["name"] for tree in everything["trees"]]


async def test_users_do_not_see_a_file_that_was_never_right(start, folder):
    folder.mkdir()
    (folder / "secret.yaml").write_text("tree: secret\ninternal: true\nroot: [", encoding="utf-8")
    service = await start(tokens=TOKENS | OPERATOR, operators=("olga",), trees_folder=folder)
    assert "secret" not in (await service.client.get("/api/trees", headers=ALICE)).text
    assert (await service.client.get("/api/trees/secret", headers=ALICE)).status_code == 404
    assert (await service.client.get("/api/trees/secret", headers=OLGA)).json()["mistake_count"] == 1


async def test_every_mistake_is_told_of_a_hostile_text_in_bounded_size(library):
    source = "tree: inner\nroot:\n  sequence:\n" + "    - nope_" + "x" * 5_000 + "\n"
    source += "".join(f"    - unknown{at}\n" for at in range(500))
    response = await put(library, "inner", source, sha(INNER))
    assert response.status_code == 422
    assert len(response.json()["detail"]) == 100
    assert len(response.content) < 200_000


SCENARIO_FILE = """\
scenarios:
  - name: one turn is enough
    tree: outer
    model:
      - { text: Because. }
    expect: { answer: Because., turns: 1 }
"""


@pytest.mark.long("tries a tree in a process")
async def test_recorded_queries_are_replayed_on_a_text_that_is_not_saved(library, folder):
    body = {"name": "inner", "source": INNER.replace("- llm", "- say: First of all.\n    - llm"), "runs": 5}
    assert (await library.client.post("/api/trees/compare", json=body)).json() == {"runs": []}
    run_id = (await library.ask("a question of its own", tree="outer")).run_id
    compared = (await library.client.post("/api/trees/compare", json=body)).json()
    assert TreeComparison.model_validate(compared).model_dump(mode="json", by_alias=True) == compared
    (run,) = compared["runs"]
    assert (run["run_id"], run["tree"], run["verdict"]) == (run_id, "outer", "differs")
    assert (run["difference"]["file"], run["difference"]["line"], run["difference"]["in"]) == ("inner.yaml", 6, "new")
    assert "First of all." in run["difference"]["new"]
    assert (run["question"], run["turns_saved"], run["tokens_saved"]) == ("a question of its own", 0, 0)
    said = next(track for track in run["tracks"] if track["label"] == "say")
    assert (said["old"], [cell["status"] for cell in said["new"]]) == ([], ["success"])
    assert any(track["label"] == "llm_turn" and track["old"] for track in run["tracks"])
    (run,) = (await library.client.post("/api/trees/compare", json={**body, "source": f"{INNER}# more\n"})).json()[
        "runs"
    ]
    assert (run["verdict"], run["difference"], run["new_end"]) == ("same", None, "completed")
    assert (folder / "inner.yaml").read_bytes() == INNER.encode()


@pytest.mark.long("tries a tree in a process")
async def test_one_recorded_query_is_replayed_with_the_values_of_the_condition_that_decides(library):
    run_id = (await library.ask("the older one", tree="outer")).run_id
    await library.ask("the newer one", tree="outer")
    edited = INNER.replace("- llm", "- condition: turn > 5 and tokens_used > 0\n    - llm")
    body = {"name": "inner", "source": edited, "run_id": run_id}
    compared = (await library.client.post("/api/trees/compare", json=body)).json()
    assert TreeComparison.model_validate(compared).model_dump(mode="json", by_alias=True) == compared
    (run,) = compared["runs"]
    assert (run["run_id"], run["question"]) == (run_id, "the older one")
    assert run["difference"]["answer"] == {
        "yes": False,
        "text": "turn > 5",
        "operands": [{"name": "turn", "value": 0}],
    }
    assert run["turns_saved"] == 1
    none = await library.client.post("/api/trees/compare", json={**body, "run_id": "nothing"})
    assert none.status_code == 404


@pytest.mark.parametrize("trial", ["test", "verify", "compare"])
async def test_a_trial_ends_when_its_client_goes(library, monkeypatch, trial):
    begun, ended = asyncio.Event(), asyncio.Event()

    async def hang(*_args, **_options):
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    await library.ask(tree="outer")
    monkeypatch.setattr(library.parts.trials(), "find", hang)
    body = {"name": "inner", "source": INNER, **({"of": "outer"} if trial == "verify" else {})}
    asking = asyncio.create_task(library.client.post(f"/api/trees/{trial}", json=body))
    await begun.wait()
    assert not ended.is_set()
    asking.cancel()
    async with asyncio.timeout(10):
        await ended.wait()


@pytest.mark.long("tries a tree in a process")
async def test_a_trial_of_a_text_with_mistakes_says_so(library):
    await library.ask(tree="outer")
    body = {"name": "outer", "source": OUTER.replace("subtree", "subtee")}
    response = await library.client.post("/api/trees/compare", json=body)
    assert response.status_code == 409
    assert "outer.yaml:6:7: there is no node kind 'subtee'" in response.json()["detail"]
    assert "/tmp" not in response.json()["detail"]


@pytest.mark.long("tries a tree in a process")
async def test_scenarios_are_played_with_a_text_in_place(library, folder):
    (folder / "scenarios").mkdir()
    (folder / "scenarios" / "part.yaml").write_text(SCENARIO_FILE, encoding="utf-8")
    played = [
        (await library.client.post("/api/trees/test", json={"name": "inner", "source": source})).json()
        for source in (INNER, INNER.replace("- llm_turn", "- say: Nothing."))
    ]
    assert [TreeTest.model_validate(each).model_dump(exclude_unset=True) for each in played] == played
    right, wrong = (next(file for file in each["files"] if file["file"] == "part.yaml") for each in played)
    assert right == {
        "file": "part.yaml",
        "passed": True,
        "mistakes": "",
        "scenarios": [
            {
                "name": "one turn is enough",
                "line": 2,
                "tree": "outer",
                "visited_trees": ["inner", "outer"],
                "passed": True,
                "differences": [],
            }
        ],
    }
    assert (wrong["passed"], wrong["scenarios"][0]["passed"], played[1]["passed"]) == (False, False, False)
    assert ["answer"] in [each["path"][:1] for each in wrong["scenarios"][0]["differences"]]
