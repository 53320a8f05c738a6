"""Traces of queries through OpenTelemetry, for operators who have switched them on; nothing else imports it."""
