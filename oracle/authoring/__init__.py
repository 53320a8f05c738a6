"""Trees as operators change them while the service runs: watched, checked, saved, and taken back.

`watching` notices changed files, `editor` is what the calls of the service use, `saving` puts a file in place, and
`comparing` says what differs between two texts of a tree, `trials` what a text would change, and `counting` what the
nodes of a tree have answered in recorded runs. `checks` judges the control of the agent's trees. `results` keeps what
trials have last said.
"""
