"""What is set of callers is checked at the start, and what it needs is loaded only then."""

import subprocess
import sys

import jwt.algorithms
import pytest

from oracle.server.settings.fields import Settings
from oracle.server.settings.identity import Issuer, check_callers
from oracle.server.settings.reading import SettingsError
from oracle.server.wiring.identity import authenticator

TOKENS = {"webui-token": "webui", "anna-token": "anna"}
ISSUER = "corp=https://login.example.com/realms/team"
CORP = {"oidc_issuers": (ISSUER,), "oidc_audiences": ("corp=oracle",)}


def test_issuers_have_a_name_audiences_and_claims_of_operators():
    settings = Settings(
        oidc_issuers=f"{ISSUER}, here=http://127.0.0.1:9/",
        oidc_audiences="corp=oracle, here=api://7, corp=oracle-too",
        oidc_operators="corp=realm.roles=ops=yes",
    )
    assert settings.has_auth
    assert settings.operators == ()
    assert settings.runs_per_user == 8
    assert check_callers(settings) == (
        Issuer(
            "corp",
            "https://login.example.com/realms/team",
            ("oracle", "oracle-too"),
            (("realm.roles", "ops=yes"),),
        ),
        Issuer("here", "http://127.0.0.1:9/", ("api://7",)),
    )


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"oidc_issuers": ("https://a.example",)}, "ORACLE_OIDC_ISSUERS must be entries like 'name=https://login"),
        ({"oidc_issuers": ("a b=https://a.example",)}, "ORACLE_OIDC_ISSUERS must be entries like"),
        ({"oidc_issuers": ("a=http://a.example",)}, "ORACLE_OIDC_ISSUERS must be entries like"),
        ({"oidc_issuers": ("a=https://me:secret@a.example",)}, "ORACLE_OIDC_ISSUERS must be entries like"),
        ({"oidc_issuers": ("a=https://a.example", "b=https://a.example")}, "each name and address once"),
        ({"oidc_issuers": ("a=https://a.example", "a=https://b.example")}, "each name and address once"),
        ({"oidc_issuers": (ISSUER,)}, "ORACLE_OIDC_AUDIENCES must say what tokens are for, as 'corp=audience'"),
        ({**CORP, "oidc_audiences": ("oracle",)}, "ORACLE_OIDC_AUDIENCES must be 'name=audience' with a name of"),
        ({**CORP, "oidc_operators": ("else=groups=ops",)}, "ORACLE_OIDC_OPERATORS must be 'name=claim=value' with"),
        (
            {**CORP, "oidc_operators": ("corp=groups",)},
            "ORACLE_OIDC_OPERATORS must be 'name=claim=value' with a name of",
        ),
        ({"chat_backends": ("other",)}, "ORACLE_CHAT_BACKENDS must be users of ORACLE_TOKENS whose names are"),
        ({"chat_backends": ("webui",)}, "ORACLE_CHAT_BACKENDS needs a way to name users: ORACLE_OPENWEBUI_JWT_SECRET"),
        ({"chat_backends": ("a:b",), "tokens": {"t": "a:b"}}, "ORACLE_CHAT_BACKENDS must be users of ORACLE_TOKENS"),
        ({**CORP, "tokens": {"t": "corp"}, "chat_backends": ("corp",)}, "and no issuer's, not 'corp'"),
        ({"user_header": "Authorization"}, "ORACLE_USER_HEADER must be the name of a header of its own, like"),
        ({"user_header": "X User"}, "ORACLE_USER_HEADER must be the name of a header of its own, like 'X-User-Id'"),
        ({"user_token_header": "X-User-Token"}, "ORACLE_OIDC_ISSUERS must name the issuer whose tokens are in the"),
        (
            {"tokens": TOKENS | {"evil": "webui:anna"}, "chat_backends": ("webui",), "user_header": "X-User-Id"},
            "ORACLE_TOKENS must have no user that begins with 'webui:', as the users of 'webui' do",
        ),
        (CORP | {"tokens": {"evil": "corp:anna"}}, "ORACLE_TOKENS must have no user that begins with 'corp:'"),
    ],
)
def test_what_is_set_wrongly_is_told_at_the_start(given, problem):
    with pytest.raises(SettingsError) as refused:
        authenticator(Settings(**{"tokens": TOKENS} | given))
    assert problem in str(refused.value)
    assert "evil" not in str(refused.value)


def test_issuers_need_a_package_that_the_message_names(monkeypatch):
    monkeypatch.setattr(jwt.algorithms, "has_crypto", False)
    with pytest.raises(SettingsError, match=r"pip install 'oracle-bt\[oidc\]'"):
        authenticator(Settings(**CORP))


@pytest.mark.parametrize("secret", ["short", "s" * 31])
def test_a_secret_of_open_webui_that_can_be_guessed_is_refused(secret):
    with pytest.raises(ValueError, match="ORACLE_OPENWEBUI_JWT_SECRET must be at least 32 random bytes"):
        Settings(openwebui_jwt_secret=secret)


_LOADED = """
import sys
from oracle.server.settings.fields import Settings
from oracle.server.wiring.identity import authenticator
authenticator(Settings(tokens={"t": "webui"}, chat_backends=("webui",), user_header="X-User-Id"))
print(sorted({"jwt", "cryptography", "httpx2"} & sys.modules.keys()))
"""


def test_who_has_fixed_tokens_alone_loads_nothing_for_signed_ones():
    shown = subprocess.run([sys.executable, "-c", _LOADED], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "[]"
