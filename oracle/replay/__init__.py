"""Recorded runs, played again without a model: on the tree that they ran, or on an edited one.

    run = await read_run(archive, await archive.find("a1b2"))
    comparison = compare(run, old, new, registry=registry)

`recorded` reads a run from the store, makes its query and nodes anew and repeats it, `playing` gives them the recorded
events, `courses` says how far the recording carries a tree and what its nodes saw, `comparing` finds where two trees
part.
"""
