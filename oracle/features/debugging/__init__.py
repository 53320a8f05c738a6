"""Live debugging for operators: pause and step runs, change their values, force results, set breakpoints.

`oracle.runs.debugging` holds the runs; here are the calls, and what turns it on.
"""

from oracle.core.features import Feature, Setting

FEATURE = Feature(
    name="debugging",
    summary="Lets operators pause and step runs, change their values and force results.",
    settings=(
        Setting(
            "debug",
            "Live debugging (`1`): operators may pause runs, change their values and force results.",
            kind="flag",
            default=False,
        ),
        Setting(
            "debug_lease_s",
            "How many seconds a run that a debugger has paused waits for its next command before it goes on.",
            kind="number",
            default=120,
            least=1,
            most=86_400,
        ),
    ),
    calls=("oracle.features.debugging.calls:router",),
    opens="oracle.features.debugging.calls:open_debugger",
    when="debug",
)
