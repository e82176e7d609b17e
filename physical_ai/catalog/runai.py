"""Names in Kubernetes that Run:ai uses. The rules of the settings use them so that Run:ai and KAI never schedule
on the same nodes.
"""

from __future__ import annotations

WORKER_LABEL = "node-role.kubernetes.io/runai-gpu-worker"
"""Label of the nodes that Run:ai schedules on, where it is restricted to some nodes (Run:ai docs, node roles)."""
