"""`oracle ask` with the embedded model and with invalid input, in this process."""

import io
import json
import os

import pytest

OFFLINE = "offline-extractive"


def stdin(monkeypatch, data):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data), encoding="utf-8"))


def chunks(ran):
    return [json.loads(line) for line in ran.out.splitlines()]


def test_a_question_is_answered_with_its_sources(oracle, project):
    ran = oracle("ask", "Where is the function check_password?", "--project", project)
    assert ran.code == 0
    assert "check_password" in ran.out
    assert "\nSources:\n- login.py:" in ran.out
    assert "✓ search_code(" in ran.err
    assert ran.err.splitlines()[-1].startswith("completed · ")
    assert OFFLINE in ran.err


def test_json_is_the_chunks_and_nothing_else(oracle, project):
    ran = oracle("ask", "Where is the function check_password?", "--project", project, "--json")
    assert ran.code == 0
    assert ran.err == ""
    found = chunks(ran)
    assert [chunk["type"] for chunk in found].count("done") == 1
    assert found[-1]["type"] == "done"
    assert found[-1]["termination_reason"] == "completed"
    assert any(chunk["type"] == "tool_call" for chunk in found)
    assert "check_password" in "".join(chunk["content"] for chunk in found if chunk["type"] == "content")


def test_a_limit_ends_the_query_and_the_partial_answer_counts(oracle, project):
    ran = oracle("ask", "Where is check_password?", "--project", project, "--limit", "max_iterations=1", "--json")
    assert chunks(ran)[-1]["turns"] == 1


@pytest.mark.parametrize("arguments", [["-"], []], ids=["dash", "left out"])
def test_the_question_may_come_from_standard_input(oracle, monkeypatch, arguments):
    stdin(monkeypatch, "Thanks, that helps! 👍\n".encode())
    assert oracle("ask", *arguments).code == 0


@pytest.mark.parametrize(
    ("data", "message"),
    [
        pytest.param(b"", "the question is empty", id="nothing"),
        pytest.param(b" \n\t", "the question is empty", id="white space"),
        pytest.param(b"\x7fELF\x02\x01\x01\x00\x00", "NUL characters", id="a binary file"),
        pytest.param(b"caf\xe9?", "standard input is not UTF-8 text: byte 0xe9 at position 4", id="another encoding"),
        pytest.param(b"a" * 20_001, "the question has 20,001 characters; at most 20,000", id="a character too many"),
        pytest.param(b"a" * 5_000_000, "a question may have at most 20,000 characters", id="a whole file"),
    ],
)
def test_an_invalid_question_is_refused(oracle, monkeypatch, data, message):
    stdin(monkeypatch, data)
    ran = oracle("ask")
    assert ran.code == 1
    assert ran.err.startswith("Error: ")
    assert message in ran.err
    assert ran.out == ""


def test_an_argument_that_is_not_utf_8_is_refused(oracle):
    ran = oracle("ask", os.fsdecode(b"caf\xe9?"))
    assert ran.code == 1
    assert "the question is not UTF-8 text: byte 0xe9 at position 4" in ran.err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--limit", "max_iterations"], "--limit takes NAME=VALUE, such as max_iterations=5, not 'max_iterations'"),
        (["--limit", "max_iteration=5"], "there is no limit 'max_iteration'; did you mean 'max_iterations'?"),
        (["--limit", "token_budget=5"], "token_budget must be a whole number from 1,000 to 200,000, not 5"),
        (["--limit", "token_budget=many"], "token_budget must be a whole number from 1,000 to 200,000, not 'many'"),
        (["--limit", "timeout_seconds=1e3"], "timeout_seconds must be a whole number from 10 to 600, not '1e3'"),
        (["--limit", f"timeout_seconds={'9' * 5000}"], "timeout_seconds must be a whole number from 10 to 600"),
        (["--limit", "token_budget="], "token_budget must be a whole number from 1,000 to 200,000, not ''"),
        (["--tree", "oracel"], "there is no tree 'oracel'; did you mean 'oracle'?"),
        (["--tree", "../etc/passwd"], "there is no tree '../etc/passwd'"),
        (["--project", "none"], "--project or ORACLE_PROJECT_DIR"),
        (["--vault", "none"], "--vault or ORACLE_VAULT_DIR"),
        (["--vault", "a-file"], "--vault or ORACLE_VAULT_DIR"),
        (["--project", "a-file"], "--project or ORACLE_PROJECT_DIR"),
        (
            ["--model", "claude-haiku-5-5"],
            "needs its provider, but the embedded model answers; set ANTHROPIC_API_KEY (and",
        ),
        (
            ["--model", "ollama/qwen3:8b"],
            "the embedded model answers; set ORACLE_MODEL=ollama/qwen3:8b, or leave --model",
        ),
        (["--model", ""], "--model needs the name of a model"),
    ],
)
def test_invalid_input_is_reported_with_a_correction_and_starts_no_query(oracle, tmp_path, options, message):
    (tmp_path / "a-file").write_text("no folder")
    ran = oracle("ask", "Hello", *options)
    assert ran.code == 1
    assert message in ran.err
    assert len(ran.err) < 1_000
    assert "Traceback" not in ran.err
    assert ran.out == ""


def test_an_invalid_command_line_has_its_own_exit_code(oracle):
    ran = oracle("ask", "Hello", "--nonsense")
    assert ran.code == 2
    assert "--nonsense" in ran.err


def test_an_unquoted_question_is_joined_from_its_words(oracle, project):
    quoted = oracle("ask", "where is check_password", "--project", project)
    ran = oracle("ask", "where", "is", "--project", project, "check_password")
    assert (ran.code, ran.out) == (0, quoted.out)
    assert "login.py" in ran.out


def test_all_invalid_limits_are_reported_together(oracle):
    ran = oracle("ask", "Hello", "--limit", "token_budget=x", "--limit", "max_iterations=0")
    assert ran.code == 1
    assert "token_budget must be" in ran.err
    assert "max_iterations must be" in ran.err


def test_control_characters_of_the_command_line_are_escaped(oracle):
    ran = oracle("ask", "Hello", "--tree", "\x1b[31mred")
    assert ran.code == 1
    assert "\x1b" not in ran.err


def test_an_invalid_setting_is_reported_with_its_variable(oracle, monkeypatch):
    monkeypatch.setenv("ORACLE_CONTROL", "both")
    ran = oracle("ask", "Hello")
    assert ran.code == 1
    assert "ORACLE_CONTROL must be 'tree', 'loop' or 'shadow', not 'both'" in ran.err


def test_a_misspelt_setting_is_noted(oracle, monkeypatch):
    monkeypatch.setenv("ORACLE_TREE_DIR", "x")
    ran = oracle("ask", "Thanks!")
    assert ran.code == 0
    assert "Note: ORACLE_TREE_DIR is not a setting and has no effect; did you mean ORACLE_TREES_DIR?" in ran.err


def test_a_misspelt_setting_in_the_file_is_noted(oracle, tmp_path):
    (tmp_path / ".env").write_text("ORACLE_MODLE=claude-haiku-5-5\n")
    ran = oracle("ask", "Thanks!")
    assert ran.code == 0
    assert "Note: ORACLE_MODLE is not a setting and has no effect; did you mean ORACLE_MODEL?" in ran.err


def test_settings_can_be_in_a_file(oracle, tmp_path):
    (tmp_path / ".env").write_text("ORACLE_LLM=nobody\n")
    ran = oracle("ask", "Hello")
    assert ran.code == 1
    assert "ORACLE_LLM must be 'auto', 'anthropic' or 'offline', not 'nobody'" in ran.err


def test_an_operators_ceiling_lowers_a_limit_with_a_note(oracle, monkeypatch):
    monkeypatch.setenv("ORACLE_MAX_ITERATIONS", "4")
    ran = oracle("ask", "Thanks!", "--limit", "max_iterations=9", "--limit", "token_budget=5000")
    assert ran.code == 0
    assert "Note: max_iterations is 4 and not 9; ORACLE_MAX_ITERATIONS allows no more." in ran.err
    assert "token_budget" not in ran.err


def test_mistakes_in_a_tree_are_reported_like_compiler_errors(oracle, monkeypatch, tmp_path):
    folder = tmp_path / "trees"
    folder.mkdir()
    (folder / "mine.yaml").write_text("tree: mine\nroot:\n  sequence:\n    - llm_turn: {timeout: 120}\n    - finsh\n")
    monkeypatch.setenv("ORACLE_TREES_DIR", str(folder))
    ran = oracle("ask", "Hello", "--tree", "mine")
    assert ran.code == 1
    assert ran.err.startswith(f"{folder / 'mine.yaml'}:4:")
    assert "hint: did you mean 'timeout_s'?" in ran.err
    assert "hint: did you mean 'finish'?" in ran.err


def test_an_edited_tree_takes_effect(oracle, monkeypatch, tmp_path):
    folder = tmp_path / "trees"
    folder.mkdir()
    (folder / "oracle.yaml").write_text("tree: oracle\nroot: {sequence: [{say: 'Closed today.'}, {stop: completed}]}\n")
    monkeypatch.setenv("ORACLE_TREES_DIR", str(folder))
    ran = oracle("ask", "Hello")
    assert (ran.code, ran.out) == (0, "Closed today.\n")


def test_the_plain_loop_answers_too(oracle, monkeypatch, project):
    monkeypatch.setenv("ORACLE_CONTROL", "loop")
    ran = oracle("ask", "Where is the function check_password?", "--project", project)
    assert ran.code == 0
    assert "login.py:" in ran.out


def test_the_help_lists_options_and_exit_codes_and_fits_on_a_screen(oracle):
    ran = oracle("ask", "--help")
    assert ran.code == 0
    for word in ("--limit NAME=VALUE", "max_parallel_tools", "130", "`oracle serve --help` lists them"):
        assert word in ran.out
    assert len(ran.out.splitlines()) <= 40
