"""`oracle domain`: a new folder runs at once, and the check says how well its words tell its types apart."""

import re

import pytest

from oracle.cli import main


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ORACLE_LLM", "offline")
    return tmp_path


def test_a_new_domain_is_right_and_answers_at_once(here, monkeypatch, capfd):
    assert main(["domain", "new", "shop"]) == 0
    assert "oracle domain check ./shop" in capfd.readouterr().out
    assert main(["domain", "check", "shop"]) == 0
    out = capfd.readouterr().out
    assert re.match(r"shop: 3 types, 2 tools, 3 segments of its own\n", out)
    assert "change: 3 of 3 examples recognized" in out
    assert "Note" not in out
    monkeypatch.setenv("ORACLE_DOMAIN", "./shop")
    assert main(["ask", "What is the status of record 7?"]) == 0
    assert main(["trees", "check"]) == 0


def test_files_that_are_there_are_never_changed(here, capfd):
    assert main(["domain", "new", "shop", "desk"]) == 0
    assert main(["domain", "new", "shop", "desk"]) == 1
    assert "there already" in capfd.readouterr().err
    assert main(["domain", "new", "My Shop"]) == 1
    assert "'My Shop' cannot name a domain" in capfd.readouterr().err


def test_the_check_names_what_is_taken_for_another_type_and_what_no_tool_serves(here, capfd):
    main(["domain", "new", "shop"])
    file = here / "shop" / "domain.yaml"
    text = file.read_text().replace("needs: [records]", "needs: [shelves]").replace("- Hello!", "- What is number 12?")
    file.write_text(text, encoding="utf-8")
    capfd.readouterr()
    assert main(["domain", "check", "shop"]) == 0
    out = capfd.readouterr().out
    assert "'What is number 12?' is taken for question" in out
    assert "question needs 'shelves', but no tool reads and is in the group 'shelves'" in out


def test_a_wrong_domain_ends_the_check_with_the_places(here, capfd):
    main(["domain", "new", "shop"])
    (here / "shop" / "domain.yaml").write_text("domain: shop\ntypes: 5\n", encoding="utf-8")
    assert main(["domain", "check", "shop"]) == 1
    assert "domain.yaml:2:1: 'types' must be a mapping, not 5" in capfd.readouterr().err


def test_a_tool_for_a_type_that_there_is_not_is_a_mistake(here, capfd):
    main(["domain", "new", "shop"])
    tools = here / "shop" / "tools.py"
    tools.write_text(tools.read_text().replace('by its number."', 'by its number.", query_types=["qestion"]'))
    assert main(["domain", "check", "shop"]) == 1
    assert (
        "the tool 'find_record': there is no query type 'qestion'. Did you mean 'question'?" in capfd.readouterr().err
    )


def test_mistakes_in_the_trees_of_a_domain_are_found(here, capfd):
    main(["domain", "new", "shop"])
    (here / "shop" / "trees" / "scenarios").mkdir(parents=True)
    assert main(["domain", "check", "shop"]) == 0
    (here / "shop" / "trees" / "desk.yaml").write_text("tree: desk\nroot: llm_trun\n", encoding="utf-8")
    assert main(["domain", "check", "shop"]) == 1
    said = capfd.readouterr().err
    assert "desk.yaml:2:7: " in said
    assert "did you mean 'llm_turn'?" in said
