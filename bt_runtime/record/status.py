"""The statuses of py_trees as module-level names.

In Python 3.11 reading a member of an enum costs more than comparing it; a tick does so several times per node.
"""

from py_trees.common import Status

SUCCESS = Status.SUCCESS
FAILURE = Status.FAILURE
RUNNING = Status.RUNNING
INVALID = Status.INVALID

__all__ = ["FAILURE", "INVALID", "RUNNING", "SUCCESS", "Status"]
