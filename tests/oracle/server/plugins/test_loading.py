"""What other packages add: found, read, and refused with a reason where it cannot be used."""

import sys
from importlib.metadata import EntryPoint
from types import ModuleType

import pytest
from py_trees.behaviour import Behaviour
from py_trees.timers import Timer

from bt_runtime import Key, Status, TreeFileError, node
from bt_runtime.library.named import read_tree
from bt_runtime.nodes.base import Action
from oracle.agent.nodes import REGISTRY
from oracle.classify import HeuristicIntentClassifier
from oracle.core.features import installed_features
from oracle.decision import DefaultDecisionTree
from oracle.server.plugins import PluginError, load_plugins
from oracle.tools import ToolDefinitionError, ToolRegistry, tool, tools_for
from oracle.tools.selection import check_tools

ALONE = [f"-{name}" for name in installed_features()]
"""Without what the product's own features add."""


@tool(group="weather", when_to_use="When the user asks about the weather.", query_types=["research", "conversational"])
async def forecast(place: str) -> str:
    """Say what the weather will be."""
    return f"Rain in {place}."


@node("measure")
class Measure(Action):
    """Measures; SUCCESS."""

    async def start(self):
        return 1

    def finish(self, value):
        return Status.SUCCESS


MEASURED = Key("measured", "int", 0, "What was measured.")


def make_tools():
    """Tools made by a function."""
    return [forecast]


def module(name, monkeypatch, **attributes):
    made = ModuleType(name)
    for each, value in attributes.items():
        setattr(made, each, value)
    monkeypatch.setitem(sys.modules, name, made)
    return name


def point(group, name, value):
    return EntryPoint(name, value, group)


HERE = __name__


@pytest.fixture(autouse=True)
def this_module_can_be_imported(monkeypatch):
    monkeypatch.setitem(sys.modules, HERE, sys.modules.get(HERE) or ModuleType(HERE))
    for name, value in globals().items():
        setattr(sys.modules[HERE], name, value)


def test_each_group_of_entry_points_is_read(tmp_path, monkeypatch):
    (tmp_path / "researcher.yaml").write_text("tree: researcher\nroot: finish\n")
    folder = module("acme_folders", monkeypatch, trees=tmp_path, prompts=str(tmp_path))
    found = [
        point("oracle.tools", "weather", f"{HERE}:forecast"),
        point("oracle.kinds", "measure", f"{HERE}:Measure"),
        point("oracle.kinds", "measured", f"{HERE}:MEASURED"),
        point("oracle.decision_trees", "acme", "oracle.decision:DefaultDecisionTree"),
        point("oracle.trees", "acme", f"{folder}:trees"),
        point("oracle.prompts", "acme", f"{folder}:prompts"),
        point("oracle.classifiers", "acme", "oracle.classify:HeuristicIntentClassifier"),
        point("console_scripts", "acme", "nothing:at_all"),
    ]
    plugins = load_plugins(found=found, chosen=ALONE)
    assert plugins.tools == (forecast,)
    assert [kind.name for kind in plugins.kinds] == ["measure"]
    assert plugins.keys == (MEASURED,)
    assert plugins.decision_trees == {"acme": DefaultDecisionTree}
    assert plugins.trees == plugins.prompts == (tmp_path,)
    assert isinstance(plugins.intents, HeuristicIntentClassifier)
    assert "measure" in plugins.extended(REGISTRY).kinds
    assert [(each.group, each.names) for each in plugins.loaded] == [
        ("oracle.tools", ("forecast",)),
        ("oracle.kinds", ("measure",)),
        ("oracle.kinds", ("measured (key)",)),
        ("oracle.decision_trees", ("acme",)),
        ("oracle.trees", ("researcher",)),
        ("oracle.prompts", ()),
        ("oracle.classifiers", ("responses",)),
    ]


def test_a_module_adds_what_its_attributes_hold(monkeypatch):
    name = module("acme_module", monkeypatch, tools=make_tools, kinds=[Measure, MEASURED])
    plugins = load_plugins([name], found=[], chosen=ALONE)
    assert plugins.tools == (forecast,)
    assert [each.package for each in plugins.loaded] == ["acme_module", "acme_module"]


def test_nothing_is_added_where_nothing_is_installed():
    assert load_plugins(found=[], chosen=ALONE).loaded == ()
    assert load_plugins(found=[], chosen=ALONE).extended(REGISTRY) is REGISTRY


@pytest.mark.parametrize(
    ("attributes", "said"),
    [
        ({}, "names 'acme', which cannot be loaded: LookupError: it has none of the attributes tools, kinds"),
        ({"tools": 5}, "oracle.tools: tools (acme) cannot be loaded: TypeError: it must be a tool"),
        ({"tools": [forecast, load_plugins]}, "a tool (see oracle.tools.tool), not the function 'load_plugins'"),
        (
            {"kinds": [forecast]},
            "it must be a node kind (see bt_runtime.node), a py_trees behaviour or a blackboard key, not a Tool",
        ),
        ({"trees": "/no/such/folder"}, "there is no folder '/no/such/folder'"),
        ({"prompts": 1}, "it must be a folder or a package, not 1"),
        ({"decision_trees": {"x": 1}}, "the decision tree 'x' must be a class or a function, not 1"),
        ({"classifiers": object()}, "a classifier has a `name` and a method `classify(text)`; a object has not"),
    ],
)
def test_what_does_not_fit_is_an_error_that_says_what_would(monkeypatch, attributes, said):
    with pytest.raises(PluginError) as wrong:
        load_plugins([module("acme", monkeypatch, **attributes)], found=[])
    assert said in str(wrong.value)


def test_all_problems_are_reported_together(monkeypatch):
    def raises():
        raise RuntimeError("no licence\nfound")

    name = module("acme", monkeypatch, tools=raises)
    found = [point("oracle.kinds", "gone", "no_such_module_at_all:x")]
    with pytest.raises(PluginError) as wrong:
        load_plugins([name, "no_such_module_either"], found=found)
    assert len(wrong.value.problems) == 3
    assert "oracle.kinds: gone (no_such_module_at_all) cannot be loaded: ModuleNotFoundError" in wrong.value.problems[0]
    assert "cannot be loaded: RuntimeError: no licence found" in wrong.value.problems[1]
    assert "ORACLE_PLUGINS names 'no_such_module_either'" in wrong.value.problems[2]


def test_a_name_that_two_packages_claim_is_refused(monkeypatch):
    first = module("acme_one", monkeypatch, tools=[forecast])
    second = module("acme_two", monkeypatch, tools=[forecast])
    with pytest.raises(PluginError, match="acme_one and acme_two both claim 'forecast'; remove one of them"):
        load_plugins([first, second], found=[])


def test_one_package_that_adds_a_name_twice_is_refused():
    found = [point("oracle.tools", name, f"{HERE}:forecast") for name in ("one", "two")]
    with pytest.raises(PluginError, match=f"oracle.tools: {HERE} adds 'forecast' twice; once is enough"):
        load_plugins(found=found, chosen=ALONE)


def test_a_module_that_is_named_twice_is_loaded_once(monkeypatch):
    name = module("acme", monkeypatch, tools=[forecast])
    assert load_plugins([name, name], found=[], chosen=ALONE).tools == (forecast,)


def test_a_kind_and_a_key_may_have_the_same_name(monkeypatch):
    kinds = [Measure, Key("measure", "int", 0)]
    plugins = load_plugins([module("acme", monkeypatch, kinds=kinds)], found=[], chosen=ALONE)
    registry = plugins.extended(REGISTRY)
    assert "measure" in registry.kinds
    assert "measure" in registry.keys


def test_a_folder_without_init_file_can_be_named_as_a_package(monkeypatch, tmp_path):
    (tmp_path / "acme_pack" / "trees").mkdir(parents=True)
    (tmp_path / "acme_pack" / "alone.py").write_text("")
    monkeypatch.syspath_prepend(tmp_path)
    plugins = load_plugins(found=[point("oracle.trees", "acme", "acme_pack.trees")])
    assert plugins.trees == (tmp_path / "acme_pack" / "trees",)
    with pytest.raises(PluginError, match=r"must be a folder or a package, not the module 'acme_pack\.alone'"):
        load_plugins(found=[point("oracle.trees", "acme", "acme_pack.alone")])


def test_an_exception_whose_text_cannot_be_made_is_reported_by_its_type(monkeypatch):
    class HostileError(Exception):
        def __str__(self):
            raise RuntimeError

    def raises():
        raise HostileError

    with pytest.raises(PluginError, match="cannot be loaded: HostileError"):
        load_plugins([module("acme", monkeypatch, tools=raises)], found=[])


def test_a_built_in_name_is_refused(monkeypatch):
    @node("llm_turn")
    class Mine(Measure):
        """Another one."""

    plugins = load_plugins([module("acme", monkeypatch, kinds=[Mine], tools=[forecast])], found=[])
    with pytest.raises(PluginError, match=r"oracle\.kinds of acme: 'llm_turn' is built in; choose another name"):
        plugins.extended(REGISTRY)
    with pytest.raises(PluginError, match="'forecast' is built in"):
        plugins.check_free("oracle.tools", {"forecast"})


def test_a_tool_says_which_queries_are_offered_it():
    registry = ToolRegistry([forecast])
    assert tools_for(["research"], registry) == tools_for(["conversational"], registry) == ("forecast",)
    assert tools_for(["code"], registry) == ()
    always = tool(group="weather", when_to_use="Always.", query_types="always", name="clock")(forecast_of)
    assert all(tools_for([each], ToolRegistry([always])) == ("clock",) for each in ("code", "action", "research"))
    never = tool(group="weather", when_to_use="Never.", query_types=["reserch"], name="never")(forecast_of)
    with pytest.raises(ToolDefinitionError, match="the tool 'never': there is no query type 'reserch'"):
        check_tools(ToolRegistry([never]))


async def forecast_of(place: str) -> str:
    """Say what the weather is."""
    return place


class Paces(Behaviour):
    """A behaviour of py_trees; SUCCESS."""

    def update(self):
        return Status.SUCCESS


def test_behaviours_of_py_trees_are_added_to_those_that_trees_can_name(monkeypatch):
    plugins = load_plugins([module("acme", monkeypatch, kinds=[Paces, Measure])], found=[])
    assert plugins.loaded[0].names == ("measure", f"{HERE}.Paces")
    registry = plugins.extended(REGISTRY)
    text = f"tree: t\nroot: {{sequence: [py_trees: {HERE}.Paces, py_trees: py_trees.behaviours.Success]}}\n"
    assert read_tree(text, file="t.yaml", registry=registry).name == "t"
    with pytest.raises(TreeFileError, match="there is no behaviour"):
        read_tree(text, file="t.yaml", registry=REGISTRY)


def test_a_behaviour_that_reads_the_clock_is_refused(monkeypatch):
    with pytest.raises(PluginError, match="the behaviour Timer cannot be used: it reads the machine's clock"):
        load_plugins([module("acme", monkeypatch, kinds=[Timer])], found=[])
