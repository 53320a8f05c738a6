import os
import socket

import pytest

from oracle.storage import schema
from oracle.wiring.service import worker_name


def test_a_workers_name_fits_whatever_the_machine_is_called(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket, "gethostname", lambda: "h" * 64)
    monkeypatch.setattr(os, "getpid", lambda: 4_194_304)  # the greatest on Linux
    assert len(worker_name()) <= schema.run.c.worker.type.length
