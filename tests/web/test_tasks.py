"""`web/tasks.py`: what it builds and when, and what it says where something is missing."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.web.built import REPOSITORY

NPM = """#!{python}
import pathlib, sys
web = pathlib.Path.cwd()
with (web / "calls").open("a") as calls:
    print(*sys.argv[1:], file=calls)
if sys.argv[1] == "ci":
    (web / "node_modules").mkdir(exist_ok=True)
    (web / "node_modules" / ".package-lock.json").write_text((web / "package-lock.json").read_text())
if "build" in sys.argv:
    files = web.parent / "oracle" / "console" / "files"
    files.mkdir(parents=True, exist_ok=True)
    for name in ("index.html", "export.html"):
        (files / name).write_text("built")
    sys.exit((web / "src" / "main.tsx").read_text() == "a mistake")
"""
"""What the tasks need of npm: it notes its calls, installs what the lock file says, and builds a page."""


class Machine:
    """A copy of `web/` on a machine that has the programs that are put into `bin`."""

    def __init__(self, folder: Path) -> None:
        self.web, self.bin = folder / "web", folder / "bin"
        (self.web / "src").mkdir(parents=True)
        self.bin.mkdir()
        shutil.copy(REPOSITORY / "web" / "tasks.py", self.web)
        for name in ("export.html", "index.html", "tsconfig.json", "vite.config.ts", "src/main.tsx"):
            (self.web / name).write_text("")
        (self.web / "package.json").write_text('{"engines": {"node": ">=20.19"}}')
        self.lock({"": {}, "node_modules/react": {"version": "19.0.0"}})
        self.age()

    def lock(self, packages: dict[str, dict[str, object]]) -> None:
        (self.web / "package-lock.json").write_text(json.dumps({"packages": packages}))

    def install(self, name: str, text: str) -> None:
        (self.bin / name).write_text(text)
        (self.bin / name).chmod(0o755)

    def age(self) -> None:
        """All sources are an hour old."""
        for path in self.web.rglob("*"):
            os.utime(path, (1_700_000_000, 1_700_000_000))

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, self.web / "tasks.py", *words],
            env={"PATH": str(self.bin)},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    def calls(self) -> list[str]:
        """What npm was called with since the last time."""
        path = self.web / "calls"
        found = path.read_text().splitlines() if path.exists() else []
        path.unlink(missing_ok=True)
        return found


@pytest.fixture
def bare(tmp_path):
    """A machine without Node.js."""
    return Machine(tmp_path)


@pytest.fixture
def machine(bare):
    bare.install("node", "#!/bin/sh\necho v20.19.0\n")
    bare.install("npm", NPM.format(python=sys.executable))
    return bare


def test_the_console_is_built_when_a_source_is_newer_and_not_otherwise(machine):
    first = machine.run("build")
    assert (first.returncode, [call.split()[0] for call in machine.calls()]) == (0, ["ci", "run"])
    assert machine.run("build").stdout == ""
    assert machine.calls() == []
    (machine.web / "src" / "main.tsx").write_text("a change")
    assert machine.run("build").returncode == 0
    assert [call.split()[0] for call in machine.calls()] == ["run"]


@pytest.mark.parametrize(
    "packages",
    [
        {"": {}, "node_modules/react": {"version": "19.0.1"}},
        {"": {}, "node_modules/react": {"version": "19.0.0"}, "node_modules/zustand": {"version": "5.0.0"}},
        {"": {}},
    ],
    ids=["another version", "one more", "one less"],
)
def test_packages_are_installed_when_the_lock_file_asks_for_others(machine, packages):
    machine.run("build")
    machine.calls()
    machine.lock(packages)
    assert machine.run("check").returncode == 0
    assert [call.split()[0] for call in machine.calls()] == ["ci", "run"]


def test_a_package_for_another_system_is_not_missed(machine):
    machine.run("build")
    machine.calls()
    machine.lock(
        {"": {}, "node_modules/react": {"version": "19.0.0"}, "node_modules/win": {"version": "1", "optional": True}}
    )
    machine.run("check")
    assert [call.split()[0] for call in machine.calls()] == ["run"]


def test_a_build_that_fails_is_tried_again(machine):
    (machine.web / "src" / "main.tsx").write_text("a mistake")
    for _ in range(2):
        failed = machine.run("build")
        assert failed.returncode == 1
        assert "has failed" in failed.stdout
        assert any("build" in call for call in machine.calls())


@pytest.mark.parametrize("task", ["build", "check", "test", "types"])
def test_without_node_it_says_how_to_get_it(bare, task):
    ran = bare.run(task)
    assert ran.returncode == 1
    assert ran.stdout.startswith(
        f"Left out: the console's {task}. It needs Node.js 20.19 or newer with npm; here is none."
    )
    assert "apt-get install nodejs npm" in ran.stdout
    assert bare.run(task, "--if-possible").returncode == 0


def test_an_old_node_is_named(machine):
    machine.install("node", "#!/bin/sh\necho v18.20.4\n")
    assert "here is v18.20.4" in machine.run("build").stdout


def test_without_node_a_console_that_is_built_is_enough(machine):
    machine.run("build")
    (machine.bin / "npm").unlink()
    assert machine.run("build").returncode == 0


def test_without_a_browser_it_says_how_to_get_one(bare):
    ran = bare.run("browser", "--if-possible")
    assert (ran.returncode, "apt-get install chromium" in ran.stdout) == (0, True)


def test_a_browser_that_is_there_is_enough(bare):
    bare.install("chromium", "#!/bin/sh\n")
    assert (bare.run("browser").returncode, bare.run("browser").stdout) == (0, "")
