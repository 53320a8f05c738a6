"""docs/operating.md, Identity: its examples are settings that a service starts with, and mean what the page says."""

import re
from pathlib import Path

import jwt
import pytest
import yaml

from oracle.server.settings.fields import Settings
from oracle.server.settings.reading import read_settings
from oracle.server.wiring.identity import authenticator
from tests.support.issuer import issuing

PAGE = (Path(__file__).parents[1] / "docs" / "operating.md").read_text(encoding="utf-8")
BLOCKS = {kind: re.findall(rf"```{kind}\n(.*?)```", PAGE, re.DOTALL) for kind in ("env", "yaml")}
OURS = [block for block in BLOCKS["env"] if block.startswith("ORACLE_")]
ISSUERS, CLIENTS, BACKEND, LIBRECHAT = OURS


def settings_of(monkeypatch: pytest.MonkeyPatch, block: str, **changed: str) -> Settings:
    for line in block.splitlines():
        name, _, value = line.partition("=")
        monkeypatch.setenv(name, changed.get(name, value))
    return read_settings()


@pytest.mark.parametrize("block", [ISSUERS, ISSUERS + CLIENTS, BACKEND, LIBRECHAT])
def test_a_service_starts_with_each_example(monkeypatch, block):
    settings = settings_of(monkeypatch, block)
    assert settings.has_auth
    assert authenticator(settings).is_required
    named = {f"ORACLE_{name.upper()}" for name in settings.model_fields_set}
    assert {line.partition("=")[0] for line in block.splitlines()} <= named


async def test_both_sides_of_open_webui_have_the_same_secret(monkeypatch):
    checks = authenticator(settings_of(monkeypatch, BACKEND))
    (theirs,) = [block for block in BLOCKS["env"] if block not in OURS]
    secret = re.search(r"^FORWARD_USER_INFO_HEADER_JWT_SECRET=(\S+)$", theirs, re.MULTILINE)
    assert secret is not None
    signed = jwt.encode({"sub": "7f3c", "iss": "open-webui", "exp": 10**11}, secret[1])
    token = re.search(r"ORACLE_TOKENS=(\w+)=", BACKEND)
    assert token is not None
    headers = [(b"authorization", f"Bearer {token[1]}".encode()), (b"x-openwebui-user-jwt", signed.encode())]
    assert (await checks.caller(headers)).user_id == "webui:7f3c"


async def test_the_header_of_librechat_is_the_one_that_is_read_here(monkeypatch):
    (endpoint,) = yaml.safe_load(BLOCKS["yaml"][0])["endpoints"]["custom"]
    ((header, template),) = endpoint["headers"].items()
    assert template == "{{LIBRECHAT_OPENID_ACCESS_TOKEN}}"
    with issuing() as issuer:
        checks = authenticator(settings_of(monkeypatch, LIBRECHAT, ORACLE_OIDC_ISSUERS=f"corp={issuer.url}"))
        headers = [
            (b"authorization", b"Bearer 99d04be1f5a74c3e9c35"),
            (header.lower().encode(), issuer.token(sub="7f3c").encode()),
        ]
        assert (await checks.caller(headers)).user_id == "librechat:corp:7f3c"


async def test_operators_are_those_whom_the_example_means(monkeypatch):
    with issuing() as issuer:
        checks = authenticator(
            settings_of(monkeypatch, ISSUERS, ORACLE_OIDC_ISSUERS=f"corp={issuer.url},partner=https://a.example")
        )
        token = issuer.token(realm_access={"roles": ["oracle-operators"]})
        assert (await checks.caller([(b"authorization", f"Bearer {token}".encode())])).is_operator
