"""The statuses of py_trees, bound to names of their own.

In Python 3.11 reading a member from an enum costs more than the comparison it is read for; a tick does it several
times per node.
"""

from py_trees.common import Status

SUCCESS = Status.SUCCESS
FAILURE = Status.FAILURE
RUNNING = Status.RUNNING
INVALID = Status.INVALID

__all__ = ["FAILURE", "INVALID", "RUNNING", "SUCCESS", "Status"]
