"""Names in Kubernetes that Run:ai uses. The rules of the settings use them so that Run:ai and KAI never schedule
on the same nodes.
"""

from __future__ import annotations

WORKER_LABEL = "node-role.kubernetes.io/runai-gpu-worker"
"""Label of the nodes on which Run:ai schedules, in a cluster where Run:ai is restricted to some nodes (Run:ai docs,
node roles).
"""
