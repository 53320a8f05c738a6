"""The build hook of the sdist and the wheel: builds the console and adds it.

An editable installation goes without: it finds what `make run` builds. An sdist contains the built console, so a wheel
is built from it without Node.js. Elsewhere without Node.js, `HATCH_BUILD_NO_HOOKS=true` makes a wheel without the
console.
"""

import runpy
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class ConsoleBuildHook(BuildHookInterface):  # type: ignore[type-arg]  # its configuration is not used
    """Adds the console."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build the console, unless it is built from these sources."""
        if version == "editable":
            return
        tasks = runpy.run_path(str(Path(self.root, "web", "tasks.py")))
        try:
            if not Path(self.root, "PKG-INFO").is_file():  # an unpacked sdist has it
                tasks["build"]()
        except tasks["TaskError"] as error:
            self.app.abort(
                f"The web console could not be built. {error}\nA wheel without it: HATCH_BUILD_NO_HOOKS=true"
            )
        build_data["artifacts"].append("/oracle/console/files/[!.]*")  # git ignores them
