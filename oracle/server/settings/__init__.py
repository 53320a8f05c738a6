"""The operator's settings, from the environment and a `.env` file; all mistakes are reported at once.

Rules:

- A setting is a field of `Settings`; its variable is `ORACLE_` and the field's name in capitals.
- A secret is a `SecretStr` or in `Tokens`: no representation, message or log shows it. The provider's SDK reads its key
  itself, so nothing here can print that one.
- The tables of help and documentation come from the fields, so it cannot lie.
"""
