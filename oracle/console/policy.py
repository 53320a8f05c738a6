"""The headers of the console's page: what a browser may do for it.

Everything comes from the service itself, and no script or style stands in the page.

- `data:` images are the squiggles of the editor. No image is loaded from elsewhere: one in an answer would tell a third
  party who reads it, and when.
- Trusted types: DOMPurify alone makes markup out of text.
- The nonce permits the style sheets that the editor adds (CodeMirror's `EditorView.cspNonce`).
"""

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
