"""AgentDojo under the product's control: attacks that succeed, and tasks that are done, for each arm.

`make bench-agentdojo` installs AgentDojo into an environment of its own and runs this; see docs/trust.md.
"""
