"""Run:ai's names, as far as this project has to avoid interfering with it."""

from __future__ import annotations

WORKER_LABEL = "node-role.kubernetes.io/runai-gpu-worker"
"""Label of the nodes that Run:ai schedules on, where it is restricted to some nodes (Run:ai docs, node roles)."""
