import ast
import inspect
import re
from pathlib import Path

import oracle.tools

PAGE = Path(__file__).parents[3] / "docs" / "tools.md"


async def test_the_examples_for_tool_authors_run(tmp_path: Path) -> None:
    names: dict[str, object] = {"folder": tmp_path}
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    assert len(blocks) >= 5
    for block in blocks:
        code = compile(block, str(PAGE), "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
        running = eval(code, names)
        if inspect.isawaitable(running):
            await running


def test_the_package_exports_the_names_it_lists() -> None:
    assert all(hasattr(oracle.tools, name) for name in oracle.tools.__all__)
