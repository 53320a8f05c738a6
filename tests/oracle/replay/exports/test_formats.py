"""The formats of an export."""

import re
from xml.etree import ElementTree as ET

import pytest

from oracle.agent.nodes import REGISTRY
from oracle.core.errors import UserError
from oracle.replay.exports.formats import render_run
from oracle.replay.histories.codec import history_to_json
from oracle.replay.histories.foreign import history_from_json


def test_json_is_the_whole_history(tools):
    data = render_run(tools, "json", registry=REGISTRY)
    assert history_to_json(history_from_json(data)) + b"\n" == data


def test_pictures_show_the_statuses_of_the_tick_that_decided_the_end(stuck):
    for format_ in ("svg", "dot", "mermaid"):
        shown = render_run(stuck, format_, registry=REGISTRY)
        assert shown == render_run(stuck, format_, tick=stuck.end.tick, registry=REGISTRY)
        assert shown != render_run(stuck, format_, tick=1, registry=REGISTRY)
    ET.fromstring(render_run(stuck, "svg", registry=REGISTRY))
    drawn = render_run(stuck, "mermaid", registry=REGISTRY).decode()
    assert len(re.findall(r":::(success|failure|running)$", drawn, re.MULTILINE)) == len(stuck.ticks[3].visited)


def test_a_picture_of_a_tick_that_is_not_there_is_an_error(stuck):
    with pytest.raises(UserError, match=r"has no tick 99; it has the ticks 1 to 5"):
        render_run(stuck, "svg", tick=99, registry=REGISTRY)
    stuck.tree = None
    stuck.problem = "no YAML tree drove it"
    with pytest.raises(UserError, match="has no tree to draw: no YAML tree drove it"):
        render_run(stuck, "dot", registry=REGISTRY)
