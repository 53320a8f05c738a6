"""bt_runtime."""
