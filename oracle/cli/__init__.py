"""The command line: `oracle ask`, `oracle serve`, `oracle trees`.

Exit codes, for every command: 0 it worked; 1 it did not (an answer without text, a tree with mistakes); 2 it was called
wrongly or is set up wrongly; 130 and 143 it was interrupted (Ctrl-C, SIGTERM); 141 its reader went away.
"""

from oracle.cli.entry import main

__all__ = ["main"]
