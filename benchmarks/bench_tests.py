"""The tests that `make test` runs: how long they take, and their processor time, which other work changes least.

Aim: 3 minutes on two quiet cores.
"""

import resource
import subprocess
import time
from pathlib import Path

from benchmarks.processes import python

AIM_MIN = 3
_ROOT = Path(__file__).resolve().parent.parent


def main() -> None:
    options = ["--numprocesses", "auto", "--dist", "worksteal", "--quiet", "--ignore", "tests/benchmarks"]
    began, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
    command = python("-m", "pytest", *options, "-m", "not soak and not long")
    done = subprocess.run(command, cwd=_ROOT, capture_output=True, text=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    print(done.stdout.strip().rpartition("\n")[2])
    print(f"  {(time.monotonic() - began) / 60:.1f} minutes   (aim: {AIM_MIN})   {used_s:.0f} s of processor time")


if __name__ == "__main__":
    main()
