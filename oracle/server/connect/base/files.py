"""Files in the messages of clients, as the parts of each protocol have them: data URLs, whose bytes are kept.

Only those of the question count. What the client has of its history is passed over: the conversation has its own.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from oracle.core.errors import UserError
from oracle.server.api.bodies import MOST_ATTACHMENTS, AttachmentBody

KINDS: Final = ("image_url", "file", "input_image", "input_file", "binary", "image", "document")
"""The types of parts that are files."""
_REMOTE: Final = "send files as data URLs (data:image/png;base64,...); other URLs and file ids are not accepted"


def files_of(content: object, *place: str | int) -> list[AttachmentBody]:
    """The files among the parts of a message.

    Args:
        content: a text, or parts of which nothing has been checked.
        place: keys and indexes that lead to it in the body.

    Raises:
        UserError: there are too many, or one has no bytes.
    """
    parts = content if isinstance(content, list) else []
    found = [(n, part) for n, part in enumerate(parts) if isinstance(part, dict) and part.get("type") in KINDS]
    if len(found) > MOST_ATTACHMENTS:
        problem = f"there are {len(found):,} files; a question may have at most {MOST_ATTACHMENTS}"
        raise UserError(problem, loc=("body", *place))
    return [_file(part, ("body", *place, n)) for n, part in found]


def _file(part: Mapping[str, Any], place: Sequence[str | int]) -> AttachmentBody:
    match part:
        case (
            {"image_url": {"url": given}} | {"image_url": given} | {"file": {"file_data": given}} | {"file_data": given}
        ):
            pass
        case {"url": given} | {"source": {"type": "data", "value": given}} | {"data": given}:
            pass
        case _:
            raise UserError(_REMOTE, loc=place)
    head, comma, data = given.partition(",") if isinstance(given, str) else (":", "", "")
    if not (comma and head.startswith("data:") and head.endswith(";base64")):
        if ":" in head or comma or "url" in part:
            raise UserError(_REMOTE, loc=place)
        data = head  # bare base64, as `data` of the one protocol and `file_data` of some clients of the other have it
    inner = part.get("file")
    named = inner if isinstance(inner, dict) else part
    name = named.get("filename")
    return AttachmentBody(name=name[:200] if isinstance(name, str) and name else None, data=data)
