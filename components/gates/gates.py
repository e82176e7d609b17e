"""What a deployment does with closed gates, as its environment says. `configured` has refused what it cannot mean."""

from __future__ import annotations

import os

import pulumi

from physical_ai.readiness.waiting import GatesMode, gates_mode


def mode() -> GatesMode:
    """Whether this deployment waits for gates, reports them once, or skips them."""
    return gates_mode(os.environ)


def reads_the_cluster() -> bool:
    """Whether gates read the cluster in this run: not in previews, and not where they are skipped."""
    return not pulumi.runtime.is_dry_run() and mode() != "skip"
