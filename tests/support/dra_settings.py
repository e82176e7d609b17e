"""Settings of a pool whose GPUs are allocated by resource claims (DRA)."""

from __future__ import annotations

from tests.support.gpu_settings import H100

POOL = (f"{H100}.allocation=dra", f"{H100}.scale={{count: 1, min: null, max: null, initial: null}}")
ALONE = (*POOL, "pools.rtxprogpu=null")
"""Settings without another GPU pool, so that the operator installs no device plugin."""
CLAIMS = (
    "dra={claims: {large: {memoryGb: 80, architecture: Hopper}, turns: {gpu: h100, timeSlice: Long, shared: true}},"
    " namespaces: {robotics: {quota: {h100: 1, any: 2}}}}"
)
