"""`python3 -m grid_agent`, and what `host/entry.sh` imports."""

import sys

from grid_agent.main import main

sys.exit(main(sys.argv[1:]))
