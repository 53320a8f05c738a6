"""Loading modules in less time, or not before they are needed."""

import gc
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from typing import Any


@contextmanager
def collector_paused() -> Iterator[None]:
    """No garbage collection while modules are loaded.

    Loading makes hundreds of thousands of objects and next to no garbage, and the collector would look at all of them
    again and again: a fifth of the time.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


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
