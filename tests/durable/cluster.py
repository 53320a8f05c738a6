"""A PostgreSQL cluster of the test's own, which may be restarted, filled, and failed over to a standby."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from tempfile import mkdtemp
from typing import Self

import pytest

from tests.support.stores import free_port

_BINARIES = "/usr/lib/postgresql"
_FAST = "fsync=off\nfull_page_writes=off\nmax_connections=60\nwal_keep_size=64MB\n"


class Cluster:
    """One server with its data.

    Args:
        folder: of its data; its own.
        binaries: the folder of the programs.
    """

    def __init__(self, folder: Path, binaries: Path) -> None:
        self._folder = folder
        self._binaries = binaries
        self.data = folder / "data"
        self.port = free_port()

    @property
    def url(self) -> str:
        """The address of its database."""
        return url_at(self.port)

    @classmethod
    @contextmanager
    def running(cls, *, disk_mb: int | None = None) -> Iterator[Self]:
        """A new cluster, started.

        Args:
            disk_mb: the size of a disk of its own.
        """
        with ExitStack() as stack:
            cluster = cls(_folder(stack, disk_mb=disk_mb), _found())
            cluster._run("initdb", "-A", "trust", "-U", "postgres", "-E", "UTF8", "-N")
            (cluster.data / "postgresql.auto.conf").write_text(_FAST)
            cluster.start()
            stack.callback(cluster.stop)
            yield cluster

    @contextmanager
    def standby(self) -> Iterator["Cluster"]:
        """A standby that has every commit before its client hears of it."""
        with ExitStack() as stack:
            standby = Cluster(_folder(stack), self._binaries)
            # As `-R` writes it, with the name that the primary waits for.
            backup = [
                "-D",
                str(standby.data),
                "-h",
                "127.0.0.1",
                "-p",
                str(self.port),
                "-U",
                "postgres",
                "-X",
                "stream",
            ]
            standby._command("pg_basebackup", *backup, "-c", "fast", "-R")
            standby.start()
            stack.callback(standby.stop)
            with (self.data / "postgresql.auto.conf").open("a") as settings:
                settings.write("synchronous_standby_names='*'\nsynchronous_commit=remote_apply\n")
            self._run("pg_ctl", "reload")
            yield standby

    def start(self) -> None:
        """Start it, and wait until it answers."""
        options = f"-p {self.port} -k {self._folder} -c listen_addresses=127.0.0.1"
        self._run("pg_ctl", "-w", "-l", str(self._folder / "log"), "-o", options, "start")

    def stop(self) -> None:
        """End it as a crash would."""
        with suppress(subprocess.CalledProcessError):
            self._run("pg_ctl", "-m", "immediate", "stop")

    def restart(self, *, mode: str) -> None:
        """End it (`fast`: connections are closed; `immediate`: as a crash) and start it again."""
        self._run("pg_ctl", "-w", "-m", mode, "stop")
        self.start()

    def promote(self) -> None:
        """Make a standby the server, which waits for nobody."""
        with (self.data / "postgresql.auto.conf").open("a") as settings:
            settings.write("synchronous_standby_names=''\n")
        self._run("pg_ctl", "-w", "promote")
        self._run("pg_ctl", "reload")

    def _run(self, program: str, *arguments: str) -> None:
        self._command(program, "-D", str(self.data), *arguments)

    def _command(self, program: str, *arguments: str) -> None:
        as_other = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []  # it refuses to run as root
        command = [*as_other, str(self._binaries / program), *arguments]
        subprocess.run(
            command,
            check=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            cwd="/",
            timeout=60,
        )


def url_at(port: int) -> str:
    """The address of a cluster's database by way of a port, such as a proxy's."""
    return f"postgresql://postgres@127.0.0.1:{port}/postgres"


def _folder(stack: ExitStack, *, disk_mb: int | None = None) -> Path:
    folder = Path(mkdtemp(prefix="oracle-cluster-"))
    stack.callback(shutil.rmtree, folder, ignore_errors=True)
    if disk_mb is not None:
        mount = ["mount", "-t", "tmpfs", "-o", f"size={disk_mb}m", "tmpfs", str(folder)]
        if subprocess.run(mount, capture_output=True, check=False).returncode:
            pytest.skip("a disk of its own cannot be mounted here")
        stack.callback(subprocess.run, ["umount", "--lazy", str(folder)], check=False)
    if os.geteuid() == 0:
        shutil.chown(folder, "postgres")
    return folder


def _found() -> Path:
    found = sorted(Path(_BINARIES).glob("*/bin"), key=lambda path: float(path.parent.name))
    if not found:
        pytest.skip(f"there is no PostgreSQL in {_BINARIES} to start a cluster with")
    return found[-1]
