"""What a wheel installs, and what a host sees that has modules of the same names."""

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path
from types import SimpleNamespace
from urllib.request import ProxyHandler, build_opener

import pytest

import prompts
import signals
from tests.web.built import missing_for_the_console

ROOT = Path(__file__).parents[1]
ROOMS = ("prompts", "signals", "trees")
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


def finished(*words, cwd, **environment):
    return subprocess.run(
        [*map(str, words)],
        cwd=cwd,
        env=own_environment() | environment,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )


def build_wheel(project, into, **environment):
    run(
        sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", into, cwd=project, **environment
    )
    (wheel,) = into.glob("*.whl")
    return wheel


@pytest.fixture(scope="module")
def missing():
    """What is missing on this machine for the console; a sentence, or nothing."""
    return missing_for_the_console()


@pytest.fixture(scope="module")
def wheel(missing, tmp_path_factory):
    without = {"HATCH_BUILD_NO_HOOKS": "true"} if missing else {}
    return build_wheel(ROOT, tmp_path_factory.mktemp("wheel"), **without)


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    """A virtual environment with the wheel in it; what it depends on is borrowed from this one."""
    folder = tmp_path_factory.mktemp("installed") / "venv"
    run(sys.executable, "-m", "venv", "--without-pip", folder, cwd=ROOT)
    python = folder / "bin" / "python"
    pip = (sys.executable, "-m", "pip", "--python", python)
    run(*pip, "install", "--quiet", "--no-deps", "--no-index", wheel, cwd=ROOT)
    own = Path(run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))", cwd=ROOT).strip())
    # The path files of a folder that is itself named in a path file are not read: this checkout stays out of sight.
    (own / "dependencies.pth").write_text(sysconfig.get_path("purelib"))
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


def test_a_wheel_has_the_packages_of_a_checkout_under_their_own_names(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = {name.partition("/")[0] for name in archive.namelist()}
    assert {name for name in names if not name.endswith(".dist-info")} == {"bt_runtime", "oracle", *ROOMS}


def test_a_wheel_has_every_file_of_the_rooms(wheel):
    with zipfile.ZipFile(wheel) as archive:
        packed = set(archive.namelist())
    files = [path for name in ROOMS for path in (ROOT / name).rglob("*") if path.is_file() and path.suffix != ".pyc"]
    assert {path.relative_to(ROOT).as_posix() for path in files} <= packed


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
def served(installed, tmp_path):
    """The address of a service of the installed wheel."""
    process = subprocess.Popen(
        [installed.oracle, "serve", "--port", "0", "--data-dir", tmp_path / "data", "--project", tmp_path],
        cwd=tmp_path,
        env=own_environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        yield process.stdout.readline().split()[-1]
    finally:
        process.terminate()
        process.communicate(timeout=PATIENCE_S)


def test_the_wheel_serves_the_console(missing, request):
    if missing:
        pytest.skip(missing)
    served = request.getfixturevalue("served")
    page = read(served)
    assert '<div id="root">' in page
    assert "CSP_NONCE" not in page
    named = re.findall(r'(?:src|href)="(/[^"]+)"', page)
    assert len(named) >= 3
    for path in named:
        assert read(served, path)


def read(served, path="/"):
    with build_opener(ProxyHandler({})).open(served + path, timeout=PATIENCE_S) as response:
        return response.read().decode()


def test_a_wheel_is_not_built_without_the_console(unbuilt, tmp_path):
    command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", tmp_path]
    ran = subprocess.run(
        command, cwd=unbuilt, env={"PATH": "/nowhere"}, capture_output=True, text=True, timeout=PATIENCE_S, check=False
    )
    assert ran.returncode == 1
    assert "needs Node.js" in ran.stdout + ran.stderr
    assert "HATCH_BUILD_NO_HOOKS=true" in ran.stdout + ran.stderr
    assert not list(tmp_path.glob("*.whl"))


def test_a_wheel_without_the_console_is_built_on_request(unbuilt, tmp_path):
    wheel = build_wheel(unbuilt, tmp_path / "dist", PATH="/nowhere", HATCH_BUILD_NO_HOOKS="true")
    with zipfile.ZipFile(wheel) as archive:
        assert not [name for name in archive.namelist() if name.startswith("oracle/console/files")]


def test_an_editable_installation_needs_no_node(unbuilt, tmp_path):
    words = ("hatchling", "build", "--target", "wheel:editable", "--directory", tmp_path / "dist")
    run(sys.executable, "-m", *words, cwd=unbuilt, PATH="/nowhere")
    assert list((tmp_path / "dist").glob("*.whl"))
