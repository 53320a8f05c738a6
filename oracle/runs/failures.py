"""What is kept of the error that ended a run: what the user was told, and what operators read (decision 33)."""

from collections.abc import Mapping
from typing import Any

from oracle.chunks import Failed
from oracle.models.protocol import ModelFault


def error_record(failed: Failed | None, fault: ModelFault | None) -> Mapping[str, Any] | None:
    """The JSON object `{error, error_type, cause?, detail?}` of a run's row.

    Args:
        failed: the last error chunk; `None` if there was none.
        fault: what ended the query, as far as it is known.
    """
    if failed is None:
        return None
    told: dict[str, Any] = {"error": failed.error, "error_type": failed.error_type}
    if fault is not None and fault.error_type == failed.error_type and fault.cause:
        told |= {"cause": fault.cause, "detail": dict(fault.detail)}
    return told
