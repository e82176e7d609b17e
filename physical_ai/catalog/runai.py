"""Run:ai, as far as this project has to keep out of its way."""

from __future__ import annotations

WORKER_LABEL = "node-role.kubernetes.io/runai-gpu-worker"
"""Label of the nodes that Run:ai schedules on, where it is restricted to some (Run:ai docs, node roles)."""
