"""`python -m oracle` is `oracle`."""

import sys

from oracle.cli import main

if __name__ == "__main__":
    sys.exit(main())
