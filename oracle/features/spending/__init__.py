"""Limits of what users spend in a day or in a query, and trees that react to them."""

from oracle.core.features import Feature, Setting

FEATURE = Feature(
    name="spending",
    summary="Limits the tokens or money that users spend per day or per question.",
    settings=(
        Setting(
            "limits",
            "A file of spending limits by plan and user. Environment only.",
            kind="folder",
            decides="what users may spend",
        ),
    ),
    calls=("oracle.features.spending.calls:router",),
    tables=("oracle.features.spending.table:KEEPING",),
    kinds="oracle.features.spending.keys:KINDS",
    opens="oracle.features.spending.meter:open_spending",
)
