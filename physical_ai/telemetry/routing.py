"""Alertmanager configuration that groups and inhibits alerts, so that one fault leads to one message.

Suppression of alerts that another alert explains is part of the rules themselves (data/rules/causes.yaml), because
Azure's managed Prometheus has no inhibition. Alertmanager only inhibits warnings about a node with a critical alert,
and alerts about a cluster that reports no nodes.
"""

from __future__ import annotations

from typing import Any

GROUP_BY = ("alertname", "cluster", "pool")
"""Labels by which alerts are grouped. Alerts with equal values of these labels become one message, whether one GPU or
all GPUs of a pool are affected.
"""


def inhibit_rules() -> list[dict[str, Any]]:
    """Value of `inhibit_rules` for Alertmanager.

    Alertmanager counts a label that both alerts lack as equal. The rule about nodes therefore applies only to alerts
    with the label `node`.
    """
    return [
        {
            "source_matchers": ['severity="critical"', 'node!=""'],
            "target_matchers": ['severity=~"warning|info"', 'node!=""'],
            "equal": ["cluster", "node"],
        },
        {
            "source_matchers": ['alertname="ClusterTelemetryAbsent"'],
            "target_matchers": ['alertname=~"OsmoAgentDown|KaiSchedulerDown|GPUTelemetryAbsent"'],
            "equal": ["cluster"],
        },
    ]
