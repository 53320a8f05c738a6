"""What my organisation adds to Oracle; `pyproject.toml` names the parts."""
