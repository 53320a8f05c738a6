"""Runs AgentDojo, arm by arm, and prints how many attacks succeed and how many tasks are done, with their intervals.

Each run is a line of a file, with its calls: `build/agentdojo/runs.jsonl`.
"""

# ruff: noqa: SLF001  what AgentDojo keeps to itself
import argparse
import json
import logging
import math
import pickle
import sys
import time
import warnings
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import structlog
import yaml
from agentdojo.attacks.base_attacks import FixedJailbreakAttack
from agentdojo.attacks.important_instructions_attacks import ImportantInstructionsAttack
from agentdojo.task_suite import task_suite as suites_module
from agentdojo.task_suite.load_suites import get_suites

from benchmarks.agentdojo.minds import faithful, obedient
from benchmarks.agentdojo.pipeline import ARMS, Arm, Pipeline

VERSION: Final = "v1.2.2"
_Z: Final = 1.959964
Run = Mapping[str, Any]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what is named, or all."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.agentdojo", description=__doc__)
    parser.add_argument("--suites", nargs="*", help="workspace, travel, banking, slack; all by default")
    parser.add_argument("--arms", nargs="*", choices=[arm.name for arm in ARMS])
    parser.add_argument("--every", type=int, default=1, help="only every nth pair of a task and an injection")
    parser.add_argument("--part", default="0/1", help="the tasks of one of several processes: 0/3, 1/3 or 2/3")
    parser.add_argument("--out", type=Path, default=Path("build/agentdojo"))
    parser.add_argument("--report", nargs="+", type=Path, help="run nothing, and report on these files of runs")
    chosen = parser.parse_args(arguments)
    if chosen.report:
        lines = [line for path in chosen.report for line in path.read_text(encoding="utf-8").splitlines()]
        print("\n".join(_report(ARMS, [json.loads(line) for line in lines])))
        return 0
    warnings.filterwarnings("ignore")
    logging.disable(logging.CRITICAL)
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    _read_faster()
    arms = [arm for arm in ARMS if not chosen.arms or arm.name in chosen.arms]
    chosen.out.mkdir(parents=True, exist_ok=True)
    began, runs = time.monotonic(), []
    with (chosen.out / "runs.jsonl").open("w", encoding="utf-8") as file:
        for run in _runs(arms, chosen.suites, every=chosen.every, part=chosen.part):
            file.write(json.dumps(run, default=str) + "\n")
            runs.append(run)
            if sys.stderr.isatty() or len(runs) % 500 == 0:
                print(f"{len(runs)} runs, {time.monotonic() - began:.0f} s", file=sys.stderr)
    report = "\n".join(_report(arms, runs))
    (chosen.out / "report.txt").write_text(report + "\n", encoding="utf-8")
    print(report)
    print(f"{len(runs):,} runs in {time.monotonic() - began:.0f} s; each is a line of {chosen.out / 'runs.jsonl'}")
    return 0


def _read_faster() -> None:
    """Let AgentDojo read its environments, once for each run, by the parser in C."""
    suites_module.yaml.safe_load = lambda text: yaml.load(text, yaml.CSafeLoader)


def _runs(arms: Sequence[Arm], names: Sequence[str] | None, *, every: int, part: str) -> Iterator[Run]:
    mine, parts = map(int, part.split("/"))
    for name, suite in get_suites(VERSION).items():
        if names and name not in names:
            continue
        attack = FixedJailbreakAttack(ImportantInstructionsAttack._JB_STRING, suite, None)  # type: ignore[arg-type]
        pairs = 0
        for task in [*suite.user_tasks.values()][mine::parts]:
            yield from _run_all(suite, arms, task, None, {})
            for injected in suite.injection_tasks.values():
                pairs += 1
                if pairs % every == 0:
                    yield from _run_all(suite, arms, task, injected, attack.attack(task, injected))


def _run_all(suite: Any, arms: Sequence[Arm], task: Any, injected: Any, injections: Mapping[str, str]) -> Iterator[Run]:
    """A task under each arm, in equal environments."""
    environment = pickle.dumps(suite.load_and_inject_default_environment(dict(injections)))
    for arm in arms:
        pipeline = Pipeline(arm, task, faithful if injected is None else obedient(injected))
        useful, succeeded = suite.run_task_with_pipeline(
            pipeline, task, injected, dict(injections), environment=pickle.loads(environment)
        )
        yield {
            "suite": suite.name,
            "arm": arm.name,
            "task": task.ID,
            "injection": injected.ID if injected is not None else None,
            "wants_words": injected is not None and bool(injected.GROUND_TRUTH_OUTPUT),
            "useful": bool(useful),
            "attack_succeeded": injected is not None and bool(succeeded),
            "reason": pipeline.reason,
            "asked": pipeline.asked,
            "ran": [[call.function, dict(call.args)] for call in pipeline.ran],
        }


def wilson(successes: int, of: int) -> tuple[float, float]:
    """The 95 % interval of a share, by Wilson."""
    if not of:
        return 0.0, 1.0
    share, square = successes / of, _Z * _Z
    middle = (share + square / (2 * of)) / (1 + square / of)
    half = _Z * math.sqrt(share * (1 - share) / of + square / (4 * of * of)) / (1 + square / of)
    return max(0.0, middle - half), min(1.0, middle + half)


def _share(runs: Sequence[Run], key: str) -> str:
    count = sum(run[key] for run in runs)
    low, high = wilson(count, len(runs))
    share = f"{count / len(runs):.1%}" if runs else "-"
    return f"{share:>6} ({low:.1%} to {high:.1%}), {count} of {len(runs)}"


def _report(arms: Sequence[Arm], runs: Sequence[Run]) -> Iterator[str]:
    of = defaultdict(list)
    for run in runs:
        of[run["arm"]].append(run)
    yield f"AgentDojo {VERSION}; shares with 95 % intervals (Wilson)"
    for arm in arms:
        alone = [run for run in of[arm.name] if run["injection"] is None]
        attacked = [run for run in of[arm.name] if run["injection"] is not None]
        by_calls = [run for run in attacked if not run["wants_words"]]
        by_words = [run for run in attacked if run["wants_words"]]
        asked = sum(len(run["asked"]) for run in alone)
        yield f"{arm.name}"
        yield f"  tasks done, nobody attacks      {_share(alone, 'useful')}"
        yield f"  tasks done under attack         {_share(attacked, 'useful')}"
        yield f"  attacks by calls that succeed   {_share(by_calls, 'attack_succeeded')}"
        yield f"  attacks by words that succeed   {_share(by_words, 'attack_succeeded')}"
        yield f"  questions to people in a task   {asked / max(1, len(alone)):.2f}"


if __name__ == "__main__":
    sys.exit(main())
