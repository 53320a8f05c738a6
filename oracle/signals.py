"""The room `signals`, by the name that it has in a checkout and in an installed wheel alike.

A wheel holds the room itself here and leaves this file out, so that an installation takes no top-level name that a
host's own folder may have. `oracle` imports the room by this name alone.
"""

from signals import *  # noqa: F403  a second name for the same objects, all of them
from signals import __all__  # noqa: F401  re-exported
