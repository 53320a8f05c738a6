"""Users that tokens name, and who asks through a chat backend, which has one token and many users.

Rules:

- A backend names the user in a header: signed (Open WebUI), by the user's own access token (an issuer's), or in plain
  words. The strongest one that is sent counts, and one that is wrong is refused, whatever else was sent.
- The user is `backend:user`; nobody else's name begins so. Whom nothing but plain words name is never an operator.
- Who may name nobody and sends such a header is refused: all users of that chat would be one.
- No header's value is in a message or in the log.
"""

from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from typing import Final, NamedTuple

from oracle.core.errors import UserError

LONGEST_USER: Final = 255


class BadTokenError(UserError):
    """A token that names a user is not valid; the message says what is wrong with it, as the end of a sentence."""


class NamingError(UserError):
    """A request names its user in a way that is not allowed, or does not name one; the message says what to set."""


class NamedUser(NamedTuple):
    """A user that was named.

    Args:
        name: the whole name, with that of the issuer or the backend.
        is_operator: a claim of the user's own token says so.
        is_proven: by a signature; plain words prove nothing.
    """

    name: str
    is_operator: bool = False
    is_proven: bool = True


def is_name(text: object) -> bool:
    """Whether a user can be called so."""
    return isinstance(text, str) and 0 < len(text) <= LONGEST_USER and text.isprintable()


SIGNED: Final = "X-OpenWebUI-User-Jwt"
_OPEN_WEBUI: Final = frozenset(b"x-openwebui-user-" + part for part in (b"jwt", b"id", b"email", b"name", b"role"))
_LONGEST_HEADER: Final = 16_384

Headers = Collection[tuple[bytes, bytes]]
Read = Callable[[str], Awaitable[NamedUser]]
"""Makes a user of the text of a header, or raises `BadTokenError`."""


class ChatBackends:
    """Finds the users that chat backends name.

    Args:
        names: users of fixed tokens that are backends.
        ways: headers that name users, the strongest first, and what reads them.
    """

    def __init__(self, names: Iterable[str] = (), *, ways: Iterable[tuple[str, Read]] = ()) -> None:
        self.names = frozenset(names)
        self._ways: dict[bytes, tuple[str, Read]] = {}
        for header, read in ways:
            self._ways.setdefault(header.lower().encode(), (header, read))
        self._naming = _OPEN_WEBUI.union(self._ways)

    def refuse_naming(self, headers: Headers) -> None:
        """Refuse what only a backend may send.

        Raises:
            NamingError: the request names a user.
        """
        sent = dict(headers)
        if self._naming.isdisjoint(sent):
            return
        name = min(self._naming & sent.keys()).decode()
        raise NamingError(
            f"This token may not name users ({name} header). For the token of a chat backend, the operator adds its "
            f"user in ORACLE_TOKENS to ORACLE_CHAT_BACKENDS; otherwise leave the header out."
        )

    async def user_of(self, backend: str, headers: Headers, *, may_be_nobody: bool = False) -> NamedUser | None:
        """The user of a backend's request.

        Args:
            backend: the user of its token.
            headers: the headers of the request, with names in lower case.
            may_be_nobody: the backend may ask this for itself, if it names nobody.

        Returns:
            The user; `None`: the backend itself.

        Raises:
            NamingError: the request names no user, or in a way that is wrong.
        """
        sent = {name for name, _ in headers}
        if (signed := SIGNED.lower().encode()) in sent and signed not in self._ways:
            raise NamingError(
                f"{SIGNED} cannot be checked: the operator sets ORACLE_OPENWEBUI_JWT_SECRET to the backend's "
                "FORWARD_USER_INFO_HEADER_JWT_SECRET."
            )
        key = next((key for key in self._ways if key in sent), None)
        if key is None and may_be_nobody:
            return None
        if key is None:
            known = " or ".join(header for header, _ in self._ways.values())
            raise NamingError(
                f"A request of a chat backend must name its user: {known} header. Otherwise all users of the chat "
                f"would be the same user. The operator can configure other headers that name users "
                f"(ORACLE_OPENWEBUI_JWT_SECRET, "
                "ORACLE_USER_TOKEN_HEADER, ORACLE_USER_HEADER)."
            )
        header, read = self._ways[key]
        try:
            user = await read(_text([value for name, value in headers if name == key]))
        except BadTokenError as error:
            raise NamingError(f"The {header} header is not valid: {error}.") from None
        name = f"{backend}:{user.name}"
        if not user.name or not is_name(name):
            raise NamingError(f"The {header} header is not valid: its user must be 1-190 printable characters.")
        return user._replace(name=name)


async def by_word(value: str) -> NamedUser:
    """The user whom plain words name."""
    return NamedUser(value, is_proven=False)


def _text(values: Sequence[bytes]) -> str:
    """The text of a header that was sent.

    Raises:
        BadTokenError: it is no text, or that of a template which was not filled in.
    """
    if len(values) > 1 or len(values[0]) > _LONGEST_HEADER:
        raise BadTokenError(f"it is sent more than once or is longer than {_LONGEST_HEADER:,} bytes")
    try:
        text = values[0].decode().strip()
    except UnicodeDecodeError:
        raise BadTokenError("it is not UTF-8") from None
    if "{{" in text or "${" in text:
        raise BadTokenError("the backend sent its template without filling in a user")
    return text
