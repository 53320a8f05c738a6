"""Signed messages to the operator's own services when a query ends or waits for a person."""

from oracle.core.features import Feature

FEATURE = Feature(
    name="webhooks",
    summary="Sends signed messages when a query ends or waits for a person.",
    settings=("webhook_urls", "webhook_secret", "webhook_hosts", "webhook_private_hosts"),
    opens="oracle.features.webhooks.sending:open_webhooks",
    when="webhook_urls",
)
