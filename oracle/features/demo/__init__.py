"""`oracle demo`: the console on ten recorded runs, without a key and without a trace."""

from oracle.core.features import Feature

FEATURE = Feature(
    name="demo",
    summary="Shows the console with ten recorded runs; answers offline.",
    commands={"demo": ("oracle.features.demo.command:demo", "Show the console with ten recorded runs, offline.")},
)
