"""The controllers of one simulated cluster that are not Kubernetes' own, in one process beside its control plane."""

import sys
from typing import Any, cast

# httpx tries to import its own command line, and does without where that fails: it takes as long as all the rest of it.
cast("dict[str, Any]", sys.modules).setdefault("httpx._main", None)
