"""From the signs of a node to its causes: the most specific one is named, with one remedy, and no sign is dropped."""

from __future__ import annotations

import re
from typing import Any

import pytest

from physical_ai.catalog.node_causes import NodeCause, alert_action, node_causes
from physical_ai.readiness.model import ClosedGate
from physical_ai.readiness.nodes.counts import counts
from physical_ai.readiness.nodes.findings import NodeFinding, advice_of, findings_of
from physical_ai.readiness.nodes.signs import Alert, NodeSigns, Seen, unusual
from physical_ai.telemetry.rule_rows import alert_rows
from tests.support.cases import in_one_test

NODE = "aks-h100gpu-0"
READY = {"type": "Ready", "status": "True"}
PROVIDER = (
    "azure:///subscriptions/s/resourceGroups/mc/providers/Microsoft.Compute/virtualMachineScaleSets/v/virtualMachines/0"
)
UNHEALTHY = ClosedGate("h100gpu", NODE, "allocatable", "…", "unhealthy", "…", may_recover=False)


def node(*conditions: dict[str, str]) -> dict[str, Any]:
    metadata = {"name": NODE, "labels": {"agentpool": "h100gpu"}}
    return {"metadata": metadata, "spec": {"providerID": PROVIDER}, "status": {"conditions": [READY, *conditions]}}


def alert(name: str, **labels: str) -> Alert:
    return Alert(name, {"node": NODE, **labels}, f"summary of {name}")


def found(*conditions: dict[str, str], **signs: Any) -> tuple[NodeFinding, ...]:
    return findings_of(NodeSigns(NODE, node(*conditions), stack="dev-westus2", **signs))


def fallen_off() -> dict[str, Any]:
    """What an Xid 79 shows everywhere."""
    return {
        "gate": UNHEALTHY,
        "seen": [Seen(79, "metric", "GPU-1", index="0")],
        "alerts": [
            alert("GPUAllocatableBelowCapacity", resource="nvidia_com_gpu"),
            alert("GPUHealthFailure", gpu="0", UUID="GPU-1", health_watch="ALL"),
            alert("GPUNodeMissingGPUs"),
            alert("GPURecoveryActionRequired", gpu="0", UUID="GPU-1"),
        ],
    }


def test_nothing_is_found_of_a_node_that_works() -> None:
    assert found() == ()
    assert found({"type": "GpuAllWatch", "status": "False", "reason": "GpuAllWatchIsHealthy"}) == ()


def test_one_broken_gpu_is_one_cause_with_one_remedy_and_all_its_signs() -> None:
    (one,) = found(**fallen_off())
    assert (one.cause, one.remedy, one.gate) == ("xid-79", "reboot", True)
    assert one.fix.startswith(f"physai node replace {NODE} dev-westus2 --reboot")
    assert len(one.alerts) == 4
    assert any("gate allocatable" in each for each in one.signs)


def test_a_failed_remap_outranks_what_a_restart_would_repair() -> None:
    given = fallen_off()
    given["alerts"].append(alert("GPURowRemapFailed", gpu="0", UUID="GPU-1"))
    causes = found(**given)
    assert {each.cause for each in causes} == {"row-remap-failed", "xid-79"}
    assert {each.remedy for each in causes} == {"replace"}
    assert advice_of(causes) == "replace"


def test_a_failed_remap_is_one_cause_with_the_xid_that_says_the_same() -> None:
    remap = [alert("GPURowRemapFailed", gpu="0", UUID="GPU-1")]
    (one,) = found(alerts=remap, seen=[Seen(64, "metric", "GPU-1", index="0")])
    assert (one.cause, one.remedy) == ("xid-64", "replace")
    assert one.alerts == ("GPURowRemapFailed",)
    causes = {each.cause for each in found(alerts=remap, seen=[Seen(64, "metric", "GPU-2", index="1")])}
    assert causes == {"xid-64", "row-remap-failed"}


def test_a_restart_that_did_not_help_is_not_advised_again() -> None:
    assert advice_of(found(**fallen_off(), restarted=True)) == "replace"


def test_a_fault_of_another_gpu_is_its_own_cause() -> None:
    causes = found(
        seen=[Seen(79, "metric", "GPU-1", index="0")], alerts=[alert("GPUHealthFailure", gpu="1", UUID="GPU-2")]
    )
    assert [each.cause for each in causes] == ["xid-79", "health-failure"]


def test_a_gpu_that_a_program_took_out_needs_its_plugin_restarted() -> None:
    causes = found(gate=UNHEALTHY, seen=[Seen(94, "metric", "GPU-1")], alerts=[alert("GPUAllocatableBelowCapacity")])
    assert [each.cause for each in causes] == ["unhealthy", "xid-94"]
    assert "delete pod" in causes[0].fix
    assert "nvidia-device-plugin-daemonset" in causes[0].fix
    assert advice_of(causes) is None


@pytest.mark.parametrize(("xid", "option"), [(79, "--reboot"), (64, "--replace")])
def test_a_machine_of_an_existing_cluster_is_repaired_by_the_same_command(xid: int, option: str) -> None:
    """It waits until somebody has restarted or exchanged the machine, and does everything else."""
    signs = NodeSigns(NODE, node(), seen=[Seen(xid, "metric")], stack="onprem-lab", existing=True)
    (fix,) = {each.fix for each in findings_of(signs)}
    assert fix.startswith(
        f"physai node replace {NODE} onprem-lab {option} cordons and drains the node, waits until you"
    )
    assert not re.search("kubectl|Azure", fix)


def test_a_node_that_is_not_ready_is_not_azures_to_repair_elsewhere() -> None:
    silent = {"type": "Ready", "status": "Unknown", "reason": "NodeStatusUnknown", "message": "silent"}
    of_another = node()
    of_another["status"] = {**of_another.get("status", {}), "conditions": [silent]}
    (cause,) = findings_of(NodeSigns(NODE, of_another, stack="onprem-lab", existing=True))
    assert cause.cause == "node-not-ready"
    assert f"physai node replace {NODE} onprem-lab --reboot" in cause.fix
    assert not re.search("AKS|Azure", cause.fix)


@pytest.mark.parametrize(
    ("kind", "status"),
    [
        ("KernelDeadlock", "True"),
        ("DiskPressure", "True"),
        ("AMDGPUBroken", "True"),
        ("StorageReady", "False"),
        ("StorageReady", "Unknown"),
    ],
)
def test_a_bad_condition_that_nobody_here_knows_is_named_in_its_own_words(kind: str, status: str) -> None:
    (one,) = found({"type": kind, "status": status, "reason": "Odd", "message": "the moon is in the way"})
    assert one.cause == f"condition-{kind}"
    assert "the moon is in the way" in one.reason
    assert not one.waits


@in_one_test("kind", ["KernelDeadlock", "FilesystemCorruptionProblem", "GpuXidError", "AMDGPUBroken"])
@in_one_test("message", ["", "Timeout when running plugin", "NVRM: Xid (PCI:0001:00:00): 79"])
def test_a_condition_whose_monitor_does_not_know_is_named_as_not_known_and_repairs_nothing(
    kind: str, message: str
) -> None:
    (one,) = found({"type": kind, "status": "Unknown", "reason": "Odd", "message": message})
    assert one.cause == f"condition-{kind}"
    assert "not known" in one.reason
    assert message in one.reason
    assert one.remedy is None


@pytest.mark.parametrize("kind", ["MemoryPressure", "DiskPressure", "PIDPressure", "NetworkUnavailable"])
def test_the_kubelets_own_conditions_are_unknown_once_it_is_silent_which_ready_says(kind: str) -> None:
    assert unusual(node({"type": kind, "status": "Unknown", "reason": "NodeStatusUnknown"})) == []


def test_a_layout_that_was_not_applied_is_named_though_the_gpus_are_offered() -> None:
    broken = node()
    broken["metadata"]["labels"] |= {"nvidia.com/mig.config": "all-disabled", "nvidia.com/mig.config.state": "failed"}
    (one,) = findings_of(NodeSigns(NODE, broken, stack="dev-westus2"))
    assert (one.cause, one.waits) == ("mig-failed", False)
    assert f"kubectl label node {NODE} nvidia.com/mig.config.state-" in one.fix
    broken["metadata"]["labels"]["nvidia.com/mig.config.state"] = "success"
    assert findings_of(NodeSigns(NODE, broken, stack="dev-westus2")) == ()


@pytest.mark.parametrize(("kind", "status"), [("StorageReady", "True"), ("KernelDeadlock", "False")])
def test_a_good_condition_is_no_finding(kind: str, status: str) -> None:
    assert unusual(node({"type": kind, "status": status})) == []


@pytest.mark.parametrize(
    ("kind", "message", "cause", "remedy"),
    [
        (
            "GpuAllWatch",
            "ErrorCode:DCGM_FR_FALLEN_OFF_BUS GPU:0;",
            "fallen-off-bus",
            "reboot",
        ),
        (
            "GpuMemWatch",
            "ErrorCode:DCGM_FR_ROW_REMAP_FAILURE GPU:0;",
            "row-remap-failed",
            "replace",
        ),
        ("GpuPcieWatch", "ErrorCode:DCGM_FR_PCI_REPLAY_RATE GPU:0 Recommended Action=X;", "pcie-replays", "replace"),
        ("GpuSmWatch", "ErrorCode:DCGM_FR_OF_TOMORROW GPU:0 Recommended Action=X;", "health-failure", "reboot"),
        ("SysLogsXIDError", "ErrorCode:119 GPU:0 Recommended Action=COMPONENT_RESET;", "xid-119", "reboot"),
        ("XIDErrors", "something about a GPU", "xid-condition", "reboot"),
    ],
)
def test_a_condition_of_a_health_monitor_is_read_by_its_code(kind: str, message: str, cause: str, remedy: str) -> None:
    (one,) = found({"type": kind, "status": "True", "reason": f"{kind}IsNotHealthy", "message": message})
    assert (one.cause, one.remedy) == (cause, remedy)


def test_an_alert_of_a_rule_of_the_user_is_named_with_its_summary_and_action() -> None:
    (one,) = found(alerts=[Alert("LabFanBroken", {"node": NODE}, "The fan of rack 3 stands", "Call the lab")])
    assert (one.cause, one.fix) == ("alert-LabFanBroken", "Call the lab")
    assert "The fan of rack 3 stands" in one.reason


def test_an_xid_that_is_in_no_table_is_a_finding() -> None:
    (one,) = found(seen=[Seen(199, "event")])
    assert (one.cause, one.waits) == ("xid-199", False)


def test_failed_checks_of_the_hardware_replace_the_machine_and_others_do_not() -> None:
    def accepted(message: str) -> dict[str, str]:
        return {"type": "physical-ai/Accepted", "status": "False", "reason": "Failed", "message": message}

    assert advice_of(found(accepted("bandwidth: 20 GB/s of 48"))) == "replace"
    (one,) = found(accepted("graphics: no Vulkan device"))
    assert (one.cause, one.remedy) == ("node-failed-acceptance", None)
    assert "no Vulkan device" in one.reason


def test_a_gate_that_should_have_opened_by_now_is_not_said_to_open_by_itself() -> None:
    gate = ClosedGate("h100gpu", NODE, "toolkit", "It tries again.", "toolkit-before-containerd", "Restart it.")
    assert found(gate=gate)[0].waits
    (late,) = found(gate=gate, alerts=[alert("GPUNodeMissingGPUs")])
    assert not late.waits


def test_what_explains_others_comes_before_them() -> None:
    """A cause is evidence of another one only if that is known when its turn comes."""
    rows = list(node_causes().values())
    for place, row in enumerate(rows):
        later = {each.group for each in rows[place + 1 :] if row.group not in each.yields} - {"machine"}
        assert not later & set(row.yields), row.id


@pytest.mark.parametrize("gate", ["driver-gone", "node-silent", "grid-unlicensed", "toolkit-failed", "node-evicted"])
def test_a_pod_of_the_gpu_stack_that_fails_is_evidence_of_what_closes_the_gate(gate: str) -> None:
    closed = ClosedGate("h100gpu", NODE, "driver", "…", gate, "…", may_recover=False)
    operand = ("gpu-feature-discovery", "gpu-feature-discovery-x", "failed to initialize NVML")
    (one,) = found(gate=closed, operands=[operand])
    assert one.cause == gate
    assert any("failed to initialize NVML" in sign for sign in one.signs)


def test_a_pod_that_fails_for_a_reason_that_is_not_known_needs_somebody() -> None:
    gate = ClosedGate(
        "h100gpu", NODE, "device-plugin", "It fails.", "", "Delete it.", phase="CrashLoopBackOff", message="odd"
    )
    (one,) = found(gate=gate)
    assert (one.cause, one.waits, one.fix) == ("gate-device-plugin", False, "Delete it.")
    assert "odd" in one.signs[0]


@pytest.mark.parametrize(
    ("pci", "driver", "offered", "cause", "remedy"),
    [(2, 1, 1, "gpu-not-driven", "replace"), (1, 1, 1, "gpu-off-bus", "reboot"), (2, 2, 1, "gpus-missing", "reboot")],
)
def test_counts_are_compared_with_each_other(pci: int, driver: int, offered: int, cause: str, remedy: str) -> None:
    facts = {
        "size": "Standard_NC80adis_H100_v5",
        "recordedAt": "2026-11-27T10:00:00Z",
        "pci": [{"class": "0x030200"}] * pci,
        "gpus": [{"uuid": f"GPU-{each}", "lastSeen": "2026-11-27T10:00:00Z"} for each in range(driver)]
        + [{"uuid": "GPU-old", "lastSeen": "2026-11-01T10:00:00Z"}],
    }
    gate = ClosedGate("h100gpu", NODE, "allocatable", f"It offers {offered}.", "gpus-missing", "…", may_recover=False)
    (one,) = found(gate=gate, facts=facts)
    assert (one.cause, one.remedy, one.gate) == (cause, remedy, True)


def test_a_count_that_was_not_recorded_says_nothing() -> None:
    assert counts({}).relation is None
    assert counts({"size": "Standard_NC80adis_H100_v5", "gpus": []}).relation is None
    without_driver = {"size": "Standard_NC80adis_H100_v5", "pci": [{"class": "0x030200"}] * 2, "gpus": []}
    assert counts(without_driver).relation is None


def test_every_alert_about_a_node_has_its_action_from_the_table_of_causes() -> None:
    known = {name for cause in node_causes().values() for name in cause.alerts}
    assert known <= set(alert_rows())
    about_nodes = {name for name, row in alert_rows().items() if "(cluster, node" in row.expression}
    about_nodes -= {"GPUXidJobError", "GPUXidInformation", "GPUMemoryNearlyFull", "GPUOperatorReconcileFailing"}
    assert about_nodes <= known
    for name in known:
        action = alert_action(name)
        assert action is not None
        assert "{" not in action
        assert alert_rows()[name].action == action
        elsewhere = alert_action(name, azure=False)
        assert elsewhere is not None
        assert ("physai node replace NODE STACK" in elsewhere) is ("physai node replace NODE STACK" in action), name
        assert not re.search(r"kubectl (cordon|uncordon|drain)|Azure", elsewhere), name


def signs_of(row: NodeCause) -> list[dict[str, Any]]:
    """One sign of each kind by which a row is known."""
    words = [*(f"ErrorCode:{code}" for code in row.codes), *(["it fails"] if row.conditions else [])]
    kind = "GpuDcgmConnectivityFailure" if row.id == "exporter-down" else "SysLogsXIDError"
    return [
        *({"gate": ClosedGate("h100gpu", NODE, "x", "why", each, "…", may_recover=False)} for each in row.gates),
        *({"alerts": [alert(each)]} for each in row.alerts),
        *({"operands": [(each, "pod-x", "it fails")]} for each in row.operands),
        *({"failed_checks": [(each, "it fails")]} for each in row.checks),
        *({"condition": {"type": kind, "status": "True", "reason": "", "message": each}} for each in words),
    ]


@in_one_test("row", node_causes().values(), ids=lambda row: row.id)
def test_whatever_shows_a_cause_its_fix_names_node_pool_and_stack(row: NodeCause) -> None:
    for signs in signs_of(row):
        bad = [condition] if (condition := signs.pop("condition", None)) else []
        for each in found(*bad, **signs):
            assert not re.search(r"\?|[{}]", each.fix + each.reason), (signs, each.fix)
