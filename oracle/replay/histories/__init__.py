"""Histories of runs: what happened in each, tick by tick, and why.

    history = await read_history(archive, await archive.find("a1b2"), registry=registry)
    for tick in history.ticks:
        print(tick.headline)

`model` is the data; `explaining` makes it from the events of a log, also while the run is under way, by repeating the
run on its own version of the tree; `nodes` finds the places of nodes and expressions; `codec` is its JSON, and keeps
that of a run that has ended, `foreign` judges that of others; `diffs` says where two runs part. A service explains runs
while they are read: `passes` goes through a log, `sharing` shares that among its readers, `encoding` makes the JSON of
each tick once.
"""
