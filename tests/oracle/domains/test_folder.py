"""The folder of a domain: what it is read to, and what is said of mistakes."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from bt_runtime.testing import FakeClock
from oracle.agent.equipment import Equipment
from oracle.agent.nodes import REGISTRY, registry_for
from oracle.classify import classify_query
from oracle.domains.domain import DomainError, domain_in, shipped_domain
from oracle.domains.folder import read_domain
from oracle.server.settings.reading import read_settings
from oracle.server.wiring.agent import build_tools, tree_library
from oracle.server.wiring.domains import domain_of
from oracle.testing import ScriptedModel
from oracle.tools import BUILT_IN_TOOLS
from prompts import PromptError, compose

YAML = """
domain: desk
types:
  order: { needs: [orders], words: { order: 2 }, examples: [Where is order 7?], suggestions: [Where is order 7?] }
  chat: { words: { hello: 1 }, suggestions: [Hello] }
"""
BASE = "---\nid: base\ndescription: Who it is.\npriority: 0\nalways: true\n---\nYou are the desk."
ORDERS = "---\nid: orders\ndescription: Orders.\npriority: 50\nwhen: {query_type: order}\n---\nLook orders up."
TOOLS = '''
from oracle.tools import tool

@tool(group="orders", when_to_use="To look up an order.")
def find_order(number: int) -> str:
    """Look up an order."""
    return f"order {number}"

tools = [find_order]
'''
TREE = "tree: greeting\ndescription: Greets.\nroot: { sequence: [classify_query, { check: query_type == 'chat' }] }\n"


@pytest.fixture
def folder(tmp_path):
    for name, text in {
        "domain.yaml": YAML,
        "prompts/base.md": BASE,
        "prompts/orders.md": ORDERS,
        "tools.py": TOOLS,
        "trees/greeting.yaml": TREE,
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


def settings_of(folder):
    return read_settings(domain=folder, data_dir=folder / "data", project_dir=folder, llm="offline")


def test_a_folder_has_types_words_prompts_tools_trees_and_suggestions(folder):
    settings = settings_of(folder)
    domain = domain_of(settings)
    assert domain.name == "desk"
    assert [(each.question, each.about) for each in domain.suggestions] == [
        ("Where is order 7?", "order"),
        ("Hello", "chat"),
    ]
    assert domain.classifier().classify_query_with("an order").query_type == "order"
    tools = build_tools(settings, has_web_search=True)
    assert "find_order" in tools.names
    assert BUILT_IN_TOOLS.isdisjoint(tools.names), "no type needs code, vault, thread or web"
    library = tree_library(settings)
    assert "greeting" in library.names()
    assert domain_in(library.registry) is domain
    assert library.registry.keys["query_type"].values == ("", "chat", "order")
    assert library.registry.keys["query_type"].description == "order or chat."


def test_its_prompts_take_the_place_of_those_about_the_shipped_types(folder):
    segments = domain_of(settings_of(folder)).shared_segments
    assert {"base", "orders", "signals", "tools-reference", "error-recovery"} <= set(segments.ids)
    assert {"code-analysis", "documentation", "actions", "signal-examples"}.isdisjoint(segments.ids)
    assert compose(query_type="order", segments=segments).text.startswith("You are the desk.")
    with pytest.raises(PromptError, match=r"query_type 'ordr' is unknown; did you mean 'order'"):
        compose(query_type="ordr", segments=segments)


def test_the_built_in_tools_of_a_group_come_with_a_type_that_needs_it(folder):
    (folder / "domain.yaml").write_text(YAML.replace("[orders]", "[orders, vault]"), encoding="utf-8")
    names = build_tools(settings_of(folder), has_web_search=True).names
    assert {"vault_search", "vault_read", "find_order"} <= set(names)
    assert {"search_code", "thread_read", "web_search"}.isdisjoint(names)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("types: {a: {}}", "domain.yaml:1:1: the domain has no 'domain'"),
        ("domain: 7\ntypes: {a: {}}", "domain.yaml:1:1: 7 cannot name a domain"),
        ("domain: d\ntypes: {}", "'types' has no type"),
        ("domain: d\ntypes: [a]", "'types' must be a mapping, not a list"),
        ("domain: d\ntypes: {A: {}}", "'A' cannot name a type"),
        ("domain: d\ntypes:\n  a: {word: {x: 1}}", "domain.yaml:3:7: 'type' has no setting 'word'"),
        ("domain: d\ntypes:\n  a: {words: {x: 50}}", "domain.yaml:3:18: 'words.x' must be at most 10, not 50"),
        ('domain: d\ntypes:\n  a: {words: {"": 1}}', "must be text of at least 1 character"),
        (f"domain: d\ntypes:\n  a: {{words: {{{'w ' * 50}: 1}}}}", "must be text of at most 80 characters"),
        ("domain: d\ntypes: {a: {needs: ['No Group']}}", "domain.yaml:2:21: 'needs[0]' must be text that matches"),
        ("domain: d\ntypes: {a: {suggestions: [7]}}", "domain.yaml:2:27: 'suggestions[0]' must be text, not 7"),
        ("domain: d\ntypes: {a: {}}\nmore: 1", "the domain has no field 'more'"),
        ("a: &a [*a]", "contains itself"),
    ],
)
def test_a_wrong_file_has_the_places_of_its_mistakes(folder, text, message):
    (folder / "domain.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(DomainError) as caught:
        read_domain(folder)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [("x = 1\nx.y", r"tools\.py:2: AttributeError: "), ("def (:", r"tools\.py:1: SyntaxError: ")],
)
def test_python_that_cannot_be_imported_is_named_with_its_line(folder, text, message):
    (folder / "tools.py").write_text(text, encoding="utf-8")
    with pytest.raises(DomainError, match=message):
        read_domain(folder)


def test_a_folder_needs_its_file_and_a_base_prompt(folder, tmp_path):
    (folder / "prompts" / "base.md").unlink()
    with pytest.raises(DomainError, match=r"base\.md' is missing: it says who the assistant is"):
        read_domain(folder)
    with pytest.raises(DomainError, match="does not exist; `oracle domain new NAME` makes one"):
        read_domain(tmp_path / "nowhere")
    with pytest.raises(DomainError, match=r"has no domain\.yaml"):
        read_domain(folder / "prompts")


def test_a_prompt_for_a_type_that_the_domain_does_not_have_is_a_mistake_with_its_place(folder):
    (folder / "prompts" / "orders.md").write_text(ORDERS.replace("query_type: order", "query_type: code"))
    with pytest.raises(PromptError, match=r"orders\.md:5:8: unknown query type 'code'"):
        read_domain(folder).segments()


def test_only_the_environment_names_a_domain(folder, monkeypatch):
    monkeypatch.chdir(folder)
    (folder / ".env").write_text(f"ORACLE_DOMAIN={folder}\n", encoding="utf-8")
    assert read_settings(Path(".env")).domain == "code"
    monkeypatch.setenv("ORACLE_DOMAIN", str(folder))
    assert domain_of(read_settings(Path(".env"))).name == "desk"


def test_the_shipped_domain_suggests_what_there_are_tools_for():
    suggested = shipped_domain().suggested
    assert [each.about for each in suggested({"code", "vault", "thread"})] == ["code", "notes", "threads", "code"]
    assert [each.about for each in suggested({"code"})] == ["code"] * 4
    assert suggested(()) == ()
    assert domain_in(REGISTRY) is shipped_domain()
    assert domain_in(registry_for(shipped_domain().types, host=None)) is shipped_domain()


def test_the_question_before_counts_only_if_it_is_of_the_same_domain(folder):
    settings = settings_of(folder)
    domain, before = domain_of(settings), classify_query("Where is the retry limit set in the code?")
    tools = build_tools(settings, has_web_search=False)
    ours = Equipment(model=ScriptedModel([]), tools=tools, clock=FakeClock(), classifier=domain.classifier())
    assert ours.classified("and the other one?", None, before).query_type == "order"
    kept = ours.classified("hello", None, None)
    assert ours.classified("and?", None, kept).query_type == "chat"


ASKED = """
import json, sys
from oracle.cli import main
main(["ask", "Where is order 7?"])
print(json.dumps(sorted(sys.modules)), file=sys.stderr)
"""


@pytest.mark.long("loads much of the product in a fresh Python")
def test_another_domain_imports_nothing_about_code_notes_and_threads(folder):
    environment = {"ORACLE_DOMAIN": str(folder), "ORACLE_LLM": "offline", "ORACLE_DATA_DIR": str(folder / "data")}
    ran = subprocess.run(
        [sys.executable, "-c", ASKED], cwd=folder, env=environment, capture_output=True, text=True, check=True
    )
    loaded = set(json.loads(ran.stderr.splitlines()[-1]))
    of_code = {each for each in loaded if each.startswith(("oracle.domains.code.", "oracle.tools.code"))}
    assert of_code | loaded & {"oracle.tools.vault", "oracle.tools.threads", "oracle.tools.vault_toolset"} == set()
    assert {"oracle.domains.words", str(folder / "tools.py")} <= loaded
