"""An optional encoder: a small language model that classifies questions and responses by their meaning.

It adds to the rules of `oracle.classify`, which work alone if it is missing, broken or slow. Its answers are
inputs of a run: they are recorded with it, and a run that is repeated needs no encoder.
`EncoderThread` runs the real one in a separate thread; NumPy and the weights are loaded only there.
"""

from oracle.core.features import Feature, Setting

FEATURE = Feature(
    name="encoder",
    summary="Classifies questions and responses with an embedding model, in addition to the rules.",
    settings=(
        Setting(
            "encoder",
            "Embedding model for classification: `off`, `auto` (the folder `encoder` in the data folder, if present), "
            "or a folder. Needs `oracle-bt[encoder]`.",
            kind="folder",
            default="off",
            choices=("auto", "off"),
        ),
    ),
    prepares="oracle.features.encoder.thread:open_encoder",
    when="encoder",
)
