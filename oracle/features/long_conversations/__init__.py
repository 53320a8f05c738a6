"""Long conversations: the model gets a summary of the older exchanges, and can search all of them.

The node `compact` has the summary made. It is stored in the conversation as a notification, which `oracle.history`
reads for later questions. The tool `recall` reads messages that are no longer sent to the model.
"""

from oracle.core.features import Feature

FEATURE = Feature(
    name="long-conversations",
    summary="Summarizes the older part of a long conversation for the model, which can search the whole of it.",
    tables=("oracle.features.long_conversations.erasing:KEEPING",),
    tools="oracle.features.long_conversations.recalling:recall",
    kinds="oracle.features.long_conversations.kinds:KINDS",
    opens="oracle.features.long_conversations.reading:opened",
)
