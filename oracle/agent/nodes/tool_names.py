"""Settings that name tools, for the kinds that offer them or withhold them."""

from collections.abc import Iterator

from pydantic import Field

from bt_runtime import ActionUse, NodeSettings, Use


class ToolNames(NodeSettings):
    """Names of tools.

    Args:
        tools: the names of the tools.
    """

    tools: list[str] = Field(min_length=1)

    def uses(self) -> Iterator[Use]:
        """Each name, so that one that is no tool's is a mistake with its place."""
        for index, name in enumerate(self.tools):
            yield ActionUse(("tools", index), name)
