"""examples/deploy: the files parse, and their names, paths, ports and times are those of the product and its image."""

import configparser
import json
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from oracle.server.process import process
from oracle.server.settings.table import settings_table

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "examples" / "deploy"
IMAGE = (ROOT / "Containerfile").read_text(encoding="utf-8")
SETTINGS = {row.name for row in settings_table()}
PORT = re.search(r"^EXPOSE (\d+)$", IMAGE, re.MULTILINE)[1]
PAGE = (ROOT / "docs" / "operating.md").read_text(encoding="utf-8")


def text_of(name: str) -> str:
    return (FOLDER / name).read_text(encoding="utf-8")


def seconds(text: str) -> float:
    return float(text.removesuffix("s"))


def longest_stop_s(drain: str) -> float:
    """How long the service may take to end after SIGTERM: the drain, and what its workers have after it."""
    return seconds(drain) + process._STOP_S


def serve_options(words: list[str]) -> dict[str, str]:
    start = words.index("serve") + 1
    return dict(zip(words[start::2], words[start + 1 :: 2], strict=True))


@pytest.mark.parametrize("path", sorted(FOLDER.iterdir()), ids=lambda path: path.name)
def test_each_file_is_on_the_page_and_names_settings_that_exist(path):
    assert f"examples/deploy/{path.name}" in PAGE
    named = set(re.findall(r"\b(?:ORACLE|ANTHROPIC)_[A-Z_]*[A-Z]", path.read_text(encoding="utf-8")))
    assert named
    assert named <= SETTINGS


# --- compose


@pytest.fixture(name="compose")
def _compose() -> dict[str, Any]:
    return yaml.safe_load(text_of("compose.yaml"))


def test_compose_runs_two_workers_of_the_image_on_its_port(compose):
    service = compose["services"]["oracle"]
    assert (FOLDER / service["build"]["context"] / service["build"]["dockerfile"]).resolve() == ROOT / "Containerfile"
    options = serve_options(service["command"])
    assert options == {"--host": "0.0.0.0", "--port": PORT, "--workers": "2"}
    assert [entry.rpartition(":")[2] for entry in service["ports"]] == [PORT]
    assert all(entry.startswith("127.0.0.1:") for entry in service["ports"])


def test_compose_waits_for_the_database_and_keeps_its_data(compose):
    database, service = compose["services"]["db"], compose["services"]["oracle"]
    assert service["depends_on"] == {"db": {"condition": "service_healthy"}}
    assert database["healthcheck"]["test"]
    url = service["environment"]["ORACLE_DATABASE_URL"]
    owner = database["environment"]
    assert url == f"postgresql://{owner['POSTGRES_USER']}:${{POSTGRES_PASSWORD}}@db/{owner['POSTGRES_DB']}"
    mounted = [entry.split(":")[0] for each in (database, service) for entry in each["volumes"]]
    assert set(compose["volumes"]) <= set(mounted)
    targets = {re.sub(r"\$\{.*?\}", "*", entry).split(":")[1] for entry in service["volumes"]}
    assert targets == set(re.findall(r"ORACLE_\w+_DIR=(/\w+)", IMAGE))


def test_compose_gives_the_drain_its_time(compose):
    service = compose["services"]["oracle"]
    assert seconds(service["stop_grace_period"]) > longest_stop_s(service["environment"]["ORACLE_DRAIN_S"])


# --- systemd


@pytest.fixture(name="unit")
def _unit() -> configparser.RawConfigParser:
    unit = configparser.RawConfigParser(strict=True, delimiters=("=",), comment_prefixes=("#",))
    unit.optionxform = str
    unit.read_string(text_of("oracle.service"))
    return unit


def test_the_unit_gives_the_drain_its_time_and_signals_one_process(unit):
    service = unit["Service"]
    environment = dict(entry.split("=", 1) for entry in shlex.split(service["Environment"]))
    assert float(service["TimeoutStopSec"]) > longest_stop_s(environment["ORACLE_DRAIN_S"])
    assert (service["KillSignal"], service["KillMode"]) == ("SIGTERM", "mixed")
    assert environment["ORACLE_DATA_DIR"] == f"/var/lib/{service['StateDirectory']}"
    assert serve_options(shlex.split(service["ExecStart"])) == {"--host": "127.0.0.1", "--port": PORT}


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="needs systemd")
def test_systemd_finds_no_mistake_in_the_unit(tmp_path):
    unit = tmp_path / "oracle.service"
    unit.write_text(text_of("oracle.service").replace("/opt/oracle/bin/oracle", "/bin/true"), encoding="utf-8")
    done = subprocess.run(["systemd-analyze", "verify", unit], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


# --- Kubernetes


@pytest.fixture(name="objects")
def _objects() -> dict[str, dict[str, Any]]:
    return {each["kind"]: each for each in yaml.safe_load_all(text_of("kubernetes.yaml"))}


def probes(container: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for name, value in container.items():
        if name.endswith("Probe"):
            yield name.removesuffix("Probe"), value["httpGet"]


def test_the_objects_belong_together(objects):
    assert set(objects) == {"Deployment", "PersistentVolumeClaim", "PodDisruptionBudget", "Service"}
    spec = objects["Deployment"]["spec"]
    labels = spec["template"]["metadata"]["labels"]
    selectors = (spec["selector"]["matchLabels"], objects["PodDisruptionBudget"]["spec"]["selector"]["matchLabels"])
    assert [*selectors, objects["Service"]["spec"]["selector"]] == [labels] * 3
    assert objects["PodDisruptionBudget"]["spec"]["maxUnavailable"] < spec["replicas"]
    pod = spec["template"]["spec"]
    claims = {each["persistentVolumeClaim"]["claimName"] for each in pod["volumes"] if "persistentVolumeClaim" in each}
    assert claims == {objects["PersistentVolumeClaim"]["metadata"]["name"]}
    (container,) = pod["containers"]
    assert {each["name"] for each in container["volumeMounts"]} == {each["name"] for each in pod["volumes"]}
    secrets = {each["valueFrom"]["secretKeyRef"]["key"] for each in container["env"] if "valueFrom" in each}
    assert secrets == set(re.findall(r"--from-literal=([\w-]+)=", text_of("kubernetes.yaml")))


def test_the_probes_ask_what_the_service_answers_on_its_port(objects):
    (container,) = objects["Deployment"]["spec"]["template"]["spec"]["containers"]
    assert dict(probes(container)) == {
        "startup": {"path": "/healthz", "port": "http"},
        "liveness": {"path": "/healthz", "port": "http"},
        "readiness": {"path": "/readyz", "port": "http"},
    }
    sources = (ROOT / "oracle" / "server" / "api").rglob("*.py")
    served = "\n".join(path.read_text(encoding="utf-8") for path in sources)
    assert [path for path in ("/healthz", "/readyz") if f'"{path}"' not in served] == []
    assert container["ports"] == [{"name": "http", "containerPort": int(PORT)}]
    options = serve_options(shlex.split(container["command"][2]))
    assert options == {"--host": "0.0.0.0", "--port": PORT}
    assert objects["Service"]["spec"]["ports"][0]["targetPort"] == "http"


def test_the_pod_gives_the_drain_its_time_and_runs_as_the_user_of_the_image(objects):
    pod = objects["Deployment"]["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    (drain,) = [each["value"] for each in container["env"] if each["name"] == "ORACLE_DRAIN_S"]
    pause = container["lifecycle"]["preStop"]["exec"]["command"]
    assert pause[0] == "sleep"
    assert pod["terminationGracePeriodSeconds"] > float(pause[1]) + longest_stop_s(drain)
    assert f"USER {pod['securityContext']['runAsUser']}" in IMAGE
    assert container["securityContext"]["readOnlyRootFilesystem"] is True


# --- the image


def test_the_image_starts_the_service_and_asks_for_its_health():
    command = json.loads(re.search(r"^CMD (\[.+\])$", IMAGE, re.MULTILINE)[1])
    assert command[0] == "oracle"
    assert serve_options(command) == {"--host": "0.0.0.0", "--port": PORT}
    health = json.loads(re.search(r"^HEALTHCHECK .*\\\n +CMD (\[.+\])$", IMAGE, re.MULTILINE)[1])
    assert f"http://127.0.0.1:{PORT}/healthz" in health[2]
