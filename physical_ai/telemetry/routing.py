"""Alertmanager's groups of alerts and its inhibitions, so that one fault is one message. Data of its file.

The rules leave out what another alert explains (data/rules/causes.yaml), since Azure's managed Prometheus has nothing
that inhibits. What is left for Alertmanager is what only people who are called care about: a warning about a
node on which something critical is known already, and everything about a cluster of which no node is reported.
"""

from __future__ import annotations

from typing import Any

GROUP_BY = ("alertname", "cluster", "pool")
"""One message for each cause: a fault of a whole fleet is one, and so is a fault of one GPU."""


def inhibit_rules() -> list[dict[str, Any]]:
    """`inhibit_rules` of Alertmanager.

    A label that is missing on both sides is equal, so that each rule about nodes asks for the label.
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
