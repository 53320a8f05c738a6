"""Live debugging for operators: pause and step runs, change their values, force results, set breakpoints.

`oracle.runs.debugging` pauses the runs; this package has the HTTP calls, the settings and `oracle debug`, and finds
out which nodes the next tick of a run begins.
"""

from oracle.core.features import Feature, Setting

FEATURE = Feature(
    name="debugging",
    summary="Lets operators pause and step runs, change their values and force results.",
    settings=(
        Setting(
            "debug",
            "`1`: operators may pause runs, change values and force results.",
            kind="flag",
            default=False,
        ),
        Setting(
            "debug_lease_s",
            "Seconds after which a paused run continues without a command.",
            kind="number",
            default=120,
            least=1,
            most=86_400,
        ),
    ),
    calls=("oracle.features.debugging.calls:router",),
    commands={"debug": ("oracle.features.debugging.command:debug", "Pause a run of a service and step through it.")},
    opens="oracle.features.debugging.calls:open_debugger",
    when="debug",
)
