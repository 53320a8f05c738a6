"""Deletes a feature's folder, and those of features that need it, from a copy of the repository, and runs what is left.

    python -m benchmarks.without [FEATURE …]     each in turn unless some are named

In the copy everything is imported, the shipped trees are checked, a question is answered, and a service starts, is
described and stops.
"""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from oracle.core.features import installed_features

ROOT = Path(__file__).parents[1]

WHAT_IS_LEFT = """
import asyncio, importlib, pathlib, pkgutil, sys
import bt_runtime, oracle, prompts, signals, trees
from oracle.cli import main

for package in (bt_runtime, oracle, prompts, signals, trees):
    assert str(pathlib.Path.cwd()) in package.__file__, package.__file__
    for module in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
        if not module.name.endswith("__main__") and ".migrations." not in module.name:
            importlib.import_module(module.name)
from oracle.server.api.app import build_app, describe_service
from oracle.server.settings.reading import read_settings
from oracle.server.wiring.service import open_service

async def serve():
    async with open_service(read_settings(llm="offline", encoder="off")) as parts:
        build_app(parts)

asyncio.run(serve())
assert len(describe_service()["paths"]) > 20
assert main(["--help"]) == main(["features"]) == main(["trees", "check", "trees"]) == 0
sys.exit(main(["ask", "What does this project do?", "--project", "docs"]))
"""


def run_without(name: str) -> None:
    """Run what is left without a feature.

    Raises:
        subprocess.CalledProcessError: something does not work; its output says what.
    """
    homes = [home for feature, home in installed_features().values() if name in (feature.name, *feature.needs)]
    tracked = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    with tempfile.TemporaryDirectory() as folder:
        for file in filter(None, tracked.split("\0")):
            if file.partition("/")[0] in {"bt_runtime", "oracle", "prompts", "signals", "trees", "docs"}:
                (Path(folder) / file).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / file, Path(folder) / file)
        for home in homes:
            shutil.rmtree(Path(folder) / home.replace(".", "/"))
        environment = {"PATH": "/usr/bin:/bin", "PYTHONPATH": folder, "ORACLE_DATA_DIR": f"{folder}/data"}
        ran = subprocess.run(
            [sys.executable, "-c", WHAT_IS_LEFT],
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        if ran.returncode:
            print(ran.stdout, ran.stderr, sep="\n", file=sys.stderr)
            raise SystemExit(f"without {name!r} ({', '.join(homes)}) it does not work")


if __name__ == "__main__":
    for each in sys.argv[1:] or installed_features():
        run_without(each)
        print(f"without {each}: it works", flush=True)
