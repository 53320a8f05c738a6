"""Who asks through a chat backend, which has one token and many users.

Rules:

- A backend names the user in a header: signed (Open WebUI), by the user's own access token (an issuer's), or in plain
  words. The strongest one that is sent counts, and one that is wrong is refused, whatever else was sent.
- The user is `backend:user`; nobody else's name begins so. Whom nothing but plain words name is never an operator.
- Who may name nobody and sends such a header is refused: all users of that chat would be one.
- No header's value is in a message or in the log.
"""

from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING, Final

from oracle.server.api.named import BadTokenError, NamedUser, NamingError, is_name

if TYPE_CHECKING:  # loaded where there are such tokens
    from oracle.server.api.issuers import IssuerTokens
    from oracle.server.api.signed import SignedTokens

_SIGNED: Final = "X-OpenWebUI-User-Jwt"
_OPEN_WEBUI: Final = frozenset(b"x-openwebui-user-" + part for part in (b"jwt", b"id", b"email", b"name", b"role"))
_LONGEST_HEADER: Final = 16_384

Headers = Collection[tuple[bytes, bytes]]


class ChatBackends:
    """Finds the users that chat backends name.

    Args:
        names: users of fixed tokens that are backends.
        signed: checks Open WebUI's header; `None`: it is not taken.
        token_header: that has the user's access token; `None`: there is none.
        user_header: that has the user's name in plain words; `None`: there is none.
        issuers: check access tokens.
    """

    def __init__(
        self,
        names: Iterable[str] = (),
        *,
        signed: "SignedTokens | None" = None,
        token_header: str | None = None,
        user_header: str | None = None,
        issuers: "IssuerTokens | None" = None,
    ) -> None:
        self.names = frozenset(names)
        self._signed = signed
        self._issuers = issuers
        self._ways = {
            header.lower().encode(): header
            for header, on in ((_SIGNED, signed), (token_header, issuers), (user_header, user_header))
            if header and on
        }
        self._naming = _OPEN_WEBUI.union(self._ways)
        self._token_header, self._user_header = token_header, user_header

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
            f"This token may not name users ({name} header). If it is a chat backend's, the operator sets "
            "ORACLE_CHAT_BACKENDS to its user in ORACLE_TOKENS; if not, leave the header out."
        )

    async def user_of(self, backend: str, headers: Headers, *, may_be_nobody: bool = False) -> NamedUser | None:
        """The user of a backend's request.

        Args:
            backend: the user of its token.
            headers: with names in lower case.
            may_be_nobody: the backend may ask this for itself, if it names nobody.

        Returns:
            The user; `None`: the backend itself.

        Raises:
            NamingError: the request names no user, or in a way that is wrong.
        """
        sent = {name for name, _ in headers}
        if _SIGNED.lower().encode() in sent and self._signed is None:
            raise NamingError(
                f"{_SIGNED} cannot be checked: the operator sets ORACLE_OPENWEBUI_JWT_SECRET to the backend's "
                "FORWARD_USER_INFO_HEADER_JWT_SECRET."
            )
        found = next(((key, header) for key, header in self._ways.items() if key in sent), None)
        if found is None and may_be_nobody:
            return None
        if found is None:
            raise NamingError(
                f"A chat backend's request names its user: {' or '.join(self._ways.values())} header. Without it all "
                "users of the chat would be one. Other headers that may name users are set by the operator "
                "(ORACLE_OPENWEBUI_JWT_SECRET, ORACLE_USER_TOKEN_HEADER, ORACLE_USER_HEADER)."
            )
        key, header = found
        try:
            user, is_operator = await self._named(header, _text([value for name, value in headers if name == key]))
        except BadTokenError as error:
            raise NamingError(f"The {header} header is not valid: {error}.") from None
        name = f"{backend}:{user}"
        if not user or not is_name(name):
            raise NamingError(f"The {header} header is not valid: its user must be 1-190 printable characters.")
        return NamedUser(name, is_operator, is_proven=header != self._user_header)

    async def _named(self, header: str, value: str) -> tuple[str, bool]:
        if header == _SIGNED and self._signed is not None:
            return str(self._signed.user_of(value)), False
        if header == self._token_header and self._issuers is not None:
            user = await self._issuers.user_of(value.removeprefix("Bearer ").strip())
            return user.name, user.is_operator
        return value, False


def _text(values: Sequence[bytes]) -> str:
    """The text of a header that was sent.

    Raises:
        BadTokenError: it is no text, or that of a template which was not filled in.
    """
    if len(values) > 1 or len(values[0]) > _LONGEST_HEADER:
        raise BadTokenError(f"it was sent more than once, or is longer than {_LONGEST_HEADER:,} bytes")
    try:
        text = values[0].decode().strip()
    except UnicodeDecodeError:
        raise BadTokenError("it is not UTF-8") from None
    if "{{" in text or "${" in text:
        raise BadTokenError("the backend has sent its template, and has not put a user into it")
    return text
