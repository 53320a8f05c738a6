"""Domains, the subjects of questions: the types of queries, their words, prompts, tools and trees.

`code` is the shipped one. `folder` reads others from a folder of YAML, Markdown and Python.
"""
