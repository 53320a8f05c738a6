"""Failures that are not the provider's, as users and as operators read them."""

from oracle.llm.protocol import ModelFault


def control_failed(tree: str, problem: str) -> ModelFault:
    """The tree or decision tree that controls a query broke, or ended without a reason."""
    return ModelFault(
        "tree_failed",
        "The control of this query failed. Please ask again; if it fails again, tell the operator of this service.",
        f"the control of the query ({tree}) failed: {problem}",
    )


def internal_error(error: Exception) -> ModelFault:
    """An unexpected exception in the service."""
    return ModelFault(
        "internal",
        "Something went wrong in the service. Please ask again; if it fails again, tell its operator.",
        f"an internal error ({type(error).__name__})",
    )
