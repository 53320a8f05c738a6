"""What of `make bench-agentdojo` needs no AgentDojo: the labels of its tools."""

from pathlib import Path

import yaml

import benchmarks
from oracle.tools.labels import labels_of

LABELS = Path(benchmarks.__path__[0]) / "agentdojo" / "labels.yaml"


def test_each_tool_has_labels_that_do_not_contradict_each_other():
    tools = yaml.safe_load(LABELS.read_text(encoding="utf-8"))
    read = {name: labels_of(labels) for name, labels in tools.items()}
    assert len(read) == 69
    assert all(read.values())
    assert {"untrusted", "outward"} <= read["get_webpage"]
    assert "outward" not in read["search_emails"]
