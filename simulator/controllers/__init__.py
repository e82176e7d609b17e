"""The controllers of one simulated cluster that are not part of Kubernetes, in one process beside its control plane."""

import sys
from typing import Any, cast

# httpx imports its own command line, which takes as long as its other modules together; it works without the import.
cast("dict[str, Any]", sys.modules).setdefault("httpx._main", None)
