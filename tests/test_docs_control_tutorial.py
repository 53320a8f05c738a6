"""The ten minutes of docs/control.md: every step is done in order, in a folder of its own, and prints what is shown."""

import os
import re
import shlex
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

import pytest

from oracle.cli import main

PAGE = (Path(__file__).parents[1] / "docs" / "control.md").read_text(encoding="utf-8").split("\n## ")[1]
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
ADDRESS = "http://127.0.0.1:8000"
PROGRAM = ".venv/bin/oracle "
PATIENCE_S = 60.0
"""How long a service may take to begin, or to read a file that has changed."""


def test_the_page_has_blocks_of_known_kinds_and_shows_what_commands_print() -> None:
    assert {kind for kind, _ in BLOCKS} == {"sh", "text", "diff"}
    assert all(before == "sh" for (before, _), (kind, _) in pairwise(BLOCKS) if kind == "text")
    assert all(text.startswith("# ") for kind, text in BLOCKS if kind == "diff")


def test_the_steps_are_numbered_in_order() -> None:
    numbers = re.findall(r"^### (\d+)\.", PAGE, re.MULTILINE)
    assert numbers == [str(number) for number in range(1, len(numbers) + 1)]


@pytest.mark.long("runs the command line for each step, and a service")
def test_each_step_prints_what_the_page_shows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    with ExitStack() as stack:
        reader = Reader(tmp_path, stack, capfd)
        for (kind, text), (next_kind, shown) in pairwise([*BLOCKS, ("", "")]):
            if kind == "sh":
                reader.runs(text, shown=shown if next_kind == "text" else "…")
            elif kind == "diff":
                reader.edits(text)


@dataclass
class Reader:
    """A reader who follows the page."""

    folder: Path
    stack: ExitStack
    capture: pytest.CaptureFixture[str]
    environment: dict[str, str] = field(default_factory=dict)
    address: str = ADDRESS

    def __post_init__(self) -> None:
        program = self.folder / ".venv" / "bin" / "oracle"
        program.parent.mkdir(parents=True)
        program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m oracle "$@"\n')
        program.chmod(0o755)

    def edits(self, text: str) -> None:
        """Replace the lines with `-` by those with `+`, where the others are; with `+` alone, add to the end."""
        head, *lines = text.splitlines(keepends=True)
        path = self.folder / head.removeprefix("# ").strip()
        old = "".join(line[1:] for line in lines if line.startswith((" ", "-")))
        new = "".join(line[1:] for line in lines if line.startswith((" ", "+")))
        source = path.read_text(encoding="utf-8")
        assert not old or source.count(old) == 1, f"{path.name} does not have once:\n{old}"
        path.write_text(source.replace(old, new) if old else source + new, encoding="utf-8")

    def runs(self, text: str, *, shown: str) -> None:
        """Run commands; what they print fits what is shown, from a service at last."""
        if text.startswith("# in a second terminal\n"):
            self.address = self.stack.enter_context(served(self.folder, text.splitlines()[1]))
            return
        self.environment |= dict(re.findall(r"^export (\w+)=(\S+)$", text, re.MULTILINE))
        pattern = re.compile(
            "".join(".*?" if part == "…" else re.escape(part) for part in re.split("(…)", shown)), re.DOTALL
        )
        began_s = time.monotonic()
        while True:
            printed = self._printed(text)
            if pattern.fullmatch(printed):
                return
            patience_s = PATIENCE_S if ADDRESS in text else 0.0
            assert time.monotonic() - began_s < patience_s, f"$ {text}\nshown:\n{shown}\nprinted:\n{printed}"

    def _printed(self, text: str) -> str:
        """What the commands print: those that are ours alone are run in this process, which has loaded them."""
        lines = [line for line in text.splitlines() if not line.startswith("export ")]
        if all(line.startswith(PROGRAM) for line in lines):
            with pytest.MonkeyPatch.context() as patch:
                for name, value in self.environment.items():
                    patch.setenv(name, value)
                for line in lines:
                    main(shlex.split(line.removeprefix(PROGRAM)))
            return self.capture.readouterr().out
        ran = subprocess.run(
            ["bash", "-c", text.replace(ADDRESS, self.address)],
            cwd=self.folder,
            env=os.environ | self.environment,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        return ran.stdout


@contextmanager
def served(folder: Path, line: str) -> Iterator[str]:
    """Run the line's service on a free port; its address."""
    service = subprocess.Popen(
        ["bash", "-c", re.sub(r"^((?:\w+=\S+ )*)(.*)$", r"\1exec \2 --port 0", line)],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        assert service.stdout is not None
        with (folder / "service.log").open("w") as log:
            for printed in service.stdout:
                log.write(printed)
                found = re.search(r"http://127\.0\.0\.1:\d+", printed)
                if found:
                    break
            else:
                raise AssertionError((folder / "service.log").read_text())
        yield found[0]
    finally:
        service.terminate()
        service.communicate(timeout=60)
