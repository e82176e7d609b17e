"""The gate's words about a node on which the GRID driver's agent is at work."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from grid_agent.facts import CONDITION, GATE_LABELS, PAUSED
from physical_ai.readiness import diagnose
from tests.support.gpu_hardware import rtx_pro_6000
from tests.support.gpu_model import gpu_model
from tests.support.readiness_cluster import RTX, cluster

NODE = "rtx-01"


def test_the_agents_own_message_is_reported() -> None:
    made = gpu_model()
    made.join(NODE, rtx_pro_6000())
    made.label(NODE, **dict.fromkeys(GATE_LABELS, PAUSED))
    given = deepcopy(cluster(made, {NODE: RTX.pool}))
    node: Any = given.nodes[0]
    said = "building and installing driver 595.91.07, for 61 s now"
    node["status"]["conditions"].append({"type": CONDITION, "status": "False", "reason": "Installing", "message": said})
    [report] = diagnose([RTX], given)
    [closed] = report.closed
    assert (closed.gate, closed.message, closed.may_recover) == ("driver", said, True)
    assert "GRID driver agent" in closed.reason
