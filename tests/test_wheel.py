"""What a wheel installs, and what a host sees that has modules of the same names."""

import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from importlib.metadata import PathDistribution, distribution
from pathlib import Path
from types import SimpleNamespace
from urllib.request import ProxyHandler, build_opener

import pytest
from packaging.requirements import Requirement

import prompts
import signals
from tests.web.built import missing_for_the_console

ROOT = Path(__file__).parents[1]
ROOMS = ("prompts", "signals", "trees")
BARE = {"PATH": "/nowhere"}
"""An environment without Node.js, a compiler, or anything else."""
PATIENCE_S = 120

pytestmark = pytest.mark.long("builds and installs the wheel")


def own_environment():
    """That of the tests, without what would lead back to this checkout."""
    return {
        name: value for name, value in os.environ.items() if not name.startswith(("ANTHROPIC_", "ORACLE_", "PYTHON"))
    }


def run(*words, cwd, **environment):
    ran = finished(*words, cwd=cwd, **environment)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout


def refused(*words, cwd, **environment):
    ran = finished(*words, cwd=cwd, **environment)
    assert ran.returncode != 0, ran.stdout
    return ran.stderr


def finished(*words, cwd, env=None, **environment):
    return subprocess.run(
        [*map(str, words)],
        cwd=cwd,
        env=(own_environment() if env is None else env) | environment,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )


def build(target, project, into, **environment):
    environment = {"SOURCE_DATE_EPOCH": "1700000000"} | environment
    run(sys.executable, "-m", "hatchling", "build", "--target", target, "--directory", into, cwd=project, **environment)
    (built,) = into.iterdir()
    return built


def build_wheel(project, into, **environment):
    return build("wheel", project, into, **environment)


def required(requirements, extras=frozenset({""})):
    """The distributions that these requirements ask for, and those that they ask for in turn."""
    found = {}
    for each in map(Requirement, requirements):
        if each.marker is None or any(each.marker.evaluate({"extra": extra}) for extra in extras):
            there = distribution(each.name)
            found |= {there.name: there} | required(there.requires or [], each.extras or {""})
    return found


@pytest.fixture(scope="module")
def missing():
    """What is missing on this machine for the console; a sentence, or nothing."""
    return missing_for_the_console()


@pytest.fixture(scope="module")
def wheel(missing, tmp_path_factory):
    without = {"HATCH_BUILD_NO_HOOKS": "true"} if missing else {}
    return build_wheel(ROOT, tmp_path_factory.mktemp("wheel"), **without)


@pytest.fixture(scope="module")
def packed(wheel):
    """The names of the wheel's files."""
    with zipfile.ZipFile(wheel) as archive:
        return set(archive.namelist())


@pytest.fixture(scope="module")
def metadata(wheel):
    (folder,) = (each for each in zipfile.Path(wheel).iterdir() if each.name.endswith(".dist-info"))
    return PathDistribution(folder)


@pytest.fixture(scope="module")
def installed(wheel, metadata, tmp_path_factory):
    """A virtual environment with the wheel and what it requires; the files of the latter are linked from this one."""
    folder = tmp_path_factory.mktemp("installed") / "venv"
    run(sys.executable, "-m", "venv", "--without-pip", folder, cwd=ROOT)
    python = folder / "bin" / "python"
    pip = (sys.executable, "-m", "pip", "--python", python)
    run(*pip, "install", "--quiet", "--no-deps", "--no-index", wheel, cwd=ROOT)
    own = Path(run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))", cwd=ROOT).strip())
    for each in required(metadata.requires).values():
        for file in each.files:
            if ".." not in file.parts:  # those are commands
                (own / file).parent.mkdir(parents=True, exist_ok=True)
                (own / file).symlink_to(each.locate_file(file))
    return SimpleNamespace(python=python, oracle=folder / "bin" / "oracle")


@pytest.fixture
def host(tmp_path):
    """A host's folder with a project to ask about, and plain folders of the same names as our packages."""
    for name in ROOMS:
        (tmp_path / name).mkdir()
        (tmp_path / name / "notes.txt").write_text("of the host")
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "login.py").write_text('"""How users log in."""\n\ndef check_password(user): ...\n')
    return tmp_path


@pytest.fixture
def unbuilt(tmp_path):
    """The project without a built console, on a machine without Node.js."""
    project = tmp_path / "project"
    left_out = shutil.ignore_patterns(".*", "__pycache__", "node_modules", "files", "tests")
    shutil.copytree(ROOT, project, ignore=left_out)
    return project


def test_a_wheel_has_the_packages_of_a_checkout_under_their_own_names_all_with_types(packed):
    names = {name.partition("/")[0] for name in packed}
    packages = {name for name in names if not name.endswith(".dist-info")}
    assert packages == {"bt_runtime", "oracle", "oracle_client", *ROOMS}
    assert {f"{package}/py.typed" for package in packages} <= packed


def test_a_wheel_has_no_tests(packed):
    assert [name for name in packed if re.search(r"(^|/)(tests?/|test_|conftest)", name)] == []


def test_a_wheel_has_every_file_of_the_rooms(packed):
    assert "oracle/features/demo/recorded.json.gz" in packed
    files = [path for name in ROOMS for path in (ROOT / name).rglob("*") if path.is_file() and path.suffix != ".pyc"]
    assert {path.relative_to(ROOT).as_posix() for path in files} <= packed


def test_a_wheel_says_what_it_is_and_what_each_extra_needs(metadata):
    of = metadata.metadata
    assert (of["Name"], of["License-Expression"], of.get_all("License-File")) == ("oracle-bt", "MIT", ["LICENSE"])
    assert "# Oracle BT" in of.get_payload()
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert (
        set(of.get_all("Provides-Extra"))
        == {"all", "encoder", "mcp", "oidc", "openai", "otel", "postgres"}
        == {*extras}
    )
    base = required(metadata.requires)
    for extra, names in {
        "encoder": {"numpy", "safetensors", "tokenizers"},
        "mcp": {"mcp", "mcp-types"},
        "oidc": {"cryptography"},
        "openai": {"openai"},
        "otel": {"opentelemetry-sdk", "opentelemetry-exporter-otlp-proto-http"},
        "postgres": {"psycopg", "psycopg-binary"},
    }.items():
        for given in (extra, "all"):
            assert names <= required(metadata.requires, {given}).keys() - base.keys(), given


def test_the_same_sources_give_the_same_wheel_and_an_sdist_needs_no_node(missing, wheel, tmp_path):
    without = {"HATCH_BUILD_NO_HOOKS": "true"} if missing else {}
    sdist = build("sdist", ROOT, tmp_path / "sdist", **without)
    with tarfile.open(sdist) as archive:
        archive.extractall(tmp_path, filter="data")
    project = tmp_path / sdist.name.removesuffix(".tar.gz")
    assert build_wheel(project, tmp_path / "dist", **BARE | without).read_bytes() == wheel.read_bytes()


def test_plain_folders_of_the_same_names_on_the_path_do_no_harm(host, installed):
    asked = run(
        installed.oracle, "ask", "Where is check_password?", "--project", "project", cwd=host, PYTHONPATH=str(host)
    )
    assert "- login.py" in asked
    checked = run(installed.oracle, "trees", "check", cwd=host, PYTHONPATH=str(host))
    assert "oracle.yaml: OK" in checked


def test_packages_of_a_host_that_are_not_on_the_path_of_the_command_do_no_harm(host, installed):
    for name in ROOMS:
        (host / name / "__init__.py").touch()
    assert "oracle.yaml: OK" in run(installed.oracle, "trees", "check", cwd=host)


@pytest.mark.parametrize("file", ["prompts.py", "signals/__init__.py", "trees/__init__.py", "bt_runtime.py"])
def test_a_hosts_module_that_hides_one_of_ours_is_named(file, host, installed):
    (host / file).touch()
    problem = refused(installed.python, "-c", "import oracle.classify", cwd=host, PYTHONPATH=str(host))
    name = file.partition("/")[0].removesuffix(".py")
    assert f"ImportError: Oracle needs its own package '{name}'" in problem
    assert f"but Python finds '{host / file}' under this name. If that is a module of yours, rename it" in problem


def test_one_name_is_one_module(installed, tmp_path):
    script = (
        "import prompts, signals, trees, oracle\n"
        "print(len(prompts.load_segments().segments), trees.FOLDER.name)\n"
        "print(signals.parse('Hi.').text)"
    )
    wanted = f"{len(prompts.load_segments().segments)} trees\n{signals.parse('Hi.').text}\n"
    assert run(installed.python, "-c", script, cwd=tmp_path) == wanted


@pytest.fixture
def demo(installed, tmp_path):
    """The address of the demo of the installed wheel."""
    process = subprocess.Popen(
        [installed.oracle, "demo", "--no-open"],
        cwd=tmp_path,
        env=BARE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        yield process.stdout.readline().split()[-1]
    finally:
        process.terminate()
        process.communicate(timeout=PATIENCE_S)


def test_the_demo_of_the_wheel_has_ten_runs(demo):
    assert len(json.loads(read(demo, "/api/runs?limit=50"))["runs"]) == 10


def test_the_wheel_serves_the_console(missing, request):
    if missing:
        pytest.skip(missing)
    demo = request.getfixturevalue("demo")
    page = read(demo)
    assert '<div id="root">' in page
    assert "CSP_NONCE" not in page
    named = re.findall(r'(?:src|href)="(/[^"]+)"', page)
    assert len(named) >= 3
    for path in named:
        assert read(demo, path)


def test_the_wheel_without_extras_answers_offline_and_names_the_extra_that_a_setting_needs(host, installed):
    ask = (installed.oracle, "ask", "Where is check_password?", "--project", "project")
    assert "- login.py" in run(*ask, cwd=host, env=BARE)
    address = "postgresql://ann@127.0.0.1/oracle"
    problem = refused(installed.oracle, "serve", "--port", "0", cwd=host, env=BARE, ORACLE_DATABASE_URL=address)
    assert "pip install 'oracle-bt[postgres]'" in problem


def test_the_client_is_imported_without_the_service(installed, tmp_path):
    code = "import sys, oracle_client; print(oracle_client.__name__, 'oracle' in sys.modules)"
    assert run(installed.python, "-c", code, cwd=tmp_path) == "oracle_client False\n"


def read(address, path="/"):
    with build_opener(ProxyHandler({})).open(address + path, timeout=PATIENCE_S) as response:
        return response.read().decode()


def test_a_wheel_is_not_built_without_the_console(unbuilt, tmp_path):
    command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", tmp_path]
    ran = subprocess.run(
        command, cwd=unbuilt, env=BARE, capture_output=True, text=True, timeout=PATIENCE_S, check=False
    )
    assert ran.returncode == 1
    assert "needs Node.js" in ran.stdout + ran.stderr
    assert "HATCH_BUILD_NO_HOOKS=true" in ran.stdout + ran.stderr
    assert not list(tmp_path.glob("*.whl"))


def test_a_wheel_without_the_console_is_built_on_request(unbuilt, tmp_path):
    wheel = build_wheel(unbuilt, tmp_path / "dist", **BARE, HATCH_BUILD_NO_HOOKS="true")
    with zipfile.ZipFile(wheel) as archive:
        assert not [name for name in archive.namelist() if name.startswith("oracle/console/files")]


def test_an_editable_installation_needs_no_node(unbuilt, tmp_path):
    words = ("hatchling", "build", "--target", "wheel:editable", "--directory", tmp_path / "dist")
    run(sys.executable, "-m", *words, cwd=unbuilt, **BARE)
    assert list((tmp_path / "dist").glob("*.whl"))
