from pathlib import Path

import pytest

from oracle.tools import (
    ToolRegistry,
    all_reading,
    arguments_line,
    project_tools,
    tool,
    tools_for,
    vault_tools,
    web_tools,
)

CODE = ("search_code", "read_file", "list_files")
VAULT_READERS = ("vault_search", "vault_read", "vault_list", "thread_read", "thread_seek")
WRITERS = ("vault_write", "thread_push")
WEB = ("web_search",)


@pytest.fixture
def everything(tmp_path: Path, clock) -> ToolRegistry:
    return ToolRegistry([*project_tools(tmp_path), *vault_tools(tmp_path, now=clock), *web_tools(has_web_search=True)])


@pytest.mark.parametrize(
    ("query_types", "expected"),
    [
        (["code"], CODE),
        (["documentation"], VAULT_READERS),
        (["research"], WEB),
        (["conversational"], ()),
        (["action"], VAULT_READERS + WRITERS),
        (["code", "documentation"], CODE + VAULT_READERS),
        (["research", "code"], CODE + WEB),
        (["conversational", "research"], WEB),
        (["documentation", "action"], VAULT_READERS + WRITERS),
        ([], ()),
    ],
    ids=" and ".join,
)
def test_the_type_of_a_query_selects_its_tools_as_decision_23_says(everything, query_types, expected) -> None:
    assert tools_for(query_types, everything) == expected


def test_all_reading_tools_are_those_that_do_not_write(everything) -> None:
    assert all_reading(everything) == CODE + VAULT_READERS + WEB


def test_an_unknown_type_is_an_error_with_a_suggestion(everything) -> None:
    with pytest.raises(ValueError, match=r"no query type 'reserch'\. Did you mean 'research'"):
        tools_for(["reserch"], everything)


def test_without_web_search_research_is_offered_nothing(tmp_path: Path) -> None:
    registry = ToolRegistry([*project_tools(tmp_path), *web_tools(has_web_search=False)])
    assert tools_for(["research"], registry) == ()
    assert "web_search" not in registry.names


async def test_web_search_is_run_by_the_provider(everything) -> None:
    assert everything.get("web_search").is_server_side
    assert [tool.name for tool in everything.definitions(WEB)] == ["web_search"]
    assert (await everything.call("web_search", {"query": "x"})).is_error


def test_writing_tools_of_any_group_are_only_for_actions() -> None:
    def apply_patch(patch: str) -> str:
        """Change the code."""
        return patch

    registry = ToolRegistry([tool(group="code", when_to_use="Never.", writes=True)(apply_patch)])
    assert tools_for(["code"], registry) == ()
    assert tools_for(["action"], registry) == ("apply_patch",)


def test_names_and_arguments_follow_the_contract(everything) -> None:
    arguments = {tool.name: arguments_line(tool.input_schema) for tool in everything.tools}
    assert arguments == {
        "search_code": "query, limit?, language?, path?, mode?, skip?",
        "read_file": "path, start_line?, end_line?",
        "list_files": "path?, pattern?",
        "vault_search": "query, limit?",
        "vault_read": "path",
        "vault_list": "folder?",
        "vault_write": "path, body, title?, overwrite?",
        "thread_read": "thread",
        "thread_seek": "query, limit?",
        "thread_push": "thread, content",
        "web_search": "query",
    }
    assert {tool.name for tool in everything.tools if tool.writes} == set(WRITERS)


def test_every_tool_says_when_to_use_it_and_describes_its_arguments(everything) -> None:
    for each in everything.tools:
        assert each.when_to_use.endswith(".")
        assert each.description.endswith(".")
        assert all(argument.get("description") for argument in each.input_schema["properties"].values())


def test_what_a_question_may_need_is_offered_whatever_its_type(everything) -> None:
    offered = tools_for(["research"], everything, sources={"code", "vault", "web"})
    assert offered == (*CODE, "vault_search", "vault_read", "vault_list", *WEB)
    assert tools_for(["documentation"], everything, sources={"thread", "write"}) == (
        *("thread_read", "thread_seek"),
        *WRITERS,
    )


@pytest.mark.parametrize(
    ("needed", "there", "expected"),
    [
        ({"code"}, "vault", VAULT_READERS),
        ({"vault"}, "code", CODE),
        ({"thread"}, "code", CODE),
        ({"code", "vault"}, "web", WEB),
        ({"web"}, "code", ()),
        (set(), "code", ()),
    ],
    ids=["notes for code", "code for notes", "code for threads", "the web if there is nothing else", "none", "chat"],
)
def test_where_a_group_has_no_tool_those_that_come_closest_stand_in_for_it(everything, needed, there, expected) -> None:
    groups = {"vault": {"vault", "thread"}}.get(there, {there})
    registry = ToolRegistry(each for each in everything.tools if each.group in groups)
    assert tools_for(["code"], registry, sources=needed) == expected


@tool(group="offices", when_to_use="When the user asks when an office is open.", examples=["Who sits in Lima?"])
def opening_hours(city: str) -> str:
    """Look up the opening hours of an office."""
    return city


@pytest.mark.parametrize(
    ("question", "is_offered"),
    [
        ("Is the Berlin office open on Monday?", True),
        ("Which offices are there?", True),
        ("who is sitting next to me", True),
        ("anything new in LIMA?", True),
        ("When the user asks, what do I answer?", False),
        ("Where is the retry limit set?", False),
        ("", False),
    ],
)
def test_a_tool_of_a_group_of_its_own_is_placed_by_its_words(question, is_offered) -> None:
    registry = ToolRegistry([opening_hours])
    assert tools_for(["code"], registry, question=question) == (("opening_hours",) if is_offered else ())


def test_words_add_to_the_types_that_a_tool_names_but_not_to_none_and_not_to_writing() -> None:
    def office(city: str) -> str:
        """Find an office."""
        return city

    def offered(**settings) -> tuple[str, ...]:
        made = tool(group="offices", when_to_use="For offices.", **settings)(office)
        return tools_for(["code"], ToolRegistry([made]), question="Where is the office?")

    assert offered(query_types=["research"]) == ("office",)
    assert offered(query_types=[]) == ()
    assert offered(query_types=["research"], writes=True) == ()
    assert offered(writes=True) == ()
