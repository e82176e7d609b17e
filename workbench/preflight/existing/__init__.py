"""Preconditions of an installation in an existing cluster: reading of the cluster, and findings about it."""

from __future__ import annotations

from workbench.preflight.existing.judging import Wanted, judge_cluster
from workbench.preflight.existing.reading import Found, Read, read_cluster

__all__ = ["Found", "Read", "Wanted", "judge_cluster", "read_cluster"]
