"""The mode of the gates in this deployment, from an environment variable. A gate is a step that waits until deployed
software works.

`components.config.configured` has already refused unknown values of the variable.
"""

from __future__ import annotations

import os

import pulumi

from physical_ai.readiness.waiting import GatesMode, gates_mode


def mode() -> GatesMode:
    """Mode of the gates in this deployment: wait until they open, report their state once, or skip them."""
    return gates_mode(os.environ)


def reads_the_cluster() -> bool:
    """True if gates read the cluster in this run; False in a preview, and in the mode `skip`."""
    return not pulumi.runtime.is_dry_run() and mode() != "skip"
