"""Faults as data, their record on a Node, and what they do to the model of a node."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import pytest

from parts.nvsentinel.names import GPU_MONITOR
from physical_ai.catalog.telemetry_rows import dcgm_fields, xids
from physical_ai.telemetry.rule_rows import alert_rows
from simulator.faults import ANNOTATION, Fault, Injected, fault, faults, injected, node_faults
from simulator.faults.catalogue import UnknownFault
from simulator.faults.injection import Injector, NotPossible
from simulator.faults.record import annotation
from simulator.kubernetes.client import Client
from simulator.metrics import node_exporter
from simulator.metrics.dcgm_values import modelled
from simulator.nvsentinel.events import HealthEvent, failures
from workbench.cli.output.alerts import healed_text
from workbench.cli.simulated_telemetry import healed_document

ALL = pytest.mark.parametrize("row", faults().values(), ids=lambda row: row.name)


def node(*items: Injected) -> dict[str, object]:
    value = annotation(items)
    return {"metadata": {"name": "n", "annotations": {} if value is None else {ANNOTATION: value}}}


@ALL
def test_an_alert_follows_each_fault(row: Fault) -> None:
    assert row.alerts
    assert set(row.alerts) <= set(alert_rows())
    assert len(set(row.alerts)) == len(row.alerts)


@ALL
def test_a_fault_changes_fields_that_an_exporter_can_report(row: Fault) -> None:
    changed = {*row.effects.fields, *row.effects.rates}
    assert changed <= set(dcgm_fields()) & modelled()
    assert not row.effects.xid or row.effects.xid in xids()
    assert set(row.effects.port_rates) <= set(node_exporter.ERRORS)
    assert not row.effects.port_rates or row.needs == "infiniband"


def test_every_field_of_the_catalogue_has_a_simulated_value() -> None:
    assert set(dcgm_fields()) <= modelled()


def test_an_unknown_fault_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(UnknownFault, match="Did you mean xid-9"):
        fault("xid-97")


def test_the_record_survives_as_an_annotation() -> None:
    given = (Injected("xid-79", 1, 100.5), Injected("exporter-dead", 0, 200.0))
    assert injected(node(*given)) == given
    assert injected(node()) == ()


@pytest.mark.parametrize("text", ["{", '[{"fault": "xid-79"}]', '[{"fault": "unheard-of", "gpu": 0, "since": 1}]'])
def test_a_record_that_this_version_cannot_read_is_no_fault(text: str) -> None:
    assert injected({"metadata": {"annotations": {ANNOTATION: text}}}) == ()


def test_faults_of_a_node_happen_to_all_of_its_gpus_and_faults_of_a_gpu_to_that_one() -> None:
    found = node_faults(node(Injected("xid-79", 1, 1.0), Injected("licence-lost", 0, 2.0)))
    assert found.unhealthy == {1}
    assert [effects.xid for effects, _ in found.of_gpu(0)] == [0]
    assert [effects.xid for effects, _ in found.of_gpu(1)] == [79, 0]
    assert found.unlicensed


def reported(name: str) -> dict[str, HealthEvent]:
    """What NVSentinel's GPU monitor reports of a fault, by DCGM's code."""
    return {event.code: event for event in failures("n", node_faults(node(Injected(name, 0, 0.0))), [GPU_MONITOR], 1)}


@ALL
def test_nvsentinel_and_the_exporter_report_the_same_error_of_a_fault(row: Fault) -> None:
    if row.effects.health:
        assert row.effects.health["code"] in reported(row.name)


def test_an_xid_that_dcgm_has_no_error_of_its_own_for_is_none_that_nvsentinel_acts_on() -> None:
    assert reported("xid-79")["DCGM_FR_FALLEN_OFF_BUS"].is_fatal
    assert not reported("xid-119")["DCGM_FR_XID_ERROR"].is_fatal


class Empty:
    """A cluster without GPU nodes."""

    def get(self, path: str) -> dict[str, object]:
        del path
        return {"items": []}


@pytest.mark.parametrize("wanted", ["", "aks-h100gpu-1"])
def test_without_a_gpu_node_the_refusal_says_how_to_get_one(wanted: str) -> None:
    with pytest.raises(NotPossible, match=r"physai run.*scale\.min=1"):
        Injector(cast("Client", Empty())).inject("xid-79", wanted)


def test_a_fault_of_a_port_rises_on_the_first_port_alone() -> None:
    found = node_faults(node(Injected("infiniband-cable", 0, 100.0)))
    assert found.port_gains(130.4) == {"symbol_error_total": 30}
    assert found.port_gains(90.0) == {"symbol_error_total": 0}
    lines = node_exporter.page(2, 0, found.port_gains(130.4)).splitlines()
    values = [line.rpartition(" ")[2] for line in lines if line.startswith("node_infiniband_symbol_error_total{")]
    assert values == ["30", "0"]


@pytest.mark.parametrize(("size", "fits"), [("Standard_ND96isr_H100_v5", True), ("Standard_NC40ads_H100_v5", False)])
def test_a_fault_of_a_port_needs_a_node_with_adapters(size: str, *, fits: bool) -> None:
    cluster = OneNode(size=size)
    injector = Injector(cast("Client", cluster))
    if fits:
        assert injector.inject("infiniband-cable")[0] == "h"
        return
    with pytest.raises(NotPossible, match="nodes with adapters of InfiniBand; there is none"):
        injector.inject("infiniband-cable")


class OneNode:
    """A cluster of one GPU node and its exporter; what is deleted is recorded."""

    def __init__(self, *given: Injected, size: str = "Standard_NC40ads_H100_v5") -> None:
        self.item = {
            "metadata": {
                "name": "h",
                "labels": {"node.kubernetes.io/instance-type": size},
                "annotations": {ANNOTATION: annotation(given)},
            }
        }
        self.deleted: list[str] = []

    def get(self, path: str, params: Mapping[str, str] | None = None) -> dict[str, object]:
        if path == "/api/v1/nodes":
            return {"items": [self.item]}
        assert params == {"fieldSelector": "spec.nodeName=h", "labelSelector": "app=nvidia-dcgm-exporter"}
        return {"items": [{"metadata": {"name": "nvidia-dcgm-exporter-1", "namespace": "gpu-operator"}}]}

    def patch(self, path: str, body: dict[str, Any], kind: str) -> None: ...

    def request(self, method: str, path: str, *, params: Mapping[str, str] | None = None) -> None:
        del params
        self.deleted += [path] if method == "DELETE" else []


@pytest.mark.parametrize(
    ("healed", "restarts"),
    [
        ("xid-64", True),
        ("xid-95", True),
        ("gpu-lost", True),
        ("xid-31", False),
        ("power", False),
        ("plugin-stuck", False),
    ],
)
def test_a_healed_gpu_that_needed_a_reset_starts_the_exporter_again(healed: str, *, restarts: bool) -> None:
    """DCGM forgets no Xid before its process ends, and some of them fail its health check until then."""
    cluster = OneNode(Injected(healed, 0, 1.0))
    ((node, item, _),) = Injector(cast("Client", cluster)).heal()
    exporter = "/api/v1/namespaces/gpu-operator/pods/nvidia-dcgm-exporter-1"
    assert cluster.deleted == ([exporter] if restarts else [])
    document = healed_document(node, item)
    assert document["gpuReset"] is restarts
    assert ("exporter starts again" in healed_text([document])) is restarts
