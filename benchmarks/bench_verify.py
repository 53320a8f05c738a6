"""Verifier: processor time to decide every property of the shipped tree, over that of a check of the same tree.

Both are commands as an author types them, in processes of their own. Aim: 10 s.
"""

import resource
import subprocess

from benchmarks.processes import python
from trees import FOLDER

AIM_S = 10.0


def cpu_s(*arguments: str) -> tuple[float, str]:
    """The processor time of a command, and what it printed."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(python("-m", "oracle", *arguments), capture_output=True, text=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, done.stdout


def main() -> None:
    check_s, _ = cpu_s("trees", "check", str(FOLDER / "oracle.yaml"))
    verify_s, said = cpu_s("trees", "verify", "oracle")
    print("processor time of a command on the shipped tree")
    print(f"  oracle trees check  {check_s:6.2f} s    1.0")
    print(f"  oracle trees verify {verify_s:6.2f} s {verify_s / check_s:6.1f}   (aim: at most {AIM_S:g} s)")
    print(f"  not decided: {said.count('not decided')}")


if __name__ == "__main__":
    main()
