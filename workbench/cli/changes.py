"""Records of the events of one engine run. Progress, plan and summary are made from the records."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from pulumi.automation.events import EngineEvent, StepEventMetadata

from physical_ai.catalog.engine_values import UNKNOWNS
from physical_ai.nested import at_path

VERBS = {
    "create": ("creating", "created"),
    "update": ("updating", "updated"),
    "delete": ("deleting", "deleted"),
    "replace": ("replacing", "replaced"),
    "create-replacement": ("creating replacement", "created replacement"),
    "delete-replaced": ("deleting original", "deleted original"),
    "read": ("reading", "read"),
    "refresh": ("refreshing", "refreshed"),
    "import": ("importing", "imported"),
}
"""Verbs for each engine operation that changes or reads something, in present and past form. Other operations (`same`,
`discard`, …) change nothing.
"""

HIDDEN_TYPES = ("pulumi:pulumi:Stack", "pulumi:providers:")
SHOWN_SEVERITIES = ("error", "warning", "info", "info#err")
REPEATED = ("due to on-error hook request", "update failed", "preview failed", "an unhandled error occurred: ")
"""Texts by which a message is recognized as a repetition of another message. Repetitions are not shown: the program
itself reports each retry, and each failure has its own message.
"""


@dataclass
class Step:
    """Operation of the engine on one resource, with its outcome."""

    urn: str
    type: str
    op: str
    properties: tuple[str, ...] = ()
    """Paths of the changed properties."""
    keys: tuple[str, ...] = ()
    """Changed properties that require a replacement."""
    old: dict[str, Any] = field(default_factory=dict[str, Any])
    """Inputs of the resource before the operation."""
    new: dict[str, Any] = field(default_factory=dict[str, Any])
    """Inputs of the resource after the operation."""
    start: float = field(default_factory=time.monotonic)
    seconds: float | None = None
    failed: bool = False
    gone: bool = False
    """True if a refresh found that the resource does not exist."""

    @property
    def name(self) -> str:
        return self.urn.rsplit("::", 1)[-1]

    @property
    def kind(self) -> str:
        """The last part of the resource's type, such as `AgentPool`."""
        return self.type.rsplit(":", 1)[-1]

    @property
    def may_be_same(self) -> bool:
        """True for an update of a preview of which no new value is known: the engine makes it only if a value turns out
        to be another one. Such values come from resources that change in the same run.
        """
        news = [at_path(self.new, path) for path in self.properties]
        return self.op == "update" and bool(news) and all(isinstance(each, str) and each in UNKNOWNS for each in news)

    @property
    def is_component(self) -> bool:
        return self.type.startswith("physical-ai:")

    @property
    def is_shown(self) -> bool:
        return self.op in VERBS and not self.is_component and not self.type.startswith(HIDDEN_TYPES)


@dataclass(frozen=True)
class Message:
    severity: str
    urn: str
    text: str


@dataclass(frozen=True)
class PolicyViolation:
    """Violation that a policy pack reports about one resource."""

    policy: str
    level: str
    """`mandatory` if it stops a deployment, else `advisory`."""
    urn: str
    text: str


@dataclass
class Run:
    """Everything that one engine run has reported so far."""

    steps: dict[tuple[str, str], Step] = field(default_factory=dict[tuple[str, str], Step])
    messages: list[Message] = field(default_factory=list[Message])
    violations: list[PolicyViolation] = field(default_factory=list[PolicyViolation])

    def add(self, event: EngineEvent) -> Step | Message | None:
        """Adds an event of the engine. Returns the step that the event starts or ends, or the message that it contains;
        None if nothing is to be shown.
        """
        if event.resource_pre_event is not None:
            return self._started(event.resource_pre_event.metadata)
        if event.res_outputs_event is not None:
            return self._ended(event.res_outputs_event.metadata, failed=False)
        if event.res_op_failed_event is not None:
            return self._ended(event.res_op_failed_event.metadata, failed=True)
        if (policy := event.policy_event) is not None:
            text, urn = policy.message.strip(), policy.resource_urn or ""
            self.violations.append(PolicyViolation(policy.policy_name, policy.enforcement_level, urn, text))
        diagnostic = event.diagnostic_event
        if diagnostic is None or diagnostic.severity not in SHOWN_SEVERITIES or _is_repeated(diagnostic.message):
            return None
        if text := diagnostic.message.strip():
            message = Message(diagnostic.severity, diagnostic.urn or "", text)
            self.messages.append(message)
            return message
        return None

    def counts(self) -> Counter[str]:
        """Number of resources by engine operation, such as create and replace. A replacement counts once."""
        counts: Counter[str] = Counter()
        replaced = {step.urn for step in self.steps.values() if "replace" in step.op}
        for step in self.steps.values():
            if step.is_shown and not step.failed and step.urn not in replaced:
                counts[step.op] += 1
        counts["replace"] += len(
            [urn for urn in replaced if any(s.is_shown for s in self.steps.values() if s.urn == urn)]
        )
        return +counts

    def changed(self) -> list[Step]:
        """The steps that change something, in the order in which they started."""
        unchanging = ("read", "refresh")
        return [step for step in self.steps.values() if step.is_shown and step.op not in unchanging]

    def drifted(self) -> list[Step]:
        """The steps in which a refresh found that the resource differs from the state or no longer exists, sorted by
        resource.
        """
        found = [step for step in self.steps.values() if step.op == "refresh" and step.is_shown]
        return sorted((step for step in found if step.gone or step.properties), key=lambda step: step.urn)

    def _started(self, metadata: StepEventMetadata) -> Step | None:
        step = _step(metadata)
        self.steps[step.urn, step.op] = step
        return step if step.is_shown else None

    def _ended(self, metadata: StepEventMetadata, *, failed: bool) -> Step | None:
        new = _step(metadata)
        step = self.steps.get((new.urn, "refresh"))
        if step is None or step.seconds is not None:
            step = self.steps.setdefault((new.urn, new.op), new)
        else:
            # In a preview, a refresh reports its outcome under a name of its own. Otherwise, the outcome is the change
            # that it made to the state.
            step.gone = not failed and (new.op == "delete" or metadata.new is None)
            step.properties, step.new = new.properties, new.new
        step.seconds = time.monotonic() - step.start
        step.failed = failed
        return step if step.is_shown else None


def _replacing(metadata: StepEventMetadata) -> tuple[str, ...]:
    """Paths of the properties whose change replaces the resource: those that the provider reports or, if it reports
    none, those that the engine marks in the detailed difference because of the option `replace_on_changes`.
    """
    marked = (path for path, each in (metadata.detailed_diff or {}).items() if each.diff_kind.endswith("-replace"))
    return tuple(metadata.keys or sorted(marked))


def _is_repeated(message: str) -> bool:
    return any(text in message for text in REPEATED)


def _step(metadata: StepEventMetadata) -> Step:
    def inputs(state: Any) -> dict[str, Any]:
        return dict(state.inputs or {}) if state is not None else {}

    return Step(
        urn=metadata.urn,
        type=metadata.type,
        op=metadata.op.value,
        properties=tuple(sorted(metadata.detailed_diff or metadata.diffs or ())),
        keys=_replacing(metadata),
        old=inputs(metadata.old),
        new=inputs(metadata.new),
    )
