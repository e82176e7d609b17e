"""The Services that the KAI operator creates for its operands and shards. Pure functions.

Read in kai-scheduler/KAI-Scheduler tag v0.17.0, pkg/operator/operands and pkg/apis/kai/v1.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from simulator.cluster.objects import Json, at


class _Port(NamedTuple):
    """One port of a Service, with its default values. `port_at`, `target_at` and `name_at`: paths in the Config at
    which a user can set another port, target port and name; an empty path means that the value is fixed.
    """

    name: str
    port: int
    target: int
    port_at: str
    target_at: str
    name_at: str = ""


def _mapped(at: str, name: str, port: int, target: int) -> _Port:
    return _Port(name, port, target, f"{at}.port", f"{at}.targetPort", f"{at}.name")


def _metrics(at: str) -> _Port:
    return _Port("http-metrics", 8080, 8080, at, at)


_OPERANDS: Mapping[str, tuple[_Port, ...]] = {
    "admission": (
        _Port("webhook", 443, 9443, "admission.webhook.port", "admission.webhook.targetPort"),
        _metrics("admission.webhook.metricsPort"),
    ),
    "binder": (_metrics("binder.metricsPort"),),
    "queue-controller": (
        _mapped("queueController.controllerService.webhook", "webhook", 443, 9443),
        _mapped("queueController.controllerService.metrics", "metrics", 8080, 8080),
    ),
    "podgroup-controller": (_mapped("podGroupController.controllerService.webhook", "webhook", 443, 9443),),
}
_SCHEDULER = _Port(
    "http-metrics", 8080, 8080, "scheduler.schedulerService.port", "scheduler.schedulerService.targetPort"
)
SCRAPED = {"prometheus.io/scrape": "true"}
"""Annotation by which Prometheus finds a scheduler's Service."""


def operand_service(config: Json, operand: str) -> Json | None:
    """The spec of the Service of an operand; None if the operand has no Service."""
    ports = _OPERANDS.get(operand)
    if ports is None:
        return None
    return {"selector": {"app": operand}, "ports": [_port(config, each) for each in ports], "type": "ClusterIP"}


def scheduler_service(config: Json, key: str) -> Json:
    """The spec of the Service for a shard's scheduler.

    If the scheduler has several replicas, the operator itself sets the Service's endpoint to the leader. In that case
    the Service has no selector.
    """
    several = int(at(config, "spec.scheduler.replicas", at(config, "spec.global.replicaCount", 1))) > 1
    kind = at(config, "spec.scheduler.schedulerService.type", "ClusterIP")
    spec: Json = {"clusterIP": "None", "ports": [_port(config, _SCHEDULER)], "type": kind}
    return spec if several else {**spec, "selector": {"app": key}}


def _port(config: Json, port: _Port) -> Json:
    return {
        "name": str(at(config, f"spec.{port.name_at}", port.name)) if port.name_at else port.name,
        "port": int(at(config, f"spec.{port.port_at}", port.port)),
        "protocol": "TCP",
        "targetPort": int(at(config, f"spec.{port.target_at}", port.target)),
    }
