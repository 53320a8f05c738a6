import json
import re
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bt_runtime.drawing.labels import tree_data
from bt_runtime.drawing.rendering import FORMATS, render
from bt_runtime.library.named import read_tree
from tests.bt_runtime.sample_kinds import ORACLE, REGISTRY

TREE = read_tree(ORACLE, file="oracle.yaml", registry=REGISTRY)
STATUSES = {"sequence": "RUNNING", "sequence/set": "SUCCESS", "sequence/loop": "FAILURE", "gone": "SUCCESS"}
HOSTILE = """<script>alert(1)</script> "'`&;#|]])}}{{-->%\\\\ \\n end"""


def tree(root, description="d"):
    text = f"tree: t\ndescription: {json.dumps(description)}\nroot: {json.dumps(root)}\n"
    return read_tree(text, file="t.yaml", registry=REGISTRY)


def test_text_is_an_outline():
    assert (
        render(TREE)
        == """\
oracle: Answer one query under the user's limits.

sequence
├── set (note='begin', tries=0)
├── loop (until=tries > 3)
│   ├── guards: turn_budget
│   ├── guards: condition (turn < max_turns)
│   └── child: sequence
│       ├── llm_turn (tools=[search_code], header={title=abc})
│       └── selector
│           ├── sequence
│           │   ├── has_tool_calls
│           │   └── set (tries=tries + 1)
│           ├── inverter
│           │   └── condition (signal is not null and signal.confidence < 0.3)
│           └── again = retry (attempts=3)
│               └── notify (x)
└── finally
    ├── child: finish
    └── then: notify (The end.)"""
    )


RULED = """\
tree: t
rules:
  - name: quiet
    text: Nothing is asked twice.
    at_most: {node: has_tool_calls, result: success, times: 1}
  - name: never
    text: "It is \\e[1mnever\\e[0m written."
    absence: {key: hint}
    enforce: stop
root: has_tool_calls
"""


def test_rules_follow_the_tree_with_their_places():
    ruled = read_tree(RULED, file="trees/t.yaml", registry=REGISTRY)

    assert render(ruled).splitlines()[-3:] == [
        "rules:",
        "quiet (t.yaml:3): Nothing is asked twice.",
        "never (t.yaml:6, stop): It is \\x1b[1mnever\\x1b[0m written.",
    ]
    first, second = tree_data(ruled)["rules"]
    assert (first["template"], first["events"], first["times"]) == (
        "at_most",
        ["node: has_tool_calls; result: success"],
        1,
    )
    assert (second["enforce"], second["tree"], second["file"], second["line"]) == ("stop", "t", "trees/t.yaml", 6)


def test_text_shows_statuses():
    lines = render(TREE, "text", STATUSES).splitlines()

    assert lines[2:6] == [
        "[*] sequence",
        "├── [✓] set (note='begin', tries=0)",
        "├── [✗] loop (until=tries > 3)",
        "│   ├── [-] guards: turn_budget",
    ]


def test_mermaid_is_a_flowchart():
    picture = render(tree({"sequence": ["has_tool_calls", {"inverter": {"condition": "turn > 1"}}]}), "mermaid")

    assert (
        picture
        == """\
flowchart TD
    n0["→ sequence"]
    n1("has_tool_calls")
    n2{{"inverter"}}
    n3("condition<br/>turn #62; 1")
    n0 --> n1
    n0 --> n2
    n2 --> n3"""
    )


def test_mermaid_shows_statuses_as_classes():
    picture = render(TREE, "mermaid", STATUSES)

    assert 'n1("set<br/>note=#39;begin#39;, tries=0"):::success' in picture
    assert "classDef failure" in picture


def test_dot_is_a_digraph():
    picture = render(tree({"finally": {"child": "finish", "then": {"notify": 'say "a\\b"'}}}), "dot")

    assert picture.startswith('digraph "t" {')
    assert 'n2 [label="notify\\nsay \\"a\\\\b\\"", tooltip="finally/notify", style="filled,rounded"];' in picture
    assert '    n0 -> n2 [label="then"];' in picture


def test_svg_has_a_box_for_each_node_and_an_edge_to_each_child():
    picture = ET.fromstring(render(TREE, "svg", STATUSES))
    names = {"s": "http://www.w3.org/2000/svg"}
    boxes = picture.findall(".//s:g", names)

    assert [box.get("data-path") for box in boxes] == [node.path for node in TREE.nodes()]
    assert len(picture.findall(".//s:path", names)) == len(boxes) - 1
    assert [box.find("s:rect", names).get("class") for box in boxes][:4] == [
        "box running", "box success", "box failure", "box invalid"
    ]  # fmt: skip


def test_svg_edges_run_from_the_right_side_of_the_parent_to_the_left_side_of_the_child():
    picture = ET.fromstring(render(tree({"sequence": ["finish", {"inverter": "finish"}]}), "svg"))
    names = {"s": "http://www.w3.org/2000/svg"}
    sides = {}
    for box in picture.findall(".//s:g", names):
        x, y, width, height = (float(box.find("s:rect", names).get(side)) for side in ("x", "y", "width", "height"))
        sides[box.get("data-path")] = (x, x + width, y + height / 2)
    edges = [
        tuple(map(float, re.fullmatch(r"M(\S+) (\S+) H(\S+) V(\S+) H(\S+)", edge.get("d")).groups()))
        for edge in picture.findall(".//s:path", names)
    ]
    pairs = [("sequence", "sequence/finish"), ("sequence", "sequence/inverter"),
             ("sequence/inverter", "sequence/inverter/finish")]  # fmt: skip

    assert len(edges) == len(pairs)
    for (parent, child), (start, start_y, bend, end_y, end) in zip(pairs, edges, strict=True):
        (_, right, middle), (left, _, child_middle) = sides[parent], sides[child]
        assert (start, start_y, end_y, end) == pytest.approx((right, middle, child_middle, left), abs=0.2)
        assert start < bend < end


def test_svg_boxes_are_inside_the_picture_and_do_not_overlap():
    picture = ET.fromstring(render(TREE, "svg"))
    names = {"s": "http://www.w3.org/2000/svg"}
    boxes = [
        tuple(float(rect.get(side)) for side in ("x", "y", "width", "height"))
        for rect in picture.findall(".//s:g/s:rect", names)
    ]
    width, height = float(picture.get("width")), float(picture.get("height"))

    assert all(x >= 0 and y >= 0 and x + w <= width and y + h <= height for x, y, w, h in boxes)
    for i, (x, y, w, h) in enumerate(boxes):
        for other_x, other_y, other_w, other_h in boxes[i + 1 :]:
            assert x + w <= other_x or other_x + other_w <= x or y + h <= other_y or other_y + other_h <= y


def test_json_has_what_a_console_needs():
    data = json.loads(render(TREE, "json", STATUSES))

    assert data == json.loads(json.dumps(tree_data(TREE, STATUSES)))
    assert (data["name"], data["version"], data["file"]) == ("oracle", TREE.sha, "oracle.yaml")
    assert data["root"]["status"] == "RUNNING"
    loop = data["root"]["slots"]["children"][1]
    assert (loop["index"], loop["path"], loop["line"], loop["column"]) == (2, "sequence/loop", 11, 7)
    assert loop["settings"] == {"until": "tries > 3"}
    assert [node["kind"] for node in loop["slots"]["guards"]] == ["turn_budget", "condition"]
    assert "status" not in tree_data(TREE)["root"]


def test_json_numbers_nodes_as_tick_records_do():
    def numbered(node):
        yield node["index"], node["path"]
        for children in node["slots"].values():
            for child in children:
                yield from numbered(child)

    assert list(numbered(tree_data(TREE)["root"])) == [(i, node.path) for i, node in enumerate(TREE.nodes())]


def test_an_unknown_format_is_refused():
    with pytest.raises(ValueError, match="formats are text, mermaid, dot, svg, json"):
        render(TREE, "png")


def test_unknown_statuses_are_shown_as_invalid():
    assert "[-] finish" in render(tree("finish"), "text", {"finish": "<b>"})


def hostile_tree(text=HOSTILE):
    quoted = '"' + "".join(f"\\U{ord(sign):08X}" for sign in text) + '"'  # YAML refuses JSON's surrogate pairs
    name = json.dumps("<b>\"x'&;`|]")
    children = f"[{{notify: {{name: {name}, message: {quoted}}}}}, {{condition: hint == 'a'}}]"
    source = f"tree: t\ndescription: {quoted}\nroot: {{sequence: {children}}}\n"
    return read_tree(source, file="t.yaml", registry=REGISTRY)


def test_hostile_names_and_texts_stay_text_in_every_format():
    picture = hostile_tree()
    mermaid, svg, dot = render(picture, "mermaid"), render(picture, "svg"), render(picture, "dot")

    assert "<script" not in svg
    assert "<script" not in mermaid
    ET.fromstring(svg)
    assert all(
        re.fullmatch(r"    n\d+(\(\"[^\"`]*\"\)|\[\"[^\"`]*\"\]| --> n\d+)", line) for line in mermaid.split("\n")[1:]
    )
    for line in dot.splitlines():
        assert len(re.findall(r'(?<!\\)(?:\\\\)*"', line)) % 2 == 0


SETTINGS = st.text(st.characters(exclude_categories=("Cs",)), max_size=120)


@given(SETTINGS.filter(lambda text: "${" not in text))
def test_any_text_is_drawn(text):
    picture = hostile_tree(text)
    for format_ in FORMATS:
        drawn = render(picture, format_, {"sequence": "SUCCESS"})
        assert all(sign.isprintable() or sign == "\n" for sign in drawn) or format_ == "json"
    ET.fromstring(render(picture, "svg"))
    json.loads(render(picture, "json"))


def test_long_settings_are_cut():
    lines = render(tree({"notify": "x" * 1_000}), "text").splitlines()

    assert lines[-1] == "notify (" + "x" * 79 + "…)"


def test_sixty_nodes_fit_on_a_page():
    leaves = [{"sequence": [{"condition": f"turn > {i}"}, "llm_turn", {"notify": "x"}]} for i in range(15)]
    picture = ET.fromstring(render(tree({"sequence": leaves}), "svg"))

    assert float(picture.get("width")) < 1_000
    assert float(picture.get("height")) < 2_200
