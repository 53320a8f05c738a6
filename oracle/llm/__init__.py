"""Language models: the protocol, code that adapters share, and the offline model; adapters are features."""
