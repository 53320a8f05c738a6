"""Language models: the protocol, and the offline model.

`AnthropicModel` is not exported here, because `oracle.llm.anthropic` imports the SDK, which takes a second.
"""
