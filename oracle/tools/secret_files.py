"""Recognizes files with credentials by their names. They are never shown: what a tool reads is sent to a provider.

A copy is as secret as the file: `.env~`, `id_rsa.bak`, `#.netrc#`, `.credentials.json.swp`. A template is not:
`.env.example`.
"""

import re
from functools import lru_cache
from itertools import pairwise

from oracle.tools.git_folder import IgnoreRules

_FOLDERS = frozenset(
    {".git", ".hg", ".svn", ".ssh", ".aws", ".azure", ".gcloud", ".gnupg", ".kube", ".password-store", ".secrets"}
)
_PATHS = (
    *(".docker/config.json", ".cargo/credentials.toml", ".config/gh/hosts.yml"),
    *(".m2/settings.xml", ".gradle/gradle.properties", ".composer/auth.json"),
    *(".config/rclone/rclone.conf", ".terraform.d/credentials.tfrc.json"),
)
_FOLDER_PAIR = (".config", "gcloud")
_NAMES = (
    *(".env", ".env.*", "*.env", ".envrc", ".netrc", "_netrc", ".pgpass", "pgpass.conf", ".my.cnf", ".mylogin.cnf"),
    *(".pypirc", ".npmrc", ".yarnrc", ".git-credentials", ".htpasswd", ".htdigest", ".vault-token", ".vault_pass*"),
    *(".dockercfg", ".dockerconfigjson", ".s3cfg", ".boto", ".databrickscfg", ".terraformrc", ".ossutilconfig"),
    *("kubeconfig", "*.kubeconfig", "rclone.conf", "*.tfstate", "*.tfstate.*", "*.tfvars", "*.tfvars.json"),
    *("id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", "id_*_sk", "*_rsa", "*_dsa", "*_ecdsa", "*_ed25519"),
    *("*.pem", "*.key", "*.ppk", "*.p8", "*.p12", "*.pfx", "*.pkcs12", "*.jks", "*.keystore", "*.kdb", "*.kdbx"),
    *("*.keytab", "*.ovpn", "*.agekey", "secring.*", ".*_history", ".secrets.*"),
    *("credentials", "credentials.json", "credentials.yaml", "credentials.yml", "credentials.toml", "credentials.ini"),
    *("credentials.db", "credentials.csv", "application_default_credentials.json", "client_secret*.json"),
    *("*service-account*.json", "*service_account*.json", "*serviceaccount*.json"),
    *("secret.yaml", "secret.yml", "secret.json", "secret.toml", "secret.ini", "secret.txt", "secrets.txt"),
    *("secrets.yaml", "secrets.yml", "secrets.json", "secrets.toml", "secrets.ini", "secrets.properties"),
)
_BY_PATH = {path.rpartition("/")[2]: path for path in _PATHS}
_HARMLESS = re.compile(r"(example|sample|template|dist|defaults?)$")
_COPY = re.compile(
    r"(?:~|[._ -](?:bak|backup|orig|original|old|save|saved|copy|new|tmp|temp|prev|rej|sw[a-p]|dpkg-\w{1,9}"
    r"|rpm(?:new|orig|save)|[0-9][0-9_-]{0,16})| \(\w{1,9}\)|#)$"
)
_MOST_SUFFIXES = 4


def is_secret(path: str) -> bool:
    """Whether a file is named like one with credentials, or belongs to a version control system.

    Args:
        path: of a file; the path of a folder ends with `/`.
    """
    *folders, name = path.casefold().split("/")
    if not _FOLDERS.isdisjoint([*folders, name]) or _FOLDER_PAIR in pairwise([*folders, name]):
        return True
    originals = _originals(name)
    if not any(_is_secret_name(each) or (each in _BY_PATH and _ends_with(folders, each)) for each in originals):
        return False
    return not any(_HARMLESS.search(each) for each in originals)


@lru_cache(maxsize=1)
def _by_name() -> IgnoreRules:
    """Made when a file is looked at, as it takes longer than most imports."""
    return IgnoreRules("\n".join(_NAMES))


@lru_cache(maxsize=32_768)
def _is_secret_name(name: str) -> bool:
    return bool(_by_name().ignores(name, name, is_folder=False))


def _ends_with(folders: list[str], name: str) -> bool:
    return f"/{'/'.join(folders)}/{name}".endswith(f"/{_BY_PATH[name]}")


def _originals(name: str) -> list[str]:
    """The name, and the names it may be a copy of."""
    names = [name]
    for _ in range(_MOST_SUFFIXES):
        shorter = _COPY.sub("", names[-1])
        if not shorter or shorter == names[-1]:
            break
        names.append(shorter)
    if len(names) > 1 or name.startswith(("#", ".#")):  # prefixes of editors' copies
        names += [names[-1].removeprefix("."), names[-1].removeprefix(".").removeprefix("#")]
    return names
