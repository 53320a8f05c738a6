"""The `notify` kind as the agent has it: the runtime's, with the topics that clients know."""

from dataclasses import replace
from typing import Final

from bt_runtime import Kind
from bt_runtime.kinds.notify import Notify, NotifySettings
from bt_runtime.language.flow import Case, leaf
from oracle.core.chunks import Topic


class AgentNotifySettings(NotifySettings):
    """Settings of `notify`.

    Args:
        message: what the user reads; `{key}` stands for a blackboard value.
        topic: what it is about, one of the `system_type`s that clients know; `notice` for anything else.
        severity: `info`, `warning` or `error`.
    """

    topic: Topic = "notice"


AGENT_NOTIFY: Final[Kind] = replace(Notify.kind, settings=AgentNotifySettings, flow=leaf(Case("success")))
