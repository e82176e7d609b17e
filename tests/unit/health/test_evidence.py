"""What is known of a machine, put together: its verdict, its report to Azure, and how it reads."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import typer

from physical_ai.catalog.impact import category, impact
from physical_ai.catalog.own_names import REPAIR_LABEL
from physical_ai.catalog.telemetry_rows import xids
from physical_ai.readiness.nodes.signs import Alert, Seen
from physical_ai.readiness.nodes.xid_text import codes_in
from physical_ai.readiness.reader import Missing, Unreachable
from tests.support.cases import in_one_test
from workbench.cli.node_evidence import no_fault
from workbench.health.acceptance import record as accepted
from workbench.health.acceptance.record import CheckResult, NodeResult
from workbench.health.arm import Answer, Refused
from workbench.health.evidence import markdown, record
from workbench.health.evidence.events import own_events
from workbench.health.evidence.node_evidence import NodeEvidence
from workbench.health.evidence.read import UnknownNode, read_node_evidence
from workbench.health.evidence.report import NotReportable, body, name_of, send
from workbench.health.replacement.record import Record, RepairStep

NODE = "aks-h100gpu-1-vmss000001"
VM = "0af4c2de-1111-4222-8333-444455556666"
PROVIDER = (
    "azure:///subscriptions/s/resourceGroups/mc/providers/Microsoft.Compute"
    "/virtualMachineScaleSets/aks-h100gpu-1-vmss/virtualMachines/1"
)
GPU = {"uuid": "GPU-1", "model": "NVIDIA H100 NVL", "pci": "0001:00:00.0", "lastSeen": "t"}
FACTS: dict[str, Any] = {
    "node": NODE,
    "size": "Standard_NC40ads_H100_v5",
    "vmUniqueId": VM,
    "providerId": PROVIDER,
    "driver": "580.95.05",
    "host": {"physicalHostName": "GGBB90904476"},
    "pci": [{"address": "0001:00:00.0", "class": "0x030200"}],
    "gpus": [GPU],
}


def config_map(node: str = NODE, vm: str = VM, seen: str = "2026-11-01T00:00:00Z", **facts: Any) -> dict[str, Any]:
    data = {record.MACHINE: {**FACTS, "node": node, "vmUniqueId": vm, **facts}}
    data[record.GPUS] = {"gpus": [{"uuid": "GPU-1", "serial": "1654922000001", "index": "0"}]}
    return {
        "metadata": {
            "name": f"evidence-{node}-{vm[:8]}",
            "labels": {record.LABEL: node},
            "annotations": {record.SEEN: seen},
        },
        "data": {key: json.dumps(value) for key, value in data.items()},
    }


def evidence(**changes: Any) -> NodeEvidence:
    made = NodeEvidence(
        name=NODE,
        machine=record.read(config_map()),
        node={"metadata": {"name": NODE}, "spec": {"providerID": PROVIDER}},
        acceptance=None,
        alerts=(),
        seen=(),
        conditions=(),
        events=(),
        work=[("osmo-workflows", "secret-project-task-0", "secret-project-1")],
        repairs=(),
        now="2026-11-02T00:00:00Z",
    )
    return replace(made, **changes)


def result(verdict: Any, check: str = "bandwidth") -> NodeResult:
    checks = [CheckResult(check, verdict, "20 GB/s of 48")]
    return NodeResult(NODE, "u", "b", "h100gpu", "Standard_NC40ads_H100_v5", "quick", datetime.now(UTC), checks)


def restarted() -> Record:
    now = datetime(2026, 11, 1, tzinfo=UTC)
    made = Record(NODE, "u", "b", "h100gpu", PROVIDER, "reboot", now, now)
    return made.at(RepairStep.DONE, outcome="was accepted")


NEXT_YEAR = "2027-03-01T00:00:00Z"
NEWER = {"metadata": {"name": NODE, "uid": "of-another-machine"}, "spec": {"providerID": PROVIDER}}


@in_one_test(
    ("text", "codes"),
    [
        ("NVRM: Xid (PCI:0001:00:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.", [79]),
        (
            "NVRM: Xid (PCI:0000:00:06): 31, pid=597, name=x, channel 0x0000000a, intr 00000000. MMU Fault: ENGINE "
            "GRAPHICS GPC1 GPCCLIENT_T1_8 faulted @ 0x0_00000000. Fault is of type FAULT_PDE ACCESS_TYPE_VIRT_WRITE",
            [31],
        ),
        ("ErrorCode:119 PCI:0001:00:00 GPU_UUID:GPU-1 Recommended Action=COMPONENT_RESET;", [119]),
        ("XID 48 then Xid 63", [48, 63]),
        # Without `PCI:`, with what older and newer drivers have behind the code, and under MIG.
        ("NVRM: Xid (0000:03:00): 14, Channel 00000001", [14]),
        ("NVRM: Xid (0000:01:00): 13, 0003 02000000 00008597 00000000 00000000 00000000", [13]),
        ("NVRM: Xid (PCI:0000:00:05): 43, Ch 00000010, engmask 00000101", [43]),
        ("NVRM: Xid (PCI:0000:c7:00 GPU-I:05): 94, pid=7194, name=x, Ch 0000000a", [94]),
        ("[   84.01] NVRM: Xid (PCI:0000:00:06): 31, pid=1156, name=79, channel 0x0000000a", [31]),
        ("NVRM: Xid (PCI:0000:01:00): 79, x\nNVRM: Xid (PCI:0000:02:00): 48, y", [79, 48]),
        # Several in a line, and in words.
        ("Xid 13,43,45", [13, 43, 45]),
        ("XID errors 31, 79", [31, 79]),
        ("XIDs 48 and 63 were seen on 2 GPUs", [48, 63]),
        ("Xid 48/94, and 95 on GPU 3", [48, 94, 95]),
        ("Xid error on GPU 3: 79", [79]),
        ("GPU 0: Xid 79", [79]),
        ("XidErrorDetected: Xid=74", [74]),
        ("Xid: 119 (GSP RPC timeout)", [119]),
        ("Detected XID 43 5 times in 10 minutes", [43]),
        ("DCGM_FI_DEV_XID_ERRORS: 79", [79]),
        ('{"xid": 79, "count": 3}', [79]),
        # No Xid of a GPU, or none that needs anything.
        ("nvidia-nvswitch3: SXid (PCI:0000:c1:00.0): 12028, Non-fatal, Link 46 egress timeout", []),
        ("no Xid since 12:30, version 1.2.3", []),
        ("NVRM: Xid (PCI:0000:04:00): 145, RLW_REMAP Nonfatal XC0 i0 Link 00 (0x4 0x1 0x0 0x0)", []),
        ("NVRM: Xid (PCI:0000:04:00): 145, RLW_REMAP Fatal XC0 i0 Link 00 (0x4 0x40 0x0 0x0)", [145]),
        ("Successfully assigned a Pod on port 79", []),
    ],
)
def test_xids_are_found_in_messages_of_the_kernel_and_of_nvsentinel(text: str, codes: list[int]) -> None:
    assert codes_in(text) == codes


def test_xids_of_a_real_h100_are_found() -> None:
    log = Path("tests/fixtures/acceptance/h100/kernel-log.txt").read_text()
    assert codes_in(log) == [31, 43, 13]
    assert [codes_in(line) for line in log.splitlines()].count([13]) == 3


@in_one_test(
    ("changes", "advice", "name"),
    [
        ({}, "none", "HpcGenericFailure"),
        ({"seen": [Seen(31, "event")]}, "none", "HpcGenericFailure"),
        ({"seen": [Seen(79, "event")]}, "reboot", "XID79FallenOffBus"),
        ({"seen": [Seen(79, "event")], "repairs": [restarted()]}, "replace", "XID79FallenOffBus"),
        ({"seen": [Seen(79, "event")], "repairs": [restarted()], "node": NEWER}, "reboot", "XID79FallenOffBus"),
        ({"seen": [Seen(79, "event")], "repairs": [restarted()], "now": NEXT_YEAR}, "reboot", "XID79FallenOffBus"),
        ({"seen": [Seen(64, "metric")]}, "replace", "HpcRowRemapFailure"),
        ({"seen": [Seen(119, "metric"), Seen(31, "metric")]}, "reboot", "GpuXIDError"),
        ({"seen": [Seen(78, "event")]}, "none", "GpuXIDError"),
        ({"acceptance": result("failed")}, "replace", "GPUMemoryBWFailure"),
        ({"acceptance": result("passed")}, "none", "HpcGenericFailure"),
        ({"machine": record.read(config_map(pci=[]))}, "reboot", "HpcMissingGpu"),
        ({"alerts": [Alert("GPURowRemapFailed", {})]}, "replace", "HpcRowRemapFailure"),
    ],
)
def test_the_advice_and_the_category_follow_from_what_is_known(changes: dict[str, Any], advice: str, name: str) -> None:
    found = evidence(**changes)
    assert (found.advice, found.category.name.rpartition(".")[2]) == (advice, name)
    assert found.has_fault == (advice != "none" or name == "GpuXIDError")


def test_every_category_can_be_reached_and_every_xid_of_a_machine_has_one() -> None:
    names = [each.name for each in impact().categories]
    assert len(set(names)) == len(names)
    reached = {category({code}, (), (), missing=False).name for code in xids()}
    for each in impact().categories:
        reached |= {category((), {alert}, (), missing=False).name for alert in each.alerts}
        reached |= {category((), (), {check}, missing=False).name for check in each.checks}
    assert reached | {category((), (), (), missing=True).name} == set(names)
    for xid in xids().values():
        assert (category({xid.code}, (), (), missing=False).name != names[-1]) >= (xid.xid_class == "node")


def test_a_report_names_machine_host_and_card_and_nothing_of_the_work() -> None:
    given = evidence(seen=[Seen(79, "metric", "GPU-1", "2026-11-01T12:00:00Z")])
    properties = body(given)["properties"]
    assert properties["impactedResourceId"] == PROVIDER.removeprefix("azure://")
    assert properties["startDateTime"] == "2026-11-01T12:00:00Z"
    assert properties["additionalProperties"] == {
        "PhysicalHostName": "GGBB90904476",
        "Manufacturer": "Nvidia",
        "SerialNumber": "1654922000001",
        "ModelNumber": "NVIDIA H100 NVL",
        "Location": "0001:00:00.0",
    }
    assert "Xid 79" in properties["impactDescription"]
    assert "secret-project" not in json.dumps(properties)
    general = body(given, general=True)["properties"]
    assert (general["impactCategory"], "additionalProperties" in general) == (impact().general, False)


def test_a_report_that_azure_would_refuse_is_not_made() -> None:
    with pytest.raises(NotReportable, match=r"physical host of .* is not known.*--general"):
        body(evidence(machine=record.read(config_map(host={}))))
    with pytest.raises(NotReportable, match="no provider id"):
        body(evidence(machine=None, node=None))


def test_a_report_is_sent_once() -> None:
    kept: dict[str, Any] = {}

    def arm(method: str, path: str, parameters: Mapping[str, str], given: Any) -> Answer:
        assert parameters["api-version"] == impact().api_version
        if method == "GET":
            return Answer(200 if path in kept else 404, kept.get(path))
        kept[path] = given
        return Answer(200, given)

    name = name_of(evidence(), "test:1")
    assert send(arm, "s", name, {"properties": {}})
    assert not send(arm, "s", name, {"properties": {}})
    assert list(kept) == [f"/subscriptions/s/providers/Microsoft.Impact/workloadImpacts/physai-{NODE}-test-1"]


def test_a_refusal_of_azure_is_passed_on() -> None:
    refusal = {"error": {"code": "AuthorizationFailed", "message": "no"}}
    with pytest.raises(Refused, match="403 AuthorizationFailed"):
        send(lambda *_: Answer(403, refusal), "s", "n", {})


def test_the_pages_say_what_is_known() -> None:
    found = evidence(
        seen=[Seen(79, "event")], acceptance=result("failed"), repairs=[restarted()], alerts=[Alert("GPUTooHot", {})]
    )
    text = markdown.markdown(found)
    for part in ("GGBB90904476", "1654922000001", "fallen off the bus", "20 GB/s of 48", "GPUTooHot", "was accepted"):
        assert part in text
    document = markdown.document(found)
    assert document["category"].endswith("XID79FallenOffBus")
    assert json.loads(json.dumps(document))["gpus"][0]["serial"] == "1654922000001"
    assert "Nothing was recorded when it joined" in markdown.markdown(evidence(machine=None))
    assert "no longer in the cluster" in markdown.markdown(evidence(node=None))


def test_the_newest_record_of_the_nodes_present_machine_is_read() -> None:
    old = config_map(vm="ffffffff-0", seen="2026-11-05T00:00:00Z")
    maps = [old, config_map(), config_map(node="other")]
    node = {"metadata": {"name": NODE}, "status": {"nodeInfo": {"systemUUID": VM.upper()}}}

    def get(path: str, parameters: Mapping[str, str]) -> Any:
        if path == f"/api/v1/nodes/{NODE}":
            return node
        if path.endswith("/configmaps"):
            return {"items": maps if parameters["labelSelector"] == record.LABEL else []}
        if path in ("/api/v1/events", "/api/v1/pods", "/api/v1/nodes"):
            return {"items": []}
        raise Missing(path)

    found = read_node_evidence(get, NODE)
    assert found.machine is not None
    assert found.machine.vm == VM
    gone = read_node_evidence(lambda path, p: get("missing" if path.endswith(NODE) else path, p), NODE)
    assert gone.machine is not None
    assert gone.machine.vm == "ffffffff-0"
    with pytest.raises(UnknownNode) as unknown:
        read_node_evidence(get, "nope")
    assert set(unknown.value.known) == {NODE, "other"}


EVIDENCE = {
    "/api/v1/events": "events of nodes",
    "/api/v1/pods": "Pods",
    record.LABEL: "records of machines",
    REPAIR_LABEL: "records of repairs",
    "acceptance": "results of acceptance",
}


@pytest.mark.parametrize("refused", EVIDENCE)
def test_a_missing_right_leaves_the_rest_of_the_evidence(refused: str) -> None:
    def get(path: str, parameters: Mapping[str, str]) -> Any:
        result = "acceptance" if path.endswith(accepted.config_map_name(NODE)) else ""
        if refused in (path, parameters.get("labelSelector"), result):
            raise Unreachable("403 no right", 403)
        if path == f"/api/v1/nodes/{NODE}":
            return {"metadata": {"name": NODE}}
        if result:
            raise Missing(path)
        return {"items": [config_map()] if parameters.get("labelSelector") == record.LABEL else []}

    found = read_node_evidence(get, NODE, unread=["alerts"])
    assert found.unread == ("alerts", f"{EVIDENCE[refused]} (403 no right)")
    assert (found.machine is None) == (refused == record.LABEL)


def test_events_are_in_their_order_and_of_this_machine() -> None:
    def event(uid: str, when: str) -> dict[str, Any]:
        about = {"kind": "Node", "name": NODE, "uid": uid}
        return {"involvedObject": about, "reason": when[-3:], "lastTimestamp": f"2026-11-27T10:00:{when[-3:-1]}Z"}

    given = [event("u2", "03Z"), event("u1", "01Z"), event(NODE, "02Z"), event("", "04Z")]
    node = {"metadata": {"name": NODE, "uid": "u2"}}
    assert [each["reason"] for each in own_events(given, node)] == ["02Z", "03Z", "04Z"]
    assert len(own_events(given, None)) == 4


def test_a_fault_domain_is_no_zone() -> None:
    assert "| zone |" not in markdown.markdown(evidence(machine=record.read(config_map(zone="0"))))
    assert "| zone | westus2-1 |" in markdown.markdown(evidence(machine=record.read(config_map(zone="westus2-1"))))


def test_a_machine_without_a_fault_is_not_replaced_without_a_word(capsys: pytest.CaptureFixture[str]) -> None:
    finding = {"cause": "operands-off", "reason": "A label keeps them off.", "fix": "kubectl label node N x-"}
    with pytest.raises(typer.Exit):
        no_fault(NODE, [finding], ["alerts: add --prometheus URL"])
    said = capsys.readouterr().err
    for part in ("speaks for a restart", "do: kubectl label node N x-", "--prometheus URL", "--reboot or --replace"):
        assert part in said
