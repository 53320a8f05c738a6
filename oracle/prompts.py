"""The room `prompts`, by the name that it has in a checkout and in an installed wheel alike (see `oracle.signals`)."""

from prompts import *  # noqa: F403  a second name for the same objects, all of them
from prompts import __all__  # noqa: F401  re-exported
