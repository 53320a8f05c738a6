import pytest

from oracle.tools.secret_files import is_secret

SECRET = [
    *(".env", "deploy/.env.production", "prod.env", ".envrc", ".netrc", ".pgpass", ".my.cnf", ".pypirc", "web/.npmrc"),
    *("keys/id_ed25519", "id_rsa", "deploy_rsa", "tls/server.KEY", "server.pem", "putty.ppk", "app.p12", "a.jks"),
    *(".git/config", "x/.git", ".ssh/known_hosts", ".aws/credentials", ".kube/config", ".docker/config.json"),
    *(".config/gcloud/access_tokens.db", "home/.config/gh/hosts.yml", ".cargo/credentials.toml", ".m2/settings.xml"),
    *("credentials.json", "config/credentials.yml", ".cargo/credentials", "client_secret_1.json", ".htpasswd"),
    *("secrets.yaml", "k8s/secret.yml", ".secrets.toml", "terraform.tfstate", "terraform.tfstate.backup"),
    *("terraform.tfvars", "prod.auto.tfvars", "my-service-account-1.json", "service_account.json", ".vault-token"),
    *("kubeconfig", ".bash_history", "x.keytab", "pass.kdbx"),
]
COPIES = [
    *(
        ".env~",
        "id_rsa.bak",
        "id_rsa.old",
        "credentials.json.orig",
        ".netrc.save",
        ".pgpass.1",
        "server.key.2024-01-31",
    ),
    *(".env.swp", ".credentials.json.swp", "#.netrc#", ".#id_rsa", "id_rsa copy", "id_rsa (1)", "id_rsa.bak.old~"),
    *("secrets.yaml.dpkg-old", "secrets.yaml.rpmsave", ".npmrc_bak", ".#credentials.json", "#credentials.json#"),
]
HARMLESS = [
    *(".env.example", "config/.env.sample", "terraform.tfvars.example", "credentials.json.template", ".env.example~"),
    *("environment.py", "keyboard.py", "secrets.py", "credentials.py", "credentials/__init__.py", "credentials/a.go"),
    *(
        "config.json",
        "docker/config.json",
        ".docker/nginx.conf",
        "settings.xml",
        "hosts.yml",
        ".github/workflows/a.yml",
    ),
    *("history.md", "service_account.py", "README.md", "main.tf", "~", "#", ".bak", "old", "1", "a.1"),
]


@pytest.mark.parametrize("path", SECRET)
def test_files_with_credentials_are_recognized_by_name(path: str) -> None:
    assert is_secret(path)
    assert is_secret(f"deep/er/{path.upper()}")


@pytest.mark.parametrize("path", COPIES)
def test_a_copy_is_as_secret_as_the_file(path: str) -> None:
    assert is_secret(path)
    assert is_secret(f"deep/{path}")


@pytest.mark.parametrize("path", HARMLESS)
def test_code_about_credentials_and_templates_are_not_secret(path: str) -> None:
    assert not is_secret(path)
    assert not is_secret(f"deep/{path}")


@pytest.mark.parametrize("folder", [".git/", "a/.ssh/", ".config/gcloud/"])
def test_a_folder_of_secrets_is_secret_itself(folder: str) -> None:
    assert is_secret(folder)


@pytest.mark.parametrize("folder", ["credentials/", "secrets.yaml/", "a/kubeconfig/"])
def test_a_folder_is_not_a_file_with_credentials(folder: str) -> None:
    assert not is_secret(folder)
