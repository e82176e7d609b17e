"""The mode of the gates in this deployment, from an environment variable. A gate is a step that waits until deployed
software works.

`components.config.configured` has already refused unknown values of the variable.
"""

from __future__ import annotations

import os

import pulumi

from physical_ai.readiness.waiting import GatesMode, gates_mode


def mode() -> GatesMode:
    """Mode of this deployment: it waits for gates, reports them once, or skips them."""
    return gates_mode(os.environ)


def reads_the_cluster() -> bool:
    """True where gates read the cluster in this run: not in previews, and not where gates are skipped."""
    return not pulumi.runtime.is_dry_run() and mode() != "skip"
