"""An optional encoder: a small language model that reads questions and responses by what they mean.

It adds to the rules of `oracle.classify`, which work alone wherever it is missing, broken or slow. Its answers are
inputs of a run: they are recorded with it, and a run that is repeated needs no encoder.
`EncoderThread` has the real one, in a thread of its own; NumPy and the weights are loaded there and nowhere else.
"""

from oracle.core.features import Feature, Setting

FEATURE = Feature(
    name="encoder",
    summary="Reads questions and responses by what they mean, in addition to the rules.",
    settings=(
        Setting(
            "encoder",
            "The encoder that reads questions and responses in addition to the rules: `off`, `auto` (the model in "
            "`encoder` in the data folder, if there is one, and `oracle-bt[encoder]` is installed), or the folder of "
            "another model.",
            kind="folder",
            default="off",
            choices=("auto", "off"),
        ),
    ),
    prepares="oracle.features.encoder.thread:open_encoder",
    when="encoder",
)
