"""Loads modules faster, or only when they are needed."""

import gc
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

NEIGHBOURS: Final = ("bt_runtime", "prompts", "signals", "trees")
"""The top-level packages that are installed together with this one."""


def check_neighbours(home: Path) -> None:
    """Ensure that Python finds our own packages, and not packages of a host with the same names.

    Args:
        home: the folder that this package lies in; theirs as well.

    Raises:
        ImportError: a module of the host's comes before one of ours, or one of ours is missing.
    """
    for name in NEIGHBOURS:
        spec = find_spec(name)
        found = None if spec is None else spec.origin
        if found is None or Path(found).parent != home / name:
            where = f"Python finds {found!r} under this name" if found else "there is none"
            raise ImportError(
                f"Oracle needs its own package {name!r} (in {str(home)!r}), but {where}. If that is a module of yours, "
                "rename it, or move it into a package; if it need not be in this process, take its folder off the path "
                "(PYTHONPATH, sys.path) or run Oracle as a service of its own (`oracle serve`)",
                name=name,
                path=found,
            )


@contextmanager
def collector_paused() -> Iterator[None]:
    """No garbage collection while modules are loaded, or the states of a tree are explored.

    That makes hundreds of thousands of objects and next to no garbage, and the collector would look at all of them
    again and again: a fifth of the time that modules take.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def imported(place: str) -> Any:  # noqa: ANN401  any object of a module
    """The object at a place (`module:name`), whose module is imported now unless it has been before.

    The collector never looks at what was imported: it lives as long as the process.
    """
    module, _, name = place.partition(":")
    if module in sys.modules:
        return getattr(import_module(module), name)  # nothing is frozen: what the process has made since may be garbage
    with collector_paused():
        found = getattr(import_module(module), name)
        gc.freeze()
    return found


def lazy_door(door: str, homes: Mapping[str, str]) -> Callable[[str], Any]:
    """A `__getattr__` for a package whose public names are loaded when they are first used.

    Args:
        door: the name of the package.
        homes: by module, the names that it has, separated by spaces.
    """
    home_of = {name: home for home, names in homes.items() for name in names.split()}

    def attribute(name: str) -> Any:  # noqa: ANN401  any of the names
        if name not in home_of:
            raise AttributeError(f"module {door!r} has no attribute {name!r}")
        return getattr(import_module(home_of[name]), name)

    return attribute
