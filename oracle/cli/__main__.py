"""`python -m oracle.cli` is `oracle`."""

import sys

from oracle.cli import main

sys.exit(main())
