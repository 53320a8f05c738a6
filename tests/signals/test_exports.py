"""The exported names of the package, and its imports."""

import ast
import sys
from pathlib import Path

import signals


def test_exported_names_are_sorted_and_complete():
    assert sorted(signals.__all__) == sorted(set(signals.__all__))
    assert all(hasattr(signals, name) for name in signals.__all__)
    assert all(name in signals.__all__ for name in ("parse", "SignalStream", "ParsedResponse", "Signal", "SignalAudit"))


def test_signals_imports_no_room_but_the_leaf_that_all_may_use():
    allowed = {*sys.stdlib_module_names, "pydantic", "signals", "bt_runtime.text.data"}
    for file in Path(signals.__file__).parent.glob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module] if isinstance(node, ast.ImportFrom) and node.level == 0 and node.module else []
            rooms = {name if name == "bt_runtime.text.data" else name.split(".")[0] for name in names}
            assert rooms <= allowed, file.name
