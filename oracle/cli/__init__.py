"""The command line: `oracle ask`, `oracle serve`, `oracle trees`.

Exit codes, for every command: 0 success; 1 failure (an answer without text, a tree with mistakes, an invalid
setting); 2 invalid options or arguments; 3 not decided (`trees verify`); 130 and 143 interrupted (Ctrl-C, SIGTERM);
141 the reader of standard output closed it.
"""

from oracle.cli.entry import main

__all__ = ["main"]
