"""The contract with the model: six signals in XML, the streaming reader that extracts them, the audit record.

```python
parsed = signals.parse(response)  # whole responses
stream = signals.SignalStream()  # streams: feed(delta) -> what may be shown now; close() -> ParsedResponse
```

`parsed.text` is what the user sees, `parsed.signal` what the control acts on, `parsed.malformed` a reason to consult
the fallback, `parsed.warnings` for the audit (they quote the model). Depends on no model, no control and no other
package of this project.
"""

from .audit import Outcome, SignalAudit, SignalRecord, records_of
from .errors import SignalError
from .markup import as_plain_text
from .model import (
    SIGNAL_MODELS,
    ContextSufficient,
    DelegationRecommended,
    NeedCapability,
    NeedTurn,
    PartialAnswer,
    Signal,
    SignalType,
    Stuck,
)
from .reader import BlockReading, Clock
from .response import ParsedResponse
from .stream import SignalStream, parse

__all__ = [
    "SIGNAL_MODELS",
    "BlockReading",
    "Clock",
    "ContextSufficient",
    "DelegationRecommended",
    "NeedCapability",
    "NeedTurn",
    "Outcome",
    "ParsedResponse",
    "PartialAnswer",
    "Signal",
    "SignalAudit",
    "SignalError",
    "SignalRecord",
    "SignalStream",
    "SignalType",
    "Stuck",
    "as_plain_text",
    "parse",
    "records_of",
]
