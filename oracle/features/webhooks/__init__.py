"""Signed messages to the operator's own services when a query ends or waits for a person."""

from oracle.core.features import Feature, Setting

FEATURE = Feature(
    name="webhooks",
    summary="Sends signed messages when a run ends or waits for a person.",
    settings=(
        Setting(
            "webhook_urls",
            "URLs that get a message when a run ends or waits for a person.",
            kind="names",
            default=(),
        ),
        Setting(
            "webhook_secret",
            "Signs webhooks: `whsec_` and base64 of at least 24 random bytes. Required with URLs.",
            kind="secret",
        ),
        Setting(
            "webhook_hosts",
            "Exact host names that webhooks may go to, by https and never to a private address.",
            kind="hosts",
            default=(),
        ),
        Setting(
            "webhook_private_hosts",
            "Host names that webhooks may also reach at a private address and by http.",
            kind="hosts",
            default=(),
        ),
    ),
    checks="oracle.features.webhooks.sending:mistakes",
    opens="oracle.features.webhooks.sending:open_webhooks",
    when="webhook_urls",
)
