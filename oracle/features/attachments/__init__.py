"""Files attached to a question: pictures, PDF and text, which are stored beside the log and sent to the model.

A question of a run has a block in the place of each file (`oracle.llm.protocol`): its id, name, type and size. The log,
the conversation and the model's messages hold that; the bytes are in the table `attachment`, and are read when a
request is made. So they are deleted with the texts of their run, on their user's request or by age, and no record
contains them.
"""

from oracle.core.features import Feature
from oracle.features.attachments.kinds import LARGEST

FEATURE = Feature(
    name="attachments",
    summary="Lets users attach pictures, PDF and text files to questions.",
    calls=("oracle.features.attachments.calls:router",),
    bodies={"/api/attachments": LARGEST},
    tables=("oracle.features.attachments.keeping:KEEPING",),
    fields={"attachments": "oracle.features.attachments.asking:read"},
    prepares="oracle.features.attachments.showing:prepared",
    opens="oracle.features.attachments.asking:opened",
)
