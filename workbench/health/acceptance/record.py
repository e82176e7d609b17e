"""Records of acceptance, which commands about nodes and repairs read: one ConfigMap for each node, and a condition of
the node.

The ConfigMap `acceptance-<node>` in NAMESPACE has the whole result as JSON under the key DATA_KEY, and remains after
the node is gone. The condition shows whether the last run passed, and is deleted with the Node object.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal

from physical_ai.catalog.acceptance import ACCEPTED_CONDITION, AcceptanceLevel
from physical_ai.planning.acceptance import NAMESPACE

Verdict = Literal["passed", "failed", "no-verdict", "skipped"]
"""Verdict of a check. `no-verdict`: the check's output was not understood, or the check did not run; this never counts
as passed.
"""

LABEL = "physical-ai/acceptance"
"""Label of the ConfigMaps, Jobs and Pods of acceptance; its value is the node's name, or its first 63 characters."""
DATA_KEY = "result.json"


class Unreadable(ValueError):
    """Error for a ConfigMap that is not a record of acceptance."""


@dataclass(frozen=True)
class CheckResult:
    """Result of one check on one node. `measured`: figures by name; a name includes its unit, such as `h2d_gb_s`."""

    check: str
    verdict: Verdict
    message: str
    measured: Mapping[str, float] = field(default_factory=dict[str, float])


@dataclass(frozen=True)
class NodeResult:
    """Result of one acceptance run on one node.

    Attributes:
        node_uid: Uid of the Node object: a node of the same name may be another machine.
        boot_id: Boot id of the machine when it was checked.
        time: Time at which the run ended.
        baseline: Figures of the node's first passing run, by check, with which later runs are compared.
    """

    node: str
    node_uid: str
    boot_id: str
    pool: str
    sku: str
    level: AcceptanceLevel
    time: datetime
    checks: Sequence[CheckResult]
    baseline: Mapping[str, Mapping[str, float]] = field(default_factory=dict[str, Mapping[str, float]])

    @property
    def passed(self) -> bool:
        """True if at least one check passed and all others passed or were skipped."""
        verdicts = {each.verdict for each in self.checks}
        return "passed" in verdicts and verdicts <= {"passed", "skipped"}

    @property
    def problems(self) -> list[str]:
        """Reasons why the node did not pass, each as `check: message`; empty if it passed."""
        found = [f"{each.check}: {each.message}" for each in self.checks if each.verdict not in {"passed", "skipped"}]
        return found or ([] if self.passed else ["no check applies to the node"])


def config_map_name(node: str) -> str:
    """The name of the ConfigMap with a node's result."""
    return f"acceptance-{node}"


def config_map(result: NodeResult) -> dict[str, Any]:
    """The ConfigMap that stores a node's acceptance result."""
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {
            "name": config_map_name(result.node),
            "namespace": NAMESPACE,
            "labels": {LABEL: result.node[:63]},
        },
        "data": {DATA_KEY: json.dumps(document(result), indent=2, sort_keys=True)},
    }


def document(result: NodeResult) -> dict[str, Any]:
    """The result as JSON data. The key `passed` is added for readers that do not compute it from the checks."""
    return {
        **asdict(result),
        "time": result.time.astimezone(UTC).isoformat(timespec="seconds"),
        "passed": result.passed,
    }


def read(config_map_object: Mapping[str, Any]) -> NodeResult:
    """The result in a ConfigMap.

    Raises:
        Unreadable: the ConfigMap has no result, or one of an unknown form.
    """
    name = config_map_object.get("metadata", {}).get("name", "")
    try:
        found: Any = json.loads(config_map_object["data"][DATA_KEY])
        return NodeResult(
            node=found["node"],
            node_uid=found["node_uid"],
            boot_id=found["boot_id"],
            pool=found["pool"],
            sku=found["sku"],
            level=found["level"],
            time=datetime.fromisoformat(found["time"]),
            checks=[CheckResult(**each) for each in found["checks"]],
            baseline=found["baseline"],
        )
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as problem:
        raise Unreadable(f"ConfigMap {NAMESPACE}/{name} is not a record of acceptance: {problem}") from problem


def condition(result: NodeResult) -> dict[str, str]:
    """Node condition that shows the acceptance result `result`."""
    when = result.time.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return {
        "type": ACCEPTED_CONDITION,
        "status": "True" if result.passed else "False",
        "reason": "Passed" if result.passed else "Failed",
        "message": f"level {result.level}" if result.passed else "; ".join(result.problems)[:1024],
        "lastHeartbeatTime": when,
        "lastTransitionTime": when,
    }
