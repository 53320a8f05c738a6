"""The node kinds of long conversations, which are imported when a tree names them."""

from typing import Final

from bt_runtime.language.registry import KindPlace

KINDS: Final = [KindPlace("compact", "oracle.features.long_conversations.compacting")]
