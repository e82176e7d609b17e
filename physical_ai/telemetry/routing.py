"""Alertmanager's grouping and inhibition of alerts, so that one fault is one message.

The module has data of Alertmanager's configuration.

The rules themselves leave out what another alert explains (data/rules/causes.yaml), since Azure's managed Prometheus
has no inhibition. Alertmanager only inhibits what would disturb people on call: warnings about a node with a known
critical alert, and alerts about a cluster of which no node is reported.
"""

from __future__ import annotations

from typing import Any

GROUP_BY = ("alertname", "cluster", "pool")
"""Labels by which alerts are grouped: one message for each cause, whether it is a fault of the whole fleet or of one
GPU.
"""


def inhibit_rules() -> list[dict[str, Any]]:
    """Value of `inhibit_rules` for Alertmanager.

    A label that is missing on both sides counts as equal, so each rule about nodes requires the label.
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
