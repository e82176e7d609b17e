"""Messages that genuine programs write about Pods (tests/fixtures/workloads/messages.yaml), each in a cluster that has
it.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from physical_ai import safe_yaml
from physical_ai.repository import ROOT
from tests.support import workload_objects as make
from tests.support.workload_objects import Scene, crashing, kai, node, on, pod, unschedulable, waiting
from tests.support.workload_scenes import H100, HOST, NODES

FILE = ROOT / "tests" / "fixtures" / "workloads" / "messages.yaml"
Row = Mapping[str, str]


@cache
def table() -> list[tuple[str, Row]]:
    """Kind of place in which a message appears, and its row, for every message."""
    groups: Mapping[str, Any] = safe_yaml.load(FILE.read_text())
    return [(group["of"], row) for group in groups.values() for row in group["messages"]]


def named(row: tuple[str, Row]) -> str:
    return f"{row[0]}: {row[1].get('reason', '')} {row[1]['message']}"[:90]


def scene(of: str, row: Row) -> Scene:
    """Cluster with the message about Pod train-0, or about Job train-0, whose Pod was refused."""
    return _SCENES[of](row)


def _scheduled(row: Row) -> dict[str, Any]:
    item = unschedulable(pod(**H100), row["message"])
    item["status"]["conditions"][0]["reason"] = row.get("reason", "Unschedulable")
    return item


def _of_node(item: dict[str, Any], **more: Any) -> Scene:
    return Scene((item,), (*NODES, node("rtxprogpu")), more)


def _failed(row: Row) -> Scene:
    target = {"type": "DisruptionTarget", "status": "True", "reason": row.get("target"), "message": row["message"]}
    told: dict[str, Any] = (
        {"conditions": [target]} if "target" in row else {"reason": row["reason"], "message": row["message"]}
    )
    return _of_node(on(HOST, pod(**H100), phase="Failed", **told))


def _event(row: Row) -> Scene:
    item = on(HOST, pod(**H100), status=waiting("ContainerCreating"))
    return _of_node(item, events=[{**make.event(item, row["reason"], row["message"]), "type": "Warning"}])


def _log(row: Row) -> Scene:
    lines = f'Traceback (most recent call last):\n  File "train.py", line 1\n{row["message"]}\n'
    item = on(HOST, pod(**H100), status=crashing(1))
    return _of_node(item, logs={(make.WHERE, "train-0", "train"): lines})


def _refusal(row: Row) -> Scene:
    job = {"metadata": {"name": "train-0", "namespace": make.WHERE}}
    return Scene(more={"events": [make.event(job, "FailedCreate", row["message"], "Job")]})


_SCENES = {
    "scheduler": lambda row: _of_node(_scheduled(row)),
    "kai": lambda row: _of_node(kai(_scheduled(row))),
    "failed": _failed,
    "waiting": lambda row: _of_node(on(HOST, pod(**H100), status=waiting(row["reason"], row["message"]))),
    "event": _event,
    "start-error": lambda row: _of_node(on(HOST, pod(**H100), status=crashing(128, "StartError", row["message"]))),
    "log": _log,
    "refusal": _refusal,
}
