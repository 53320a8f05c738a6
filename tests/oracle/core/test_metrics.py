from prometheus_client.parser import text_string_to_metric_families

from oracle.core.metrics import CONTENT_TYPE, OTHER, Metrics


def figures(metrics):
    """Every sample, by its name and the values of its labels in the order of their names."""
    families = text_string_to_metric_families(metrics.exposition().decode())
    samples = [each for family in families for each in family.samples]
    return {(each.name, *(each.labels[name] for name in sorted(each.labels))): each.value for each in samples}


def test_runs_are_counted_by_tree_and_by_how_they_ended():
    metrics = Metrics()
    for reason in ("completed", "completed", "timeout"):
        metrics.run_started("oracle")
        metrics.run_ended("oracle", reason, seconds=1.5)
    metrics.run_started("oracle")
    told = figures(metrics)
    assert told["oracle_runs_started_total", "oracle"] == 4
    assert told["oracle_runs_ended_total", "completed", "oracle"] == 2
    assert told["oracle_runs_ended_total", "timeout", "oracle"] == 1
    assert told["oracle_run_seconds_sum", "oracle"] == 4.5
    assert told["oracle_runs_active",] == 1


def test_a_run_of_a_dead_worker_is_no_run_that_was_begun_here():
    metrics = Metrics()
    metrics.run_recovered()
    told = figures(metrics)
    assert told["oracle_runs_recovered_total",] == 1
    assert told["oracle_runs_active",] == 0


def test_streams_are_those_that_are_open_now():
    metrics = Metrics()
    metrics.stream_opened()
    metrics.stream_opened()
    metrics.stream_closed()
    told = figures(metrics)
    assert told["oracle_streams_active",] == 1
    assert told["oracle_streams_opened_total",] == 2


def test_times_fall_into_the_buckets_that_alerts_ask_for():
    metrics = Metrics()
    metrics.first_chunk(0.03)
    metrics.turn_ended(3)
    metrics.tool_ended("search_code", 0.2, is_error=True)
    metrics.commit(events=40, queue_s=0.011, commit_s=0.002)
    metrics.loop_lag(0.02)
    told = figures(metrics)
    assert (told["oracle_first_chunk_seconds_bucket", "0.025"], told["oracle_first_chunk_seconds_bucket", "0.05"]) == (
        0,
        1,
    )
    assert (told["oracle_turn_seconds_bucket", "2.0"], told["oracle_turn_seconds_bucket", "4.0"]) == (0, 1)
    assert told["oracle_tool_seconds_count", "error", "search_code"] == 1
    assert told["oracle_store_events_total",] == 40
    assert told["oracle_store_commit_seconds_bucket", "0.0025"] == 1
    assert told["oracle_store_queue_seconds_sum",] == 0.011
    assert told["oracle_loop_lag_seconds_count",] == 1


def test_names_that_a_model_makes_up_are_one_name():
    metrics = Metrics(tools=["read_file"])
    for name in ("read_file", "rm -rf", 'x"\n'):
        metrics.tool_ended(name, 0.1, is_error=False)
    told = figures(metrics)
    assert told["oracle_tool_seconds_count", "ok", "read_file"] == 1
    assert told["oracle_tool_seconds_count", "ok", OTHER] == 2


def test_however_many_trees_there_are_their_names_are_bounded():
    metrics = Metrics()
    for number in range(1000):
        metrics.run_started(f"tree_{number}")
    started = [key for key in figures(metrics) if key[0] == "oracle_runs_started_total"]
    assert len(started) == 101
    assert figures(metrics)["oracle_runs_started_total", OTHER] == 900


def test_whether_the_store_can_be_written_is_asked_when_the_figures_are_read():
    metrics, is_writable = Metrics(), True
    metrics.watch_store(lambda: is_writable)
    assert figures(metrics)["oracle_store_writable",] == 1
    is_writable = False
    assert figures(metrics)["oracle_store_writable",] == 0


def test_two_services_in_one_process_share_no_figure():
    one, other = Metrics(), Metrics()
    one.stream_opened()
    assert figures(other)["oracle_streams_active",] == 0


def test_the_process_itself_is_among_the_figures():
    assert b"process_resident_memory_bytes" in Metrics().exposition()
    assert CONTENT_TYPE.startswith("text/plain")
