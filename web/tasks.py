"""What `make` and the build of a wheel do with the console.

    python web/tasks.py build      build it into oracle/console/files, if a source is newer than what is there
    python web/tasks.py check      tsc, eslint and prettier; writes the types first
    python web/tasks.py test       vitest
    python web/tasks.py types      write src/api/schema.ts and client/schema.ts from the service's own description
    python web/tasks.py browser    see to it that there is a Chromium for the tests

It needs Python's own library alone; but `types` and `check`, the service. The types are for `tsc` and editors: what is
built has none, so a build needs no service. The packages of `package-lock.json` are installed if none are there, or
others. With `--if-possible` a task for which this machine lacks a program says so, and is no failure.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

WEB = Path(__file__).resolve().parent
FILES = WEB.parent / "oracle" / "console" / "files"

_PAGES = (FILES / "index.html", FILES / "export.html")
_SOURCES = (
    "export.html",
    "index.html",
    "package.json",
    "package-lock.json",
    "tsconfig.json",
    "vite.config.ts",
    "public",
    "scripts",
    "src",
)
_BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


class TaskError(Exception):
    """Something could not be done; the message says what would help."""


class MissingProgramError(TaskError):
    """This machine lacks a program, or has one that is too old."""


def build() -> None:
    """Build the console and the page of exported runs, if a source is newer than what is there.

    Raises:
        TaskError: it could not be built.
    """
    if is_built():
        return
    began = time.time()
    _install()
    _say("Building the web console")
    try:
        _npm("run", "--silent", "build")
    except TaskError:
        began = 0.0  # what is there is older than any source
        raise
    finally:
        for page in filter(Path.is_file, _PAGES):
            os.utime(page, (began, began))  # a source that has been changed meanwhile is newer than this


def is_built() -> bool:
    """Whether what is built is that of the sources."""
    newest = max(path.stat().st_mtime for path in _sources())
    return all(page.is_file() and page.stat().st_mtime >= newest for page in _PAGES)


def check() -> None:
    """Check types, rules and layout of the sources."""
    _install()
    _npm("run", "--silent", "check")


def test() -> None:
    """Run the tests of the logic."""
    _install()
    _npm("run", "--silent", "test")


def types() -> None:
    """Write the types of the service's answers anew."""
    _install()
    _npm("run", "--silent", "types")


def browser() -> None:
    """Find a Chromium for the tests, or install Debian's."""
    if any(map(shutil.which, _BROWSERS)):
        return
    command = ("apt-get", "install", "--yes", "--quiet", "--no-install-recommends", "chromium")
    if shutil.which("apt-get") is None or os.geteuid() != 0:
        raise MissingProgramError("There is no Chromium: as root, `apt-get install chromium` installs Debian's.")
    _say("Installing Chromium, for the tests of the console")
    for words in (("apt-get", "update", "--quiet"), command):
        environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
        if subprocess.run(words, env=environment, stdout=subprocess.DEVNULL, check=False).returncode:
            raise MissingProgramError(f"There is no Chromium, and `{' '.join(words)}` has failed.")


def _sources() -> Iterator[Path]:
    for name in _SOURCES:
        path = WEB / name
        yield from (each for each in (path.rglob("*") if path.is_dir() else [path]) if each.is_file())


def _install() -> None:
    """Install the packages of the lock file, unless just these are there."""
    check_node()
    if not has_packages():
        _say("Installing the packages of web/package-lock.json")
        try:
            _npm("ci", "--prefer-offline", "--no-fund", "--no-audit", "--loglevel", "error")
        except TaskError as error:
            raise TaskError(f"{error} See docs/operating.md for machines without network access.") from None


def has_packages() -> bool:
    """Whether `node_modules` is what the lock file asks for; npm notes there what it has installed."""
    noted = WEB / "node_modules" / ".package-lock.json"
    if not noted.is_file():
        return False
    wanted, there = _packages(WEB / "package-lock.json"), _packages(noted)
    missing = (path for path, each in wanted.items() if not each.get("optional") and path not in there)
    return not any(missing) and all(_version(wanted, path) == each["version"] for path, each in there.items())


def _packages(path: Path) -> Mapping[str, Mapping[str, object]]:
    packages = json.loads(path.read_text(encoding="utf-8"))["packages"]
    return {name: each for name, each in packages.items() if name}  # the nameless one is the console itself


def _version(packages: Mapping[str, Mapping[str, object]], path: str) -> object:
    return packages.get(path, {}).get("version")


def check_node() -> None:
    """Raise unless there is a Node.js that is new enough."""
    package = json.loads((WEB / "package.json").read_text(encoding="utf-8"))
    least = package["engines"]["node"].removeprefix(">=")
    there = "none" if shutil.which("npm") is None else _output("node", "--version")
    if _numbers(there) < _numbers(least):
        raise MissingProgramError(
            f"It needs Node.js {least} or newer with npm; here is {there}. Debian 13 and later have them "
            "(`apt-get install nodejs npm`); for other systems they are at nodejs.org."
        )


def _output(*words: str) -> str:
    try:
        return subprocess.run(words, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return "none"


def _numbers(version: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", version)[:3]]


def _npm(*words: str) -> None:
    environment = os.environ | {"CONSOLE_PYTHON": sys.executable}  # of which scripts/types.mjs asks the description
    if subprocess.run(["npm", *words], cwd=WEB, env=environment, check=False).returncode:
        raise TaskError(f"`npm {' '.join(words)}` in web/ has failed.")


def _say(text: str) -> None:
    print(text, flush=True)


TASKS: Mapping[str, Callable[[], None]] = {each.__name__: each for each in (build, check, test, types, browser)}


def main() -> int:
    """Do a task; the exit code."""
    parser = argparse.ArgumentParser(description="Tasks of the web console.")
    parser.add_argument("task", choices=TASKS)
    parser.add_argument("--if-possible", action="store_true", help="leave it out where a program is missing")
    given = parser.parse_args()
    try:
        TASKS[given.task]()
    except MissingProgramError as error:
        _say(f"Left out: the console's {given.task}. {error}")
        return 0 if given.if_possible else 1
    except TaskError as error:
        _say(str(error))
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
