"""docs/classification.md: its examples run, and the modules that it names are there."""

import re
from importlib.util import find_spec
from pathlib import Path

PAGE = (Path(__file__).parents[1] / "docs" / "classification.md").read_text(encoding="utf-8")


def test_the_examples_run_one_after_the_other():
    blocks = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    assert len(blocks) >= 2
    exec(compile("\n".join(blocks), "docs/classification.md", "exec"), {})


def test_the_documented_commands_exist():
    modules = set(re.findall(r"-m (benchmarks\.\w+)", PAGE))
    assert modules == {"benchmarks.bench_offers", "benchmarks.bench_classify", "benchmarks.train_classifiers"}
    assert all(find_spec(name) for name in modules)
