"""A folder with the encoder's files, and whether they are what they must be; if not, heuristics answer alone.

Imports no package.
"""

from collections.abc import Mapping
from hashlib import file_digest
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from oracle.core.errors import OperatorError

MODEL: Final = "sentence-transformers/all-MiniLM-L6-v2"
"""The model whose heads are part of the product."""
REVISION: Final = "1110a243fdf4706b3f48f1d95db1a4f5529b4d41"
WEIGHTS_FILE: Final = "model.safetensors"
DIGESTS: Final[Mapping[str, str]] = {
    "config.json": "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41",
    "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
    WEIGHTS_FILE: "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
}
"""SHA-256 of its files, as its authors publish them."""
PACKAGES: Final = ("numpy", "safetensors", "tokenizers")
INSTALL: Final = "pip install 'oracle-bt[encoder]'"


class MissingEncoderError(OperatorError):
    """A package or a folder that it needs is not there."""


class CorruptEncoderError(OperatorError):
    """Its files are not what they must be."""


def check_folder(folder: Path) -> None:
    """Check that an encoder can be loaded from a folder.

    Raises:
        MissingEncoderError: a package, the folder, or a file of it is missing.
    """
    for name in PACKAGES:
        if find_spec(name) is None:
            raise MissingEncoderError(f"the package {name!r} is not installed; install the encoder with: {INSTALL}")
    for name in DIGESTS:
        if not (folder / name).is_file():
            raise MissingEncoderError(
                f"there is no file {str(folder / name)!r}; a folder of an encoder has {', '.join(DIGESTS)}, as {MODEL} "
                "has them"
            )


def foreign_file(folder: Path) -> str:
    """What tells a folder's model from `MODEL`: the first file with another SHA-256, and its own; empty if it is that.

    Raises:
        CorruptEncoderError: a file cannot be read.
    """
    for name, sha in DIGESTS.items():
        path = folder / name
        try:
            with path.open("rb") as file:
                found = file_digest(file, "sha256").hexdigest()
        except OSError as error:
            raise CorruptEncoderError(f"{str(path)!r} cannot be read: {error}") from None
        if found != sha:
            return f"{str(path)!r} has the SHA-256 {found}, not {sha}"
    return ""
