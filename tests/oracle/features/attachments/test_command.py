"""`oracle ask --attach`: files of this machine with a question at the terminal."""

import pytest

from tests.oracle.features.attachments import files


def test_the_embedded_model_says_that_it_cannot_see_a_file(oracle, project, tmp_path):
    (tmp_path / "cat.png").write_bytes(files.png())
    ran = oracle("ask", "What is it?", "--project", str(project), "--attach", str(tmp_path / "cat.png"))
    assert ran.code == 0
    assert "I cannot see what is attached (cat.png)" in ran.out


@pytest.mark.parametrize(
    ("name", "data", "words"),
    [
        ("cat.png", files.ZIP, "'cat.png' is a ZIP archive"),
        ("none.png", None, "'none.png' cannot be read: No such file"),
    ],
)
def test_a_file_that_cannot_be_attached_starts_no_query(oracle, tmp_path, name, data, words):
    if data is not None:
        (tmp_path / name).write_bytes(data)
    ran = oracle("ask", "What is it?", "--attach", str(tmp_path / name))
    assert ran.code == 1
    assert words in ran.err


def test_without_the_feature_and_beside_a_service_it_is_refused(oracle, tmp_path, monkeypatch):
    (tmp_path / "a.txt").write_text("text")
    beside = oracle("ask", "What?", "--detach", "--attach", str(tmp_path / "a.txt"))
    assert "--attach cannot be combined with --detach" in beside.err
    monkeypatch.setenv("ORACLE_FEATURES", "-attachments")
    without = oracle("ask", "What?", "--attach", str(tmp_path / "a.txt"))
    assert "--attach needs the feature 'attachments'" in without.err


async def test_requests_have_the_files_from_memory(tmp_path):
    from oracle.features.attachments.asking import attached  # noqa: PLC0415
    from oracle.features.attachments.showing import Completion  # noqa: PLC0415
    from tests.acceptance.harness import harness  # noqa: PLC0415

    async def nothing(_ids):
        return {}

    (tmp_path / "a.txt").write_text("text")
    async with harness(wire=False) as it:
        it.oracle.equipment.hooks.complete = complete = Completion(nothing)
        (block,) = attached(it.oracle, [tmp_path / "a.txt"])
        assert await complete.read([block["id"]]) == {block["id"]: b"text"}
