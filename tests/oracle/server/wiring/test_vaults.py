import gc
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracle import Ask, Fittings, build_oracle, read_settings
from oracle.server.wiring.identity import UserTools, folder_name
from oracle.testing import ScriptedModel
from oracle.tools import ToolRegistry
from oracle.tools.client_tools import ClientTool, ClientTools
from tests.acceptance.harness import made_tool, numbered

NAMES = st.text(min_size=1)


@pytest.mark.parametrize(
    ("user", "name"),
    [
        ("anna", "anna"),
        ("anna_b-2", "anna_b-2"),
        ("Anna", "%41nna"),
        ("anna@example.com", "anna%40example%2ecom"),
        ("..", "%2e%2e"),
        ("a/b", "a%2fb"),
        ("ä", "%c3%a4"),
        ("%41", "%2541"),
        ("\ud800", "%ed%a0%80"),
    ],
)
def test_a_users_folder_has_a_name_that_is_safe_and_readable(user, name):
    assert folder_name(user) == name


def test_a_long_name_becomes_a_digest():
    name = folder_name("x" * 121)
    assert name.startswith("=")
    assert len(name) == 65
    assert folder_name("x" * 120) == "x" * 120


@given(NAMES, NAMES)
def test_no_two_users_share_a_folder_even_where_case_is_ignored(one, other):
    assert (folder_name(one).casefold() == folder_name(other).casefold()) == (one == other)


@given(NAMES)
def test_no_name_leads_anywhere_but_into_the_vault(user):
    name = folder_name(user)
    assert (Path("/vault") / name).resolve().parent == Path("/vault")
    assert 0 < len(name.encode()) < 256


def test_a_user_has_the_same_tools_again_and_only_so_many_are_kept():
    made = []

    def make(folder):
        made.append(folder.name)
        return ToolRegistry([])

    tools = UserTools(Path("/vaults"), make=make, most_kept=2)
    first = tools.of("anna")
    assert tools.of("anna") is first
    for user in ("bob", "cleo", "dora"):
        tools.of(user)
    assert tools.of("anna") is first  # they are still in use
    assert made == ["anna", "bob", "cleo", "dora"]
    del first
    for user in ("eve", "finn"):
        tools.of(user)
    gc.collect()
    tools.of("anna")
    assert made[-1] == "anna"


@pytest.mark.parametrize(
    ("control", "brought"),
    [("tree", None), ("tree", ClientTools([ClientTool("paint")])), ("loop", None)],
    ids=["own", "clients", "loop"],
)
async def test_a_user_has_the_same_tools_again_while_a_query_has_any_of_them(control, brought, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    made = []

    def make(folder):
        made.append(folder.name)
        return ToolRegistry([made_tool(numbered), replace(made_tool(numbered, "write_page"), needs_approval=True)])

    users = UserTools(Path("/vaults"), make=make, most_kept=1)
    oracle = build_oracle(read_settings(control=control), Fittings(ScriptedModel([])), tools_of=users.of)
    query = await oracle.open(Ask("Hello", user_id="anna", client_tools=brought), emit=lambda _: None)
    users.of("bob")
    gc.collect()
    users.of("anna")
    assert made == ["anna", "bob"]
    del query
