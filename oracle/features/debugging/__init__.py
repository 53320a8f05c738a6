"""Live debugging for operators: pause and step runs, change their values, force results, set breakpoints.

`oracle.runs.debugging` holds the runs; here are the calls, and what turns it on.
"""

from oracle.core.features import Feature

FEATURE = Feature(
    name="debugging",
    summary="Lets operators pause and step runs, change their values and force results.",
    settings=("debug", "debug_lease_s"),
    calls=("oracle.features.debugging.calls:router",),
    opens="oracle.features.debugging.calls:open_debugger",
    when="debug",
)
