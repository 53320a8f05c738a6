"""Signed messages to the operator's own services when a query ends or waits for a person."""

from oracle.core.features import Feature, Setting

FEATURE = Feature(
    name="webhooks",
    summary="Sends signed messages when a query ends or waits for a person.",
    settings=(
        Setting(
            "webhook_urls",
            "Addresses that get a message when a query ends or waits for a person, separated by commas.",
            kind="names",
            default=(),
        ),
        Setting(
            "webhook_secret",
            "Signs webhooks: `whsec_` and base64 of 24 random bytes or more; needed where there are addresses.",
            kind="secret",
        ),
        Setting(
            "webhook_hosts",
            "The hosts that webhooks may be sent to, by exact name, separated by commas; only over https, and never to "
            "a private address.",
            kind="hosts",
            default=(),
        ),
        Setting(
            "webhook_private_hosts",
            "Hosts, by exact name, that webhooks may be sent to at a private address too, and over http: those of your "
            "own network, or of a test.",
            kind="hosts",
            default=(),
        ),
    ),
    checks="oracle.features.webhooks.sending:mistakes",
    opens="oracle.features.webhooks.sending:open_webhooks",
    when="webhook_urls",
)
