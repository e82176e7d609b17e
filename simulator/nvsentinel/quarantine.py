"""fault-quarantine: decides if an event takes a node out of service, and trips a circuit breaker after too many such
decisions (fault-quarantine/pkg).
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from physical_ai.kubernetes.cel import EvaluationError, evaluate
from physical_ai.kubernetes.objects import Json, annotations_of, at
from simulator.nvsentinel.events import HealthEvent
from simulator.nvsentinel.names import QUARANTINE_ANNOTATION

CORDONED_ANNOTATION = "quarantineHealthEventIsCordoned"
BY_HAND_ANNOTATION = "quarantinedNodeUncordonedManually"
STATE_LABEL = "dgxc.nvidia.com/nvsentinel-state"
SERVICE = "NVSentinel"
"""Value of the node label that names the program which has cordoned the node."""
_UNITS = {"s": 1, "m": 60, "h": 3600}

Kind = Literal["halt", "skip", "cordon", "track", "recover", "uncordon"]
"""Outcome of a decision. halt: the breaker has tripped, and no more events are handled. skip: the event has no effect.
cordon and uncordon: the node is taken out of service or back into service. track and recover: an event is added to or
removed from the events of a node that is already cordoned.
"""


@dataclass(frozen=True)
class BreakerConfig:
    """The section `circuitBreaker` of the chart's values."""

    enabled: bool = True
    percentage: float = 50
    max_nodes: int = 0
    """Fixed maximum number of cordoned nodes; 0 means no fixed maximum."""
    window_seconds: float = 300

    def threshold(self, nodes: int) -> int:
        """Number of cordons within the window at which the breaker trips (breaker.go, tripThreshold)."""
        bounds = [math.ceil(nodes * self.percentage / 100)] if self.percentage > 0 else []
        bounds += [self.max_nodes] if self.max_nodes > 0 else []
        return min([*bounds, nodes])


@dataclass(frozen=True)
class Config:
    """Configuration of fault-quarantine: its rule sets, circuit breaker and labels."""

    rule_sets: Sequence[Mapping[str, Any]]
    breaker: BreakerConfig = BreakerConfig()
    label_prefix: str = "k8saas.nvidia.com/"
    gpu_node_label: tuple[str, str] = ("nvidia.com/gpu.present", "true")

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> Config:
        """The configuration in the chart's values or in the module's configuration file."""
        own = data["circuitBreaker"]
        label, _, value = str(data.get("gpuNodeLabel", data.get("gpu-node-label"))).partition("=")
        return cls(
            rule_sets=data.get("ruleSets", data.get("rule-sets", ())),
            breaker=BreakerConfig(
                enabled=own["enabled"],
                percentage=float(own["percentage"]),
                max_nodes=int(own["maxNodes"]),
                window_seconds=seconds(str(own["duration"])),
            ),
            label_prefix=str(data.get("labelPrefix", data.get("label-prefix", cls.label_prefix))),
            gpu_node_label=(label, value),
        )


@dataclass(frozen=True)
class Decision:
    """Outcome of an event for its node, as fault-quarantine decides it."""

    kind: Kind
    tracked: tuple[str, ...] = ()
    """Identities of the events that keep the node cordoned after the decision."""


@dataclass
class Quarantine:
    """Memory and decisions of one process of fault-quarantine. A new process takes over only `tripped` from the
    previous process: True if the circuit breaker has tripped.
    """

    config: Config
    tripped: bool = False
    recent: dict[str, float] = field(default_factory=dict[str, float])
    """Nodes that this process has cordoned. Values: time of the cordon in seconds since the epoch."""

    def decide(self, event: HealthEvent, node: Json, gpu_nodes: int, now: float) -> Decision:
        """Decision about an event, before any write. The circuit breaker counts each decision to cordon, even if the
        API server then refuses the write.

        Args:
            node: The event's node as the API server has it.
            gpu_nodes: Number of nodes with the configured GPU label; the breaker's limit depends on this number.
        """
        if self._is_tripped(gpu_nodes, now):
            return Decision("halt")
        held = tracked(node)
        if event.is_healthy:
            return _recovered(event.identity, held)
        if (held is not None and event.identity in held) or not self.matches(event, node):
            return Decision("skip")
        if held is not None:
            return Decision("track", (*held, event.identity))
        self.recent[event.node] = now
        return Decision("cordon", (event.identity,))

    def matches(self, event: HealthEvent, node: Json) -> bool:
        """True if any rule set that cordons nodes matches the event.

        A rule whose expression cannot be evaluated counts as no match (rule_evaluator.go).
        """
        return any(
            each.get("enabled", True)
            and at(each, "cordon.shouldCordon", False)
            and _matches(each["match"], event, node)
            for each in self.config.rule_sets
        )

    def _is_tripped(self, gpu_nodes: int, now: float) -> bool:
        breaker = self.config.breaker
        if not breaker.enabled:
            return False
        since = now - breaker.window_seconds
        self.recent = {name: when for name, when in self.recent.items() if when > since}
        self.tripped = self.tripped or len(self.recent) >= breaker.threshold(gpu_nodes)
        return self.tripped


def _recovered(identity: str, held: tuple[str, ...] | None) -> Decision:
    if held is None or identity not in held:
        return Decision("skip")
    left = tuple(each for each in held if each != identity)
    return Decision("recover" if left else "uncordon", left)


def tracked(node: Mapping[str, Any]) -> tuple[str, ...] | None:
    """Identities of the events for which a node is quarantined; None if fault-quarantine has not quarantined it."""
    text = annotations_of(node).get(QUARANTINE_ANNOTATION)
    return tuple(json.loads(text)) if text else None


def annotation(identities: Sequence[str]) -> str:
    """Value of the quarantine annotation: a list of the events' identities. The real NVSentinel stores the complete
    events in the annotation.
    """
    return json.dumps(list(identities))


def seconds(text: str) -> float:
    """Seconds in a Go duration of whole units, such as `1h30m`.

    Raises:
        ValueError: the text is not such a duration.
    """
    parts = re.findall(r"(\d+)([smh])", text)
    if not parts or "".join(map("".join, parts)) != text:
        raise ValueError(f"{text!r} is not a duration like 5m or 1h30m")
    return float(sum(int(number) * _UNITS[unit] for number, unit in parts))


def _matches(match: Mapping[str, Any], event: HealthEvent, node: Json) -> bool:
    scope: dict[str, Json] = {"event": event.document, "node": node}
    groups = [(all, match.get("all")), (any, match.get("any"))]
    return all(quantifier(_holds(rule["expression"], scope) for rule in rules) for quantifier, rules in groups if rules)


def _holds(expression: str, scope: Mapping[str, Any]) -> bool:
    try:
        return evaluate(expression, scope) is True
    except EvaluationError:
        return False
