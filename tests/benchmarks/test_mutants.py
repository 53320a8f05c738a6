"""The mutants are what they claim to be: one change, in code that parses."""

import ast

import pytest

from benchmarks import mutants

SOURCE = "def f(a):\n    if a < 1 and not a:\n        return a\n    a += 2\n    raise ValueError(a)\n"


@pytest.fixture
def file(tmp_path, monkeypatch):
    monkeypatch.setattr(mutants, "ROOT", tmp_path)
    (tmp_path / "f.py").write_text(f'"""Ünïcode before."""\n{SOURCE}', encoding="utf-8")
    return tmp_path / "f.py"


def test_each_place_has_its_defect(file):
    assert {(each.before, each.after) for each in mutants.mutants_of("f.py")} == {
        ("a < 1 and not a", "(a < 1 or not a)"),
        ("a < 1", "(a <= 1)"),
        ("1", "2"),
        ("not a", "a"),
        ("return a", "return None"),
        ("a += 2", "a -= 2"),
        ("2", "3"),
        ("raise ValueError(a)", "pass"),
    }


def test_every_mutant_of_a_room_parses():
    for mutant in mutants.sample(mutants.ROOMS["decision"], 10_000):
        text = (mutants.ROOT / mutant.path).read_bytes()
        first, last = mutant.span
        assert text[first:last].decode() == mutant.before
        ast.parse(text[:first] + mutant.after.encode() + text[last:])


def test_the_sample_does_not_change_with_an_edit_elsewhere(file):
    before = {each.name for each in mutants.mutants_of("f.py")}
    file.write_text("x = 1\n\n\n" + SOURCE, encoding="utf-8")
    assert {each.name for each in mutants.mutants_of("f.py")} == before


def test_an_unknown_package_is_refused_with_the_list_of_known_ones(monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["mutants", "signal"])
    with pytest.raises(SystemExit):
        mutants.main()
    assert "there is no room 'signal'; rooms are signals, bt_runtime" in capsys.readouterr().err
