"""The console as the service sends it: built once, if its sources are newer than what is there."""

import functools
import runpy
from pathlib import Path

import filelock

REPOSITORY = Path(__file__).resolve().parents[2]
WEB = REPOSITORY / "web"
FILES = REPOSITORY / "oracle" / "console" / "files"
TASKS = runpy.run_path(str(WEB / "tasks.py"))


@functools.cache
def missing_for_the_console() -> str:
    """Build the console if that is needed; what is missing for it, as a sentence, or nothing.

    Packages are not installed: tests do not reach the internet.

    Raises:
        TaskError: the build has failed.
    """
    lock = REPOSITORY / "build" / "console.lock"
    lock.parent.mkdir(exist_ok=True)
    with filelock.FileLock(lock):
        if TASKS["is_built"]():
            return ""
        try:
            TASKS["check_node"]()
        except TASKS["MissingProgramError"] as error:
            return f"The console is not built. {error}"
        if not TASKS["has_packages"]():
            return (
                "The console is not built, and web/node_modules is not what the lock file says: run `npm ci` in web/."
            )
        TASKS["build"]()
        return ""
