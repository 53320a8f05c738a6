"""`make bench`: all benchmarks, one after the other."""

from benchmarks import (
    bench_adapters,
    bench_cache,
    bench_check,
    bench_classify,
    bench_debugging,
    bench_dispatch,
    bench_editing,
    bench_encoder,
    bench_explain,
    bench_habits,
    bench_kills,
    bench_long,
    bench_mutants,
    bench_offers,
    bench_overload,
    bench_parked,
    bench_people,
    bench_recording,
    bench_replay,
    bench_rules,
    bench_service,
    bench_shadows,
    bench_signals,
    bench_start,
    bench_tests,
    bench_ticks,
    bench_traces,
    bench_turns,
    bench_verify,
    bench_watching,
    bench_workers,
)

_ALL = (
    bench_signals,
    bench_ticks,
    bench_rules,
    bench_mutants,
    bench_turns,
    bench_traces,
    bench_cache,
    bench_check,
    bench_verify,
    bench_editing,
    bench_encoder,
    bench_explain,
    bench_habits,
    bench_kills,
    bench_long,
    bench_debugging,
    bench_overload,
    bench_parked,
    bench_people,
    bench_dispatch,
    bench_recording,
    bench_replay,
    bench_start,
    bench_service,
    bench_adapters,
    bench_shadows,
    bench_workers,
    bench_watching,
    bench_offers,
    bench_classify,
    bench_tests,
)


def main() -> None:
    for benchmark in _ALL:
        print(f"== {benchmark.__name__.removeprefix('benchmarks.')}")
        benchmark.main()
        print()


if __name__ == "__main__":
    main()
