"""An OpenID Connect issuer on loopback: a real server, real keys, and what can go wrong with them."""

import base64
import hashlib
import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import jwt
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

KEYS_PATH = "/keys"
_TOKENS_PATH = "/token"
_DISCOVERY = "/.well-known/openid-configuration"
_MAKERS: dict[str, Callable[[], Any]] = {
    "RS256": lambda: rsa.generate_private_key(public_exponent=65537, key_size=2048),
    "ES256": lambda: ec.generate_private_key(ec.SECP256R1()),
    "EdDSA": ed25519.Ed25519PrivateKey.generate,
}


@cache
def _made(kid: str, algorithm: str) -> Any:
    return _MAKERS[algorithm]()


def private_key(kid: str, algorithm: str = "RS256") -> Any:
    """The key of this name; making one takes 100 ms."""
    return _made(kid, algorithm)


def public_pem(kid: str) -> bytes:
    """The public part of a key as a file."""
    return private_key(kid).public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)


def as_jwk(kid: str, algorithm: str = "RS256") -> dict[str, Any]:
    """The public part of a key as issuers publish it."""
    public = private_key(kid, algorithm).public_key()
    found = jwt.get_algorithm_by_name(algorithm).to_jwk(public, as_dict=True)
    return {**found, "kid": kid, "use": "sig", "alg": algorithm}


class _Quiet(ThreadingHTTPServer):
    def handle_error(self, *_: object) -> None:
        """A client that leaves before the end of an answer is no news."""


@dataclass(slots=True)
class IssuerServer:
    """The issuer.

    Args:
        port: where it listens, while it is up.
        keys: names and algorithms of what it publishes.
        answers: by path, in place of what is right: status, headers, body.
        asked: the paths of requests so far.
        gate: requests wait for it.
        codes: by the code of a sign-in, what the browser has asked for.
    """

    port: int = 0
    keys: dict[str, str] = field(default_factory=lambda: {"one": "RS256"})
    answers: dict[str, tuple[int, dict[str, str], bytes]] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    gate: threading.Event = field(default_factory=threading.Event)
    codes: dict[str, dict[str, str]] = field(default_factory=dict)
    _server: ThreadingHTTPServer | None = None

    @property
    def url(self) -> str:
        """What its tokens have as `iss`."""
        return f"http://127.0.0.1:{self.port}/realms/team"

    @property
    def fetches(self) -> int:
        """How often it was asked for its keys, or for where they are."""
        return sum(path.endswith(_DISCOVERY) for path in self.asked)

    def start(self) -> None:
        """Listen, on the port of the first time."""
        self.gate.set()
        self._server = _Quiet(("127.0.0.1", self.port), self._handler())
        self.port = self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()

    def stop(self) -> None:
        """Listen no more: connections are refused."""
        if self._server is not None:
            self.gate.set()
            self._server.shutdown()
            self._server.server_close()
            self._server = None

    def token(self, *, kid: str | None = "one", key: Any = None, algorithm: str | None = None, **claims: Any) -> str:
        """A token that is right but for what is given; claims that are `None` are left out."""
        whole = {"iss": self.url, "aud": "oracle", "sub": "anna", "exp": time.time() + 300, "iat": time.time()} | claims
        algorithm = algorithm or self.keys.get(str(kid), "RS256")
        return jwt.encode(
            {name: value for name, value in whole.items() if value is not None},
            private_key(str(kid), algorithm) if key is None else key,
            algorithm=algorithm,
            headers={} if kid is None else {"kid": kid},
        )

    def _answer(self, path: str) -> tuple[int, dict[str, str], bytes]:
        if path in self.answers:
            return self.answers[path]
        if path.endswith(_DISCOVERY):
            at = f"http://127.0.0.1:{self.port}"
            calls = {"authorization_endpoint": f"{at}/authorize", "token_endpoint": at + _TOKENS_PATH}
            document = {"issuer": self.url, "jwks_uri": at + KEYS_PATH, "response_types_supported": ["code"], **calls}
            return 200, {}, json.dumps(document).encode()
        if path.startswith("/authorize?"):
            asked = {name: values[0] for name, values in parse_qs(urlsplit(path).query).items()}
            code = f"code-{len(self.codes)}"
            self.codes[code] = asked
            back = f"{asked['redirect_uri']}?{urlencode({'code': code, 'state': asked['state']})}"
            return 302, {"Location": back}, b""
        if path == KEYS_PATH:
            return 200, {}, json.dumps({"keys": [as_jwk(*each) for each in self.keys.items()]}).encode()
        return 404, {}, b""

    def _token_answer(self, path: str, form: dict[str, str]) -> tuple[int, dict[str, Any]]:
        """To a client that has a secret, or to one that has a code, once, and the verifier of its challenge."""
        if path != _TOKENS_PATH:
            return 404, {}
        if form["grant_type"] == "client_credentials":
            return 200, {"access_token": self.token(sub="app"), "token_type": "Bearer", "expires_in": 300}
        asked = self.codes.pop(form["code"], {})
        digest = hashlib.sha256(form["code_verifier"].encode()).digest()
        challenge = base64.urlsafe_b64encode(digest).decode().rstrip("=")
        same = all(form[name] == asked.get(name) for name in ("client_id", "redirect_uri"))
        if not same or asked.get("code_challenge") != challenge or asked.get("code_challenge_method") != "S256":
            return 400, {"error": "invalid_grant"}
        return 200, {"access_token": self.token(), "token_type": "Bearer", "expires_in": 300}

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        issuer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                issuer.asked.append(self.path)
                issuer.gate.wait(20)
                self._send(*issuer._answer(self.path))

            def do_POST(self) -> None:
                given = parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
                form = {name: values[0] for name, values in given.items()}
                status, token = issuer._token_answer(self.path, form)
                self._send(status, {"Content-Type": "application/json"}, json.dumps(token).encode())

            def _send(self, status: int, headers: dict[str, str], body: bytes) -> None:
                self.send_response(status)
                for name, value in {"Content-Length": str(len(body)), **headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                pass

        return Handler

    @property
    def discovery_path(self) -> str:
        """Where its discovery document is."""
        return f"/realms/team{_DISCOVERY}"


@contextmanager
def issuing(*, is_up: bool = True) -> Iterator[IssuerServer]:
    """An issuer; one that is not up has a port, and does not listen."""
    issuer = IssuerServer()
    issuer.start()
    if not is_up:
        issuer.stop()
    try:
        yield issuer
    finally:
        issuer.stop()
