"""The commands in the README and `examples/` work as printed, against a real `oracle serve`."""

import asyncio
import os
import re
import shlex
import shutil
import signal
import sys
import tomllib
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest
import yaml

from oracle.cli.entry import cli
from oracle.testing import Disturbed, HttpError, ScriptedTurn, StandInProvider

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
SHELL = "".join(re.findall(r"```sh\n(.*?)```", README, re.DOTALL)).replace("\\\n", "")
PRINTED = "http://127.0.0.1:8000"
PATIENCE_S = 60


@asynccontextmanager
async def running(*words, **environment):
    """A process that is killed at the end."""
    process = await asyncio.create_subprocess_exec(
        *words,
        cwd=ROOT,
        env=os.environ | environment,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        # A test run in the background of a shell ignores Ctrl-C, and its children would inherit that.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    try:
        async with asyncio.timeout(PATIENCE_S):
            yield process
    finally:
        with suppress(ProcessLookupError):
            process.terminate()
        await process.communicate()


@asynccontextmanager
async def service(tmp_path, **environment):
    """A real service over this project; yields its address."""
    words = [sys.executable, "-m", "oracle", "serve", "--port", "0", "--data-dir", str(tmp_path / "data")]
    async with running(*words, **environment) as process:
        line = (await process.stdout.readline()).decode()
        assert line.startswith("Oracle is listening on http://"), await process.stderr.read()
        yield line.split()[-1]


async def output(*words, **environment):
    async with running(*words, **environment) as process:
        out, err = await process.communicate()
        assert process.returncode == 0, err.decode()
        return out.decode()


async def test_the_curl_line_and_the_client_of_the_readme_work_as_printed(tmp_path):
    if shutil.which("curl") is None:
        pytest.skip("there is no curl here")
    (curl,) = [line for line in SHELL.splitlines() if line.startswith("curl ")]
    (client,) = [line for line in SHELL.splitlines() if "examples/client.py" in line]
    assert PRINTED in curl
    async with service(tmp_path) as url:
        streamed = await output(*shlex.split(curl.replace(PRINTED, url)))
        printed = await output(sys.executable, *shlex.split(client)[1:], url)
    assert streamed.startswith("id: 1\ndata: {")
    assert '"type":"done","termination_reason":"completed"' in streamed
    assert printed.endswith("\n[completed]\n")
    assert len(printed) > 100


@pytest.mark.long
async def test_the_client_resumes_after_a_lost_connection(tmp_path):
    async with service(tmp_path, ORACLE_TOKENS="example-token-0123=anna") as url:
        async with Cutting(url, after_bytes=[1500, 300, 2500]) as proxy:
            words = [sys.executable, "examples/client.py", "How are mistakes in a tree file reported?"]
            cut = await output(*words, proxy.url, ORACLE_TOKEN="example-token-0123")
        whole = await output(*words, url, ORACLE_TOKEN="example-token-0123")
    assert proxy.cuts == 3
    assert cut == whole


class Cutting:
    """A proxy that cuts its first connections after a number of bytes of the response."""

    def __init__(self, url, *, after_bytes):
        self._port = int(url.rpartition(":")[2])
        self._after_bytes = list(after_bytes)
        self.cuts = 0

    async def __aenter__(self):
        self._server = await asyncio.start_server(self._connection, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"
        return self

    async def __aexit__(self, *_):
        self._server.close()
        await self._server.wait_closed()

    async def _connection(self, reader, writer):
        left = self._after_bytes.pop(0) if self._after_bytes else None
        from_service, to_service = await asyncio.open_connection("127.0.0.1", self._port)
        up = asyncio.create_task(pass_on(reader, to_service))
        while data := await from_service.read(65536 if left is None else left):
            writer.write(data)
            await writer.drain()
            if left is not None and (left := left - len(data)) <= 0:
                self.cuts += 1
                break
        up.cancel()
        for each in (writer, to_service):
            each.close()
            with suppress(OSError):
                await each.wait_closed()


async def pass_on(reader, writer):
    while data := await reader.read(65536):
        writer.write(data)
        await writer.drain()


async def test_the_client_repeats_a_post_whose_answer_was_lost_under_the_same_key():
    keys = []

    async def connection(reader, writer):
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        keys.append(re.search(r"idempotency-key: (\S+)", head, re.IGNORECASE)[1])
        if len(keys) > 1:
            writer.write(b"HTTP/1.1 200 OK\r\nLocation: /api/oracle/runs/r1\r\nConnection: close\r\n\r\n")
            writer.write(b'id: 1\ndata: {"type":"content","content":"Once."}\n\n')
            writer.write(b'id: 2\ndata: {"type":"done","termination_reason":"completed"}\n\n')
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(connection, "127.0.0.1", 0)
    async with server:
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        assert await output(sys.executable, "examples/client.py", "Hello", url) == "Once.\n[completed]\n"
    first, second = keys
    assert first == second


@pytest.mark.parametrize(
    ("words", "message"),
    [
        pytest.param(["Hello", "http://127.0.0.1:9"], "Connection refused", id="no listener"),
        pytest.param(["Hello", "localhost:9"], "unknown url type", id="no scheme"),
        pytest.param(["Hello", "nothing"], "unknown url type", id="no address"),
    ],
)
async def test_the_client_reports_in_one_line_that_there_is_no_service(words, message):
    async with running(sys.executable, "examples/client.py", *words) as process:
        _, err = await process.communicate()
    assert process.returncode == 1
    assert message in err.decode()
    assert err.count(b"\n") == 1


@pytest.mark.long
async def test_the_client_reports_in_one_line_what_the_service_refuses(tmp_path):
    async with service(tmp_path, ORACLE_TOKENS="example-token-0123=anna") as url:
        for question, token, message in (
            ("Hello", "wrong", "error: 401 Unauthorized: "),
            (" ", "example-token-0123", "error: 422 Unprocessable"),
        ):
            words = [sys.executable, "examples/client.py", question, url]
            async with running(*words, ORACLE_TOKEN=token) as process:
                out, err = await process.communicate()
            assert (process.returncode, out) == (1, b"")
            assert err.decode().startswith(message)
            assert err.count(b"\n") == 1


@pytest.mark.long
async def test_the_client_ends_with_1_if_the_query_failed(tmp_path):
    refused = HttpError("authentication_error", "invalid x-api-key", headers={"x-should-retry": "false"})
    async with (
        StandInProvider([refused]) as provider,
        service(tmp_path, ANTHROPIC_BASE_URL=provider.url, ANTHROPIC_API_KEY="test-key") as url,
        running(sys.executable, "examples/client.py", "Hello", url) as process,
    ):
        out, err = await process.communicate()
    assert process.returncode == 1
    assert out.endswith(b"\n[error]\n")
    assert err.startswith(b"\n[")


@pytest.mark.long
async def test_ctrl_c_at_the_client_cancels_the_query(tmp_path):
    hangs = Disturbed(ScriptedTurn(text="So far so good."), "hang")
    async with (
        StandInProvider([hangs]) as provider,
        service(tmp_path, ANTHROPIC_BASE_URL=provider.url, ANTHROPIC_API_KEY="test-key") as url,
        running(sys.executable, "examples/client.py", "Hello", url) as process,
    ):
        await process.stdout.readuntil(b"good.")
        process.send_signal(signal.SIGINT)
        await provider.wait_disconnected()
        _, err = await process.communicate()
    assert (process.returncode, err) == (130, b"")


def test_the_container_copies_existing_files_and_starts_an_existing_command():
    lines = (ROOT / "Containerfile").read_text(encoding="utf-8").splitlines()
    copied = [
        word for line in lines if line.startswith("COPY ") and "--from" not in line for word in line.split()[1:-1]
    ]
    kept = set((ROOT / ".containerignore").read_text(encoding="utf-8").replace("!", "").split())
    assert set(copied) <= kept
    assert all((ROOT / name).exists() for name in copied)
    packages = re.search(r"only-include = (\[.*?\])", (ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert set(yaml.safe_load(packages[1])) <= set(copied)
    assert "USER 10001" in lines
    command = yaml.safe_load(lines[-1].removeprefix("CMD "))
    assert command[:2] == ["oracle", "serve"]
    serve = cli.get_command(None, "serve")
    assert {word for word in command if word.startswith("--")} <= {word for each in serve.params for word in each.opts}


def test_build_and_installation_tools_are_pinned():
    pinned = re.compile(r"uv==[\d.]+( \\\n    --hash=sha256:[0-9a-f]{64})+\n")
    assert pinned.fullmatch((ROOT / ".ci" / "uv.lock").read_text(encoding="utf-8"))
    for name in ("Makefile", "Containerfile"):
        text = (ROOT / name).read_text(encoding="utf-8")
        assert "pip install" in text
        installs = [line for line in text.splitlines() if re.search(r"(?<!uv )pip install", line)]
        assert all("--require-hashes --requirement .ci/uv.lock" in line for line in installs)
    build = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["build-system"]
    assert all(re.fullmatch(r"[\w-]+==[\d.]+", requirement) for requirement in build["requires"])
    bases = [line for line in (ROOT / "Containerfile").read_text(encoding="utf-8").splitlines() if line[:5] == "FROM "]
    assert all("${PYTHON_IMAGE}" in base for base in bases)
