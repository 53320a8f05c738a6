"""The public names, each of which loads the module that defines it."""

import subprocess
import sys

import pytest

import bt_runtime
from bt_runtime import public


def test_every_public_name_is_there_and_no_other():
    assert set(dir(bt_runtime)) == set(bt_runtime.__all__) == set(public.__all__)
    for name in public.__all__:
        assert getattr(bt_runtime, name) is getattr(public, name)
    with pytest.raises(AttributeError, match="module 'bt_runtime' has no attribute 'nothing'"):
        _ = bt_runtime.nothing


def test_the_name_of_an_error_loads_no_node_kind_and_no_picture():
    code = "import sys; from bt_runtime import TreeFileError, Mistake; print('\\n'.join(sys.modules))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not any(name.startswith(("bt_runtime.kinds", "bt_runtime.drawing", "py_trees")) for name in loaded)
