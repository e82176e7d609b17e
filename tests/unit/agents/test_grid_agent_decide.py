"""What the GRID agent decides, fault by fault: state, reason, next step, and a sentence that names the cause."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import pytest

from grid_agent.decide import decide
from grid_agent.facts import (
    GATE_LABELS,
    PAUSED,
    TOOLKIT,
    VALIDATOR,
    Gpu,
    HostFacts,
    Job,
    Module,
    NodeFacts,
    Pod,
    Process,
    Smi,
)
from grid_agent.memory import Failure, Memory
from grid_agent.plan import Plan
from grid_agent.steps import State, Step
from grid_agent.wanted import Package, Wanted
from tests.support.grid_agent_world import NEW, OLD, SHA, installed, loaded, wanted

NOW = 1_000_000.0
OPEN = NodeFacts("node-1", dict.fromkeys(GATE_LABELS, "true"))
CLOSED = NodeFacts("node-1", dict.fromkeys(GATE_LABELS, PAUSED))
FRESH = HostFacts()
CACHED = replace(FRESH, cached=(SHA[NEW],))
OURS = Memory(verified=wanted(OLD).target, driver_since=NOW - 3600, gated_at=NOW - 30)
"""The old build was proven here."""
POD = Pod("training", "job-1", "u", gpus=1)


@dataclass(frozen=True)
class Case:
    """A situation and what has to follow from it."""

    name: str
    state: State
    reason: str
    step: Step
    says: str = ""
    host: HostFacts = FRESH
    node: NodeFacts | None = CLOSED
    wanted: Wanted = field(default_factory=wanted)
    memory: Memory = field(default_factory=lambda: Memory(gated_at=NOW - 30))

    def plan(self) -> Plan:
        return decide(self.host, self.node, self.wanted, self.memory, NOW)


def failing(step: Step, sentence: str, *, final: bool = False, **changes: object) -> Memory:
    failure = Failure(2, 2, sentence, NOW + 60, final, final)
    return replace(Memory(gated_at=NOW - 30), failures={step.value: failure}, **changes)  # type: ignore[arg-type]


def working(**changes: object) -> HostFacts:
    return replace(installed(), **changes)  # type: ignore[arg-type]


def smi(**changes: object) -> Smi:
    return replace(installed().smi, **changes)  # type: ignore[arg-type]


def without(name: str) -> Mapping[str, Module]:
    return {module: each for module, each in loaded(NEW).items() if module != name}


def job(step: Step) -> Job:
    return Job(f"{step.value}-1", step, wanted().target, "running", started=NOW - 90)


CASES = [
    # The way of a fresh node.
    Case("fresh node", State.GATING, "Gate", Step.GATE, "not installed", node=OPEN),
    Case("gated fresh node", State.FETCHING, "Fetch", Step.FETCH),
    Case("fetched", State.CONFIGURING, "Configure", Step.CONFIGURE, host=CACHED),
    Case("configured", State.INSTALLING, "Install", Step.INSTALL, host=replace(CACHED, configured=True)),
    Case(
        "install runs", State.INSTALLING, "Install", Step.WAIT, "for 90 s", host=replace(CACHED, job=job(Step.INSTALL))
    ),
    Case(
        "labels stripped while the install runs",
        State.INSTALLING,
        "Install",
        Step.GATE,
        host=replace(CACHED, job=job(Step.INSTALL)),
        node=OPEN,
    ),
    Case(
        "download for a node in service",
        State.FETCHING,
        "Fetch",
        Step.WAIT,
        host=installed(OLD, job=job(Step.FETCH)),
        node=OPEN,
        memory=Memory(verified=wanted(OLD).target),
    ),
    Case(
        "installed",
        State.CONFIGURING,
        "Configure",
        Step.CONFIGURE,
        "gridd.conf",
        host=replace(installed(), loaded={}, gridd_configured=False),
    ),
    Case("configured after install", State.VERIFYING, "Load", Step.LOAD, host=working(loaded={})),
    Case("proven, gate closed", State.UNGATING, "Ungate", Step.UNGATE, host=working()),
    Case("proven, gate open", State.READY, "DriverVerified", Step.WAIT, "licensed", host=working(), node=OPEN),
    # Downloads.
    Case(
        "download refused",
        State.FETCHING,
        "FetchFailed",
        Step.WAIT,
        "refused",
        memory=failing(Step.FETCH, "connection refused"),
    ),
    Case(
        "wrong checksum for good",
        State.BLOCKED,
        "FetchFailed",
        Step.WAIT,
        "No GPU Pod can start",
        memory=failing(Step.FETCH, "wrong sha256", final=True),
    ),
    Case("unknown checksum", State.BLOCKED, "UnknownChecksum", Step.WAIT, "sha256", wanted=wanted(sha256="")),
    Case("no URL", State.BLOCKED, "NoSource", Step.WAIT, "mirror", wanted=wanted(urls=())),
    Case("disk full", State.BLOCKED, "DiskFull", Step.WAIT, "1.0 GiB", host=replace(FRESH, free_bytes=1 << 30)),
    # The machine.
    Case(
        "arm64", State.BLOCKED, "WrongArchitecture", Step.WAIT, "aarch64", host=replace(FRESH, architecture="aarch64")
    ),
    Case(
        "not Ubuntu",
        State.BLOCKED,
        "WrongSystem",
        Step.WAIT,
        "azurelinux",
        host=replace(FRESH, system="azurelinux 3.0"),
    ),
    Case("no GPU on the bus", State.BLOCKED, "NoGpu", Step.WAIT, "VM size", host=replace(FRESH, gpus=())),
    Case(
        "another GPU",
        State.BLOCKED,
        "WrongGpu",
        Step.WAIT,
        "10de:2331",
        host=replace(FRESH, gpus=(Gpu("0001:00:00.0", "10de:2331"),)),
        wanted=wanted(devices=("10de:2bb5",)),
    ),
    Case("Secure Boot", State.BLOCKED, "SecureBoot", Step.WAIT, "unsigned", host=replace(FRESH, secure_boot=True)),
    Case(
        "read-only /usr", State.BLOCKED, "ReadOnlyUsr", Step.WAIT, "read-only", host=replace(FRESH, usr_writable=False)
    ),
    Case("bad kernel", State.BLOCKED, "RefusedKernel", Step.WAIT, "6.11", host=replace(FRESH, kernel="6.11.0-1")),
    Case("blocked with an open gate", State.BLOCKED, "NoGpu", Step.GATE, host=replace(FRESH, gpus=()), node=OPEN),
    Case(
        "no headers offline",
        State.BLOCKED,
        "HeadersMissing",
        Step.WAIT,
        "kernel headers",
        host=replace(FRESH, headers=False),
        wanted=wanted(package_source="offline"),
    ),
    Case(
        "headers come with packages",
        State.FETCHING,
        "Fetch",
        Step.FETCH,
        host=replace(FRESH, headers=False),
        wanted=wanted(package_source="offline", packages=(Package("https://m.example/h.deb", "d" * 64),)),
    ),
    Case("headers missing, apt allowed", State.FETCHING, "Fetch", Step.FETCH, host=replace(FRESH, headers=False)),
    # Drivers that are there.
    Case(
        "prebaked CUDA driver",
        State.CONFIGURING,
        "Configure",
        Step.CONFIGURE,
        "CUDA driver",
        host=replace(
            installed("580.159.04", gridd="missing", prebaked="580.159.04"), configured=False, cached=(SHA[NEW],)
        ),
    ),
    Case(
        "prebaked driver, loaded",
        State.CLEANING,
        "Unload",
        Step.UNLOAD,
        host=installed("580.159.04", gridd="missing", prebaked="580.159.04", cached=(SHA[NEW],)),
    ),
    Case(
        "prebaked driver, unloaded",
        State.REMOVING,
        "Remove",
        Step.REMOVE,
        host=installed("580.159.04", gridd="missing", loaded={}, prebaked="580.159.04", cached=(SHA[NEW],)),
    ),
    Case("marker of the image alone", State.CLEANING, "Clean", Step.CLEAN, host=working(prebaked="unknown"), node=OPEN),
    Case(
        "half an install",
        State.REMOVING,
        "Remove",
        Step.REMOVE,
        "did not finish",
        host=replace(installed(loaded={}), half_install=True),
    ),
    Case("libraries of another version", State.CLEANING, "Unload", Step.UNLOAD, "580", host=working(library=OLD)),
    Case(
        "nvidia-smi of another version",
        State.CLEANING,
        "Unload",
        Step.UNLOAD,
        "580",
        host=working(smi=smi(version=OLD)),
    ),
    Case(
        "wrong flavour",
        State.CLEANING,
        "Unload",
        Step.UNLOAD,
        "proprietary",
        host=working(on_disk=Module(NEW, "proprietary")),
    ),
    Case("another kernel since", State.CLEANING, "Unload", Step.UNLOAD, "no nvidia module", host=working(on_disk=None)),
    Case(
        "other installer file",
        State.CLEANING,
        "Unload",
        Step.UNLOAD,
        "another installer",
        host=working(cached=("e" * 64,)),
        wanted=wanted(sha256="e" * 64),
        memory=Memory(),
    ),
    Case(
        "a CUDA build of that number",
        State.CLEANING,
        "Unload",
        Step.UNLOAD,
        "not a GRID build",
        host=working(gridd="missing"),
    ),
    Case(
        "packages of Ubuntu",
        State.BLOCKED,
        "PackagedDriver",
        Step.WAIT,
        "nvidia-driver-580",
        host=replace(installed(OLD), packaged=("nvidia-driver-580",)),
    ),
    Case(
        "nouveau loaded",
        State.CLEANING,
        "Unload",
        Step.UNLOAD,
        host=replace(CACHED, nouveau=True, configured=True),
    ),
    Case(
        "nouveau in use",
        State.BLOCKED,
        "UnloadFailed",
        Step.WAIT,
        "reboot",
        host=replace(CACHED, nouveau=True, configured=True),
        memory=failing(Step.UNLOAD, "module nouveau can't be unloaded; reboot the node", final=True),
    ),
    # Loaded, but not right.
    Case("after a reboot", State.VERIFYING, "Load", Step.LOAD, "not loaded", host=working(loaded={}), node=OPEN),
    Case(
        "uvm missing, nvidia-smi works",
        State.VERIFYING,
        "Load",
        Step.LOAD,
        "nvidia_uvm",
        host=working(loaded=without("nvidia_uvm")),
    ),
    Case(
        "modeset missing",
        State.VERIFYING,
        "Load",
        Step.LOAD,
        "nvidia_modeset",
        host=working(loaded=without("nvidia_modeset")),
    ),
    Case(
        "uvm parameter",
        State.CLEANING,
        "Unload",
        Step.UNLOAD,
        "uvm_disable_hmm",
        host=working(parameters={"nvidia_uvm": {"uvm_disable_hmm": "N"}}),
    ),
    Case("old module still loaded", State.CLEANING, "Unload", Step.UNLOAD, OLD, host=working(loaded=loaded(OLD))),
    Case(
        "nvidia-smi hangs",
        State.VERIFYING,
        "Load",
        Step.LOAD,
        "timed out",
        host=working(smi=Smi(found=True, error="timed out")),
    ),
    Case(
        "one of two GPUs is listed",
        State.BLOCKED,
        "GpuMissing",
        Step.WAIT,
        "1 of the 2 GPUs",
        host=working(gpus=(Gpu("0001:00:00.0", "10de:2bb5"), Gpu("0002:00:00.0", "10de:2bb5"))),
        node=OPEN,
        memory=Memory(verified=wanted(NEW).target),
    ),
    Case(
        "a GPU asks for a reboot",
        State.BLOCKED,
        "GpuFailed",
        Step.GATE,
        "Reboot",
        host=working(smi=smi(recovery="Reboot")),
        node=OPEN,
        memory=Memory(verified=wanted(NEW).target),
    ),
    Case(
        "a device node is missing",
        State.VERIFYING,
        "Load",
        Step.LOAD,
        "/dev/nvidia-uvm",
        host=working(missing_nodes=("/dev/nvidia-uvm",)),
    ),
    Case(
        "persistence mode is off",
        State.READY,
        "DriverVerified",
        Step.PERSIST,
        "persistence mode is off",
        host=working(smi=smi(persistence=False)),
        node=OPEN,
    ),
    Case(
        "a parameter that is shown nowhere",
        State.READY,
        "DriverVerified",
        Step.WAIT,
        host=working(),
        node=OPEN,
        wanted=wanted(module_parameters={"nvidia": {"NVreg_EnableMSI": "0"}}),
    ),
    Case("no device", State.BLOCKED, "NoDevice", Step.WAIT, "no GPU", host=working(smi=smi(devices=0))),
    Case("MIG without a device", State.BLOCKED, "NoMigDevice", Step.WAIT, "MIG", host=working(smi=smi(mig="enabled"))),
    Case(
        "MIG with a device",
        State.READY,
        "DriverVerified",
        Step.WAIT,
        host=working(smi=smi(mig="enabled", mig_devices=1)),
        node=OPEN,
    ),
    Case("gridd does not run", State.VERIFYING, "Load", Step.LOAD, "nvidia-gridd", host=working(gridd="inactive")),
    Case(
        "licence on its way",
        State.VERIFYING,
        "WaitingForLicence",
        Step.WAIT,
        "licence",
        host=working(smi=smi(licence="unlicensed")),
        memory=Memory(loaded_at=NOW - 10, gated_at=NOW - 60),
    ),
    Case("licence late", State.VERIFYING, "Load", Step.LOAD, "licence", host=working(smi=smi(licence="unlicensed"))),
    Case(
        "licence optional",
        State.READY,
        "DriverVerified",
        Step.WAIT,
        host=working(smi=smi(licence="unlicensed")),
        wanted=wanted(licence="optional"),
        node=OPEN,
    ),
    Case(
        "licence never comes",
        State.BLOCKED,
        "LoadFailed",
        Step.WAIT,
        "licence",
        host=working(smi=smi(licence="unlicensed")),
        memory=failing(Step.LOAD, "no licence", final=True),
    ),
    # Traces of other deployments.
    Case("stale marker", State.CLEANING, "Clean", Step.CLEAN, host=working(legacy_marker=True), node=OPEN),
    Case(
        "legacy bind before any change", State.CLEANING, "Clean", Step.CLEAN, host=replace(CACHED, legacy_mount="root")
    ),
    Case("deleted mount", State.CLEANING, "Clean", Step.CLEAN, host=replace(CACHED, legacy_mount="deleted")),
    Case(
        "the operator's own driver",
        State.BLOCKED,
        "OperatorDriver",
        Step.WAIT,
        "NVIDIADriver",
        host=replace(CACHED, legacy_mount="other"),
    ),
    Case(
        "seed profile: marks after success",
        State.UNGATING,
        "MarkLegacy",
        Step.MARK_LEGACY,
        host=working(),
        wanted=wanted(legacy_validation_markers=True),
    ),
    # Upgrades of a node in service.
    Case(
        "upgrade fetches with the gate open",
        State.FETCHING,
        "Fetch",
        Step.FETCH,
        host=installed(OLD),
        node=OPEN,
        memory=OURS,
    ),
    Case(
        "a download for a driver that serves opens the gate",
        State.FETCHING,
        "Fetch",
        Step.UNGATE,
        "serves meanwhile",
        host=installed(OLD),
        memory=OURS,
    ),
    Case(
        "upgrade waits for GPU pods",
        State.WAITING,
        "GpuPodsRunning",
        Step.WAIT,
        "training/job-1",
        host=installed(OLD, cached=(SHA[NEW],)),
        node=replace(OPEN, gpu_pods=(POD,)),
        memory=OURS,
    ),
    Case(
        "upgrade gates an idle node",
        State.GATING,
        "Gate",
        Step.GATE,
        host=installed(OLD, cached=(SHA[NEW],)),
        node=OPEN,
        memory=OURS,
    ),
    Case(
        "upgrade drains",
        State.DRAINING,
        "Draining",
        Step.EVICT,
        "training/job-1",
        host=installed(OLD, cached=(SHA[NEW],)),
        node=replace(CLOSED, gpu_pods=(POD,)),
        wanted=wanted(upgrade="drain"),
        memory=OURS,
    ),
    Case(
        "upgrade waits for pods that end",
        State.DRAINING,
        "Draining",
        Step.WAIT,
        host=installed(OLD, cached=(SHA[NEW],)),
        node=replace(CLOSED, gpu_pods=(replace(POD, terminating=True),)),
        wanted=wanted(upgrade="drain"),
        memory=OURS,
    ),
    Case(
        "pods may not be listed",
        State.WAITING,
        "MayNotListPods",
        Step.UNGATE,
        "list the Pods",
        host=installed(OLD, cached=(SHA[NEW],), gpu_processes=(Process("python", 7),)),
        node=replace(CLOSED, gpu_pods=None),
        wanted=wanted(upgrade="drain"),
        memory=OURS,
    ),
    Case(
        "a process on the host",
        State.WAITING,
        "GpuInUse",
        Step.WAIT,
        "Xorg (7)",
        host=installed(OLD, cached=(SHA[NEW],), gpu_processes=(Process("Xorg", 7),)),
        node=OPEN,
        memory=OURS,
    ),
    Case(
        "a process on the host opens the gate",
        State.WAITING,
        "GpuInUse",
        Step.UNGATE,
        "Xorg (7)",
        host=installed(OLD, cached=(SHA[NEW],), gpu_processes=(Process("Xorg", 7),)),
        memory=OURS,
    ),
    Case(
        "a process behind the gate of a driver that does not serve",
        State.WAITING,
        "GpuInUse",
        Step.WAIT,
        "Xorg (7)",
        host=installed(OLD, cached=(SHA[NEW],), gpu_processes=(Process("Xorg", 7),)),
    ),
    Case(
        "a module of others uses the driver",
        State.WAITING,
        "GpuInUse",
        Step.WAIT,
        "module gdrdrv",
        host=installed(OLD, cached=(SHA[NEW],), kernel_users=("gdrdrv",)),
        node=OPEN,
        memory=OURS,
    ),
    Case(
        "processes of operands end behind the gate",
        State.GATING,
        "Gate",
        Step.GATE,
        host=installed(OLD, cached=(SHA[NEW],), gpu_processes=(Process("nv-hostengine", 8, "t"),)),
        node=replace(OPEN, operands=(Pod("gpu-operator", "dcgm-1", "t", "nvidia-dcgm"),)),
        memory=OURS,
    ),
    Case(
        "processes of operands that have just gone",
        State.WAITING,
        "GpuInUse",
        Step.WAIT,
        "nv-hostengine (8)",
        host=installed(OLD, cached=(SHA[NEW],), gpu_processes=(Process("nv-hostengine", 8, "t"),)),
        memory=OURS,
    ),
    Case(
        "processes of Pods that do not end",
        State.WAITING,
        "GpuInUse",
        Step.UNGATE,
        "nv-hostengine (8)",
        host=installed(OLD, cached=(SHA[NEW],), gpu_processes=(Process("nv-hostengine", 8, "t"),)),
        memory=replace(OURS, gated_at=NOW - 400),
    ),
    Case(
        "no pod is evicted for a driver that can not be unloaded",
        State.BLOCKED,
        "UnloadFailed",
        Step.WAIT,
        "training/job-1",
        host=installed(OLD, cached=(SHA[NEW],)),
        node=replace(OPEN, gpu_pods=(POD,)),
        wanted=wanted(upgrade="drain"),
        memory=replace(OURS, failures={"unload": Failure(9, 9, "module nvidia_uvm is in use", NOW - 1, tired=True)}),
    ),
    Case(
        "a marker that can not be removed closes no gate",
        State.UNGATING,
        "Ungate",
        Step.UNGATE,
        host=working(prebaked="unknown"),
        memory=Memory(gated_at=NOW - 30, failures={"clean": Failure(3, 3, "Read-only file system", NOW + 60)}),
    ),
    Case(
        "a driver that could not be unloaded serves until the next attempt",
        State.WAITING,
        "UnloadFailed",
        Step.UNGATE,
        "remains in service",
        host=installed(OLD, cached=(SHA[NEW],)),
        memory=replace(OURS, failures={"unload": Failure(2, 2, "module nvidia_uvm is in use", NOW + 60)}),
    ),
    Case(
        "another attempt at unloading is no other reason",
        State.GATING,
        "UnloadFailed",
        Step.GATE,
        host=installed(OLD, cached=(SHA[NEW],)),
        node=OPEN,
        memory=replace(OURS, failures={"unload": Failure(9, 9, "module nvidia_uvm is in use", NOW - 1, tired=True)}),
    ),
    Case(
        "operands on their way out",
        State.GATING,
        "PodsLeaving",
        Step.WAIT,
        host=installed(OLD, cached=(SHA[NEW],)),
        node=replace(CLOSED, operands=(Pod("gpu-operator", "toolkit-1", "t", TOOLKIT),)),
        memory=OURS,
    ),
    Case(
        "operands that linger",
        State.GATING,
        "PodsLeaving",
        Step.DELETE_OPERAND,
        host=installed(OLD, cached=(SHA[NEW],)),
        node=replace(CLOSED, operands=(Pod("gpu-operator", "toolkit-1", "t", TOOLKIT),)),
        memory=replace(OURS, gated_at=NOW - 400),
    ),
    Case(
        "unknown checksum of the new build leaves the old one in service",
        State.BLOCKED,
        "UnknownChecksum",
        Step.WAIT,
        "remains in service",
        host=installed(OLD),
        node=OPEN,
        wanted=wanted(sha256=""),
        memory=OURS,
    ),
    Case(
        "a gate that is closed for nothing opens",
        State.BLOCKED,
        "UnknownChecksum",
        Step.UNGATE,
        host=installed(OLD),
        wanted=wanted(sha256=""),
        memory=OURS,
    ),
    Case(
        "installs failed, old build cached",
        State.INSTALLING,
        "RollingBack",
        Step.WAIT,
        OLD,
        host=replace(CACHED, configured=True, cached=(SHA[NEW], SHA[OLD])),
        memory=failing(Step.INSTALL, "no compiler", final=True, previous=wanted(OLD).target),
    ),
    Case(
        "rolled back",
        State.BLOCKED,
        "RolledBack",
        Step.WAIT,
        "change the settings",
        host=installed(OLD),
        node=OPEN,
        memory=Memory(rolled_back="no compiler", previous=wanted(OLD).target, driver_since=NOW - 9),
    ),
    # The API server.
    Case("silent before any change", State.WAITING, "ApiUnreachable", Step.WAIT, node=None),
    Case("silent, driver proven", State.READY, "DriverVerified", Step.WAIT, host=working(), node=None, memory=Memory()),
    Case(
        "silent, gate closed", State.WAITING, "ApiUnreachable", Step.WAIT, "remains closed", host=working(), node=None
    ),
    # Operands that looked too early.
    Case(
        "validator waits forever",
        State.KICKING,
        "RestartingOperands",
        Step.DELETE_OPERAND,
        "validator-1",
        host=working(driver_ready="absent"),
        node=replace(
            OPEN, operands=(Pod("gpu-operator", "validator-1", "v", VALIDATOR, looking=True, begun=NOW - 60),)
        ),
        memory=Memory(driver_since=NOW - 30),
    ),
    Case(
        "validator that has just begun",
        State.READY,
        "DriverVerified",
        Step.WAIT,
        host=working(driver_ready="absent"),
        node=replace(OPEN, operands=(Pod("gpu-operator", "validator-1", "v", VALIDATOR, looking=True, begun=NOW - 5),)),
        memory=Memory(driver_since=NOW - 30),
    ),
    Case(
        "toolkit that found the driver in a container",
        State.KICKING,
        "RestartingOperands",
        Step.DELETE_OPERAND,
        host=working(driver_ready="container"),
        node=replace(OPEN, operands=(Pod("gpu-operator", "toolkit-1", "t", TOOLKIT, begun=NOW - 5),)),
        memory=Memory(driver_since=NOW - 30),
    ),
    Case(
        "device plugin from before the change",
        State.KICKING,
        "RestartingOperands",
        Step.DELETE_OPERAND,
        host=working(),
        node=replace(
            OPEN, operands=(Pod("gpu-operator", "plugin-1", "p", "nvidia-device-plugin-daemonset", begun=NOW - 60),)
        ),
        memory=Memory(driver_since=NOW - 30, changed=True),
    ),
    # Removal.
    Case("removal unloads", State.CLEANING, "Unload", Step.UNLOAD, host=working(), wanted=wanted(present=False)),
    Case("driver removed, options left", State.CONFIGURING, "Configure", Step.CONFIGURE, wanted=wanted(present=False)),
    Case(
        "removed",
        State.REMOVED,
        "Removed",
        Step.WAIT,
        host=replace(FRESH, configured=True),
        wanted=wanted(present=False),
    ),
]


@pytest.mark.parametrize("case", CASES, ids=[case.name.replace(" ", "-") for case in CASES])
def test_decision(case: Case) -> None:
    plan = case.plan()
    assert (plan.state, plan.reason, plan.step) == (case.state, case.reason, case.step), plan.sentence
    assert case.says in plan.sentence
    assert len(plan.sentence) > 20


def test_every_state_is_reached_by_a_decision() -> None:
    assert {case.plan().state for case in CASES} | {State.INSPECTING} == set(State)


def test_no_gate_remains_closed_without_a_reason() -> None:
    """On a gated node every plan says what is going on, and a blocked one what that means for pods."""
    for case in CASES:
        plan = case.plan()
        if plan.state is State.BLOCKED and plan.reason != "RolledBack":
            assert "No GPU Pod can start" in plan.sentence or "remains in service" in plan.sentence, case.name


def test_a_proven_driver_is_never_changed() -> None:
    plan = decide(installed(), OPEN, wanted(), Memory(), NOW)
    assert plan.proven
    assert set(plan.steps) == {Step.WAIT}
