"""Events of NVSentinel's monitors about a node's faults (health-monitors/), and the node conditions that follow from
them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from physical_ai.catalog.telemetry_rows import xids
from simulator.faults.catalogue import Effects
from simulator.faults.record import NodeFaults
from simulator.nvsentinel.names import (
    DCGM_ERRORS,
    GPU_MONITOR,
    SYSLOG_MONITOR,
    XID_CHECK,
    Action,
    xid_action,
)

NO_FAILURES = "No Health Failures"
REPLAYS_PER_MINUTE = 8
"""Replays per minute above which DCGM's PCIe watch reports an error (DCGM_FR_PCI_REPLAY_RATE)."""
SUPPRESSED = frozenset({"DCGM_FR_CLOCKS_EVENT_THERMAL", "DCGM_FR_CLOCKS_EVENT_POWER"})
"""Error codes for throttling, which is normal under load. The monitor drops these errors by default (chart,
dcgmHealthCheck.suppressedErrorCodes).
"""
_OF_FIELDS = {
    "DCGM_FI_DEV_ECC_DBE_VOL_TOTAL": "DCGM_FR_VOLATILE_DBE_DETECTED",
    "DCGM_FI_DEV_ROW_REMAP_FAILURE": "DCGM_FR_ROW_REMAP_FAILURE",
    "DCGM_FI_DEV_ROW_REMAP_PENDING": "DCGM_FR_PENDING_ROW_REMAP",
}
_OF_RECOVERY = {1: "DCGM_FR_GPU_RECOVERY_RESET", 2: "DCGM_FR_GPU_RECOVERY_REBOOT"}


@dataclass(frozen=True)
class HealthEvent:
    """Report of one health check about one GPU: an error, or the check's recovery."""

    node: str
    agent: str
    check: str
    gpu: int
    code: str
    action: Action
    is_healthy: bool = False

    @property
    def is_fatal(self) -> bool:
        """True for a fatal event. An unhealthy event is fatal if NVSentinel recommends an action (determineFatality of
        the monitors).
        """
        return not self.is_healthy and self.action != "NONE"

    @property
    def document(self) -> dict[str, Any]:
        """The event in the form that rules evaluate."""
        return {
            "nodeName": self.node,
            "agent": self.agent,
            "componentClass": "GPU",
            "checkName": self.check,
            "errorCode": [] if self.is_healthy else [self.code],
            "entitiesImpacted": [{"entityType": "GPU", "entityValue": str(self.gpu)}],
            "recommendedAction": self.action,
            "isFatal": self.is_fatal,
            "isHealthy": self.is_healthy,
        }

    @property
    def message(self) -> str:
        """The event's text in the node's condition (platform-connectors, constructHealthEventMessage)."""
        return f"ErrorCode:{self.code} GPU:{self.gpu} Recommended Action={self.action}"

    @property
    def identity(self) -> str:
        """Check and GPU of the event. A healthy event ends all unhealthy events with the same check and GPU, even if
        their error codes differ.
        """
        return f"{self.agent}/{self.check}/{self.gpu}"

    def recovered(self) -> HealthEvent:
        return replace(self, is_healthy=True, action="NONE")


def failures(node: str, faults: NodeFaults, monitors: Collection[str], gpus: int) -> list[HealthEvent]:
    """The unhealthy events that a node's present faults cause. Only `monitors`, the monitors that run on the node, send
    events.
    """
    found: list[HealthEvent] = []
    for gpu in range(gpus):
        effects = [effect for effect, _ in faults.of_gpu(gpu)]
        if SYSLOG_MONITOR in monitors:
            found += (_of_xid(node, gpu, effect.xid) for effect in effects if effect.xid)
        if GPU_MONITOR in monitors:
            codes = dict.fromkeys(code for effect in effects for code in _dcgm_codes(effect))
            found += (_of_dcgm(node, gpu, code) for code in codes if code not in SUPPRESSED)
    return list(dict.fromkeys(found))


def changes(before: Iterable[HealthEvent], after: Iterable[HealthEvent]) -> Iterator[HealthEvent]:
    """Events that the monitors send in a round: one event for each failure in `after` that is not in `before`, then one
    recovery for each check and GPU that no longer fails.
    """
    old, new = list(before), list(after)
    yield from (event for event in new if event not in old)
    failing = {event.identity for event in new}
    ended = {event.identity: event for event in old if event.identity not in failing}
    yield from (event.recovered() for event in ended.values())


def conditions(checks: Collection[str], failing: Iterable[HealthEvent]) -> dict[str, tuple[str, str, str]]:
    """Status, reason and message of the node condition for each health check (platform-connectors,
    updateNodeConditions).

    Only fatal events make a condition True. Events that are not fatal are reported as Kubernetes Events of the node.
    """
    fatal = [event for event in failing if event.is_fatal]
    found: dict[str, tuple[str, str, str]] = {}
    for check in sorted({*checks, *(event.check for event in fatal)}):
        messages = [event.message for event in fatal if event.check == check]
        if messages:
            found[check] = ("True", f"{check}IsNotHealthy", f"{';'.join(messages)};")
        else:
            found[check] = ("False", f"{check}IsHealthy", NO_FAILURES)
    return found


def _of_xid(node: str, gpu: int, code: int) -> HealthEvent:
    known = xids().get(code)
    action = xid_action(known.action if known is not None else "")
    return HealthEvent(node, SYSLOG_MONITOR, XID_CHECK, gpu, str(code), action)


def _of_dcgm(node: str, gpu: int, code: str) -> HealthEvent:
    check, action = DCGM_ERRORS[code]
    return HealthEvent(node, GPU_MONITOR, check, gpu, code, action)


def _dcgm_codes(effect: Effects) -> Iterator[str]:
    """Error codes of DCGM's health watches for one fault's effects."""
    fields: Mapping[str, float] = effect.fields
    yield from (code for field, code in _OF_FIELDS.items() if fields.get(field))
    if effect.health:
        yield str(effect.health["code"])
    if (advice := int(fields.get("DCGM_FI_DEV_GET_GPU_RECOVERY_ACTION", 0))) in _OF_RECOVERY:
        yield _OF_RECOVERY[advice]
    if effect.rates.get("DCGM_FI_DEV_PCIE_REPLAY_COUNTER", 0) * 60 > REPLAYS_PER_MINUTE:
        yield "DCGM_FR_PCI_REPLAY_RATE"
    if effect.rates.get("DCGM_FI_DEV_THERMAL_VIOLATION"):
        yield "DCGM_FR_CLOCKS_EVENT_THERMAL"
    if effect.rates.get("DCGM_FI_DEV_POWER_VIOLATION"):
        yield "DCGM_FR_CLOCKS_EVENT_POWER"
    if effect.driver_lost:
        yield "DCGM_CONNECTIVITY_ERROR"
