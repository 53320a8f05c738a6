"""Tools that the model can call."""

from typing import Annotated

from oracle.tools import ToolError, tool

_OFFICES = {"berlin": "9 to 17", "lima": "8 to 16"}


@tool(
    group="offices",
    when_to_use="When the user asks when an office is open.",
    query_types=["research", "documentation", "conversational"],
)
def opening_hours(city: Annotated[str, "The city of the office."]) -> str:
    """Look up when an office is open. Returns the hours."""
    hours = _OFFICES.get(city.lower())
    if hours is None:
        raise ToolError(f"there is no office in {city!r}; there are: {', '.join(_OFFICES)}.")
    return f"The office in {city} is open from {hours}."


TOOLS = [opening_hours]
