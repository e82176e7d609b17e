"""Preconditions on an existing cluster: the objects that are read, and the consequence of each finding."""

from __future__ import annotations

from workbench.preflight.existing.judging import Wanted, judge_cluster
from workbench.preflight.existing.reading import Found, Read, read_cluster

__all__ = ["Found", "Read", "Wanted", "judge_cluster", "read_cluster"]
