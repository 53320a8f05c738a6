"""`make weight`: the code lines of the product, of its kernel, and those that one question loads.

A code line is a line that is neither blank nor a comment nor part of a docstring.
"""

import ast
import configparser
import io
import json
import os
import subprocess
import sys
import tempfile
import tokenize
from collections.abc import Iterable, Iterator
from pathlib import Path

from oracle.core.features import installed_features

_ROOT = Path(__file__).resolve().parent.parent
_PRODUCT = ("bt_runtime", "oracle", "prompts", "signals", "trees")
_SILENT = (
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
)


_ASK = """
import atexit, json, sys

def tell():
    files = {module.__file__ for module in list(sys.modules.values()) if getattr(module, "__file__", None)}
    with open(out, "w", encoding="utf-8") as file:
        json.dump(sorted(files), file)

out = sys.argv.pop()
atexit.register(tell)
from oracle.cli import main
sys.exit(main(["ask", "How are mistakes in a tree file reported?", "--project", ".", "--json"]))
"""


def code_lines(source: str) -> int:
    """The lines of a module without docstrings, comments and blank lines."""
    documents: set[int] = set()
    for node in ast.walk(ast.parse(source)):
        is_documented = isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        if is_documented and ast.get_docstring(node) is not None:
            documents.update(range(node.body[0].lineno, (node.body[0].end_lineno or 0) + 1))
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in _SILENT:
            lines.update(range(token.start[0], token.end[0] + 1))
    return len(lines - documents)


def product_modules() -> Iterator[Path]:
    """The modules that are shipped."""
    for package in _PRODUCT:
        yield from (_ROOT / package).rglob("*.py")


def kernel_modules() -> Iterator[Path]:
    """The modules to read before the agent is changed: those that the contract `kernel` keeps from features."""
    contracts = configparser.ConfigParser()
    contracts.read(_ROOT / ".importlinter", encoding="utf-8")
    for name in contracts["importlinter:contract:kernel"]["source_modules"].split():
        home = _ROOT / name.replace(".", "/")
        yield from home.rglob("*.py") if home.is_dir() else [home.with_suffix(".py")]


def loaded_modules() -> Iterator[Path]:
    """The modules of the product that a question loads which the offline model answers with a search of the code."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("ORACLE_", "ANTHROPIC_"))}
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "modules.json"
        environment |= {"ORACLE_LLM": "offline", "ORACLE_DATA_DIR": folder}
        command = [sys.executable, "-c", _ASK, str(out)]
        subprocess.run(command, cwd=_ROOT, env=environment, check=True, capture_output=True)
        loaded = set(map(Path, json.loads(out.read_text(encoding="utf-8"))))
    yield from (path for path in product_modules() if path in loaded)


def lines_of(modules: Iterable[Path]) -> dict[Path, int]:
    """The code lines of each module."""
    return {path: code_lines(path.read_text(encoding="utf-8")) for path in modules}


if __name__ == "__main__":
    product, loaded = lines_of(product_modules()), lines_of(loaded_modules())
    print(f"{sum(product.values()):8,} code lines in {len(product)} modules: the product")
    kernel = lines_of(kernel_modules())
    print(f"{sum(kernel.values()):8,} code lines in {len(kernel)} modules: the kernel, which imports no feature")
    print(f"{sum(loaded.values()):8,} code lines in {len(loaded)} modules: what one question loads")
    for name, (_, home) in installed_features().items():
        own = [lines for path, lines in product.items() if path.is_relative_to(_ROOT / home.replace(".", "/"))]
        print(f"{sum(own):8,} code lines in {len(own)} modules: the folder of the feature {name}")
