"""The built files, read once (each with its type, its digest and its compressed copies), and the headers of their page.

Everything comes from the service itself, and no script or style stands in the page.

- `data:` images are the squiggles of the editor. No image is loaded from elsewhere: one in an answer would tell a third
  party who reads it, and when.
- Trusted types: DOMPurify alone makes markup out of text.
- The nonce permits the style sheets that the editor adds (CodeMirror's `EditorView.cspNonce`).
"""

import hashlib
import mimetypes
from collections.abc import Mapping
from pathlib import Path

from bt_runtime.text.data import dataclass

_DIRECTIVES = (
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self' 'nonce-{nonce}'",
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "manifest-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types dompurify",
)

_UNUSED = ("camera", "display-capture", "geolocation", "microphone", "midi", "payment", "serial", "usb")
"""Features of browsers that no page of the console needs."""

PAGE_HEADERS = {
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": ", ".join(f"{feature}=()" for feature in _UNUSED),
}


def page_policy(nonce: str) -> str:
    """The page's Content-Security-Policy for one response."""
    return "; ".join(_DIRECTIVES).format(nonce=nonce)


FOLDER = Path(__file__).with_name("files")
"""Where the build puts them."""

EXPORT_PAGE = FOLDER / "export.html"
"""The page of an exported run, without the run: `oracle.replay.exports` puts it in."""

_PAGE = "index.html"
_NONCE = "CSP_NONCE"
"""What stands in the page for the nonce of a response."""

_COPIES = {"br": ".br", "gzip": ".gz"}
"""Content codings, the smallest first, and how the build names a copy in each."""

_TYPES = {
    ".css": "text/css",
    ".js": "text/javascript",
    ".svg": "image/svg+xml",
    ".webmanifest": "application/manifest+json",
    ".woff2": "font/woff2",
}
"""The types that matter to browsers, whatever the machine's own table says."""


@dataclass(frozen=True, slots=True)
class Encoded:
    """The bytes of one response.

    Args:
        body: the bytes.
        coding: their content coding; `None`: as they are.
    """

    body: bytes
    coding: str | None


@dataclass(frozen=True, slots=True)
class ConsoleFile:
    """A built file.

    Args:
        body: its bytes.
        media_type: the value of `Content-Type`; a text type names its charset.
        etag: a weak one, because the copies share it.
        copies: by content coding, the smallest first.
    """

    body: bytes
    media_type: str
    etag: str
    copies: Mapping[str, bytes]

    def in_encoding(self, accepted: str) -> Encoded:
        """The smallest form that a client takes.

        Args:
            accepted: its `Accept-Encoding`; empty: the file as it is.
        """
        weights = _weights(accepted)
        for coding, body in self.copies.items():
            if weights.get(coding, weights.get("*", 0.0)) > 0:
                return Encoded(body, coding)
        return Encoded(self.body, None)


@dataclass(frozen=True, slots=True)
class Console:
    """The console.

    Args:
        template: of its page, with a placeholder for the nonce.
        files: all others, by their path below the root of the service.
    """

    template: str
    files: Mapping[str, ConsoleFile]

    def page(self, *, nonce: str) -> str:
        """The page of a response; the nonce permits the styles that the console's editor adds."""
        return self.template.replace(_NONCE, nonce)


def read_console(folder: Path = FOLDER) -> Console | None:
    """The console in a folder, or `None` where none has been built."""
    try:
        template = (folder / _PAGE).read_text(encoding="utf-8")
    except FileNotFoundError:
        return None
    paths = {path.relative_to(folder).as_posix(): path for path in sorted(folder.rglob("*")) if path.is_file()}
    served = {
        name: _read(path)
        for name, path in paths.items()
        if name not in (_PAGE, EXPORT_PAGE.name) and not name.startswith(".") and path.suffix not in _COPIES.values()
    }
    return Console(template, served)


def _read(path: Path) -> ConsoleFile:
    body = path.read_bytes()
    copies = {coding: path.with_name(path.name + suffix) for coding, suffix in _COPIES.items()}
    found = _TYPES.get(path.suffix) or mimetypes.guess_type(path.name)[0] or "application/octet-stream"
    return ConsoleFile(
        body=body,
        media_type=f"{found}; charset=utf-8" if found.startswith("text/") else found,
        etag=f'W/"{hashlib.sha256(body).hexdigest()[:32]}"',
        copies={coding: copy.read_bytes() for coding, copy in copies.items() if copy.is_file()},
    )


def _weights(accepted: str) -> dict[str, float]:
    """The content codings of an `Accept-Encoding` header, with their weights (RFC 9110, 12.5.3)."""
    weights = {}
    for part in accepted.split(","):
        coding, _, parameter = part.partition(";")
        weights[coding.strip().lower()] = _weight(parameter)
    return weights


def _weight(parameter: str) -> float:
    name, _, value = parameter.replace(" ", "").lower().partition("=")
    if name != "q":
        return 1.0
    try:
        return float(value)
    except ValueError:
        return 0.0
