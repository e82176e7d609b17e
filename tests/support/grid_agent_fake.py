"""In-memory host and cluster, which change as real ones would, for tests of the GRID agent's decisions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from grid_agent.facts import (
    GATE_LABELS,
    TOOLKIT,
    VALIDATOR,
    ClusterError,
    Condition,
    HostError,
    HostFacts,
    Job,
    Module,
    NodeFacts,
    Pod,
    Record,
    Smi,
)
from grid_agent.machine import advance
from grid_agent.main import pause
from grid_agent.memory import Memory, from_document, to_document
from grid_agent.steps import JOBS, State, Step
from grid_agent.wanted import Target, Timings, Wanted

NEW, OLD = "595.91.07", "580.105.08"
SHA = {NEW: "a" * 64, OLD: "b" * 64}
DEVICE_PLUGIN = "nvidia-device-plugin-daemonset"
LABEL_OF = {
    TOOLKIT: "nvidia.com/gpu.deploy.container-toolkit",
    VALIDATOR: "nvidia.com/gpu.deploy.operator-validator",
    DEVICE_PLUGIN: "nvidia.com/gpu.deploy.device-plugin",
}
HMM = {"nvidia_uvm": {"uvm_disable_hmm": "Y"}}


def wanted(version: str = NEW, **changes: Any) -> Wanted:
    given: dict[str, Any] = {"sha256": SHA.get(version, "c" * 64), "urls": ("https://mirror.example/grid.run",)}
    return Wanted(version, **{**given, "timings": Timings(), **changes})


def loaded(version: str, flavour: Literal["open", "proprietary"] = "open") -> dict[str, Module]:
    return {"nvidia": Module(version, flavour), "nvidia_uvm": Module(version), "nvidia_modeset": Module(version)}


def installed(version: str = NEW, **changes: Any) -> HostFacts:
    """Facts of a host on which this build works."""
    facts = HostFacts(
        loaded=loaded(version),
        on_disk=Module(version, "open"),
        library=version,
        smi=Smi(found=True, ran=True, version=version, devices=1, licence="licensed"),
        parameters=HMM,
        record=Record(version, SHA.get(version, "c" * 64), "open", HostFacts().kernel),
        gridd="active",
        configured=True,
        gridd_configured=True,
        driver_ready="host",
        cached=(SHA.get(version, "c" * 64),),
    )
    return replace(facts, **changes)


def bare(facts: HostFacts) -> HostFacts:
    """Facts of the same host without a driver."""
    return replace(
        facts,
        loaded={},
        on_disk=None,
        library="",
        smi=Smi(),
        parameters={},
        record=None,
        half_install=False,
        prebaked="",
        gridd="missing",
        gridd_configured=False,
    )


@dataclass
class FakeNode:
    """Host and cluster in one (`Host` and `ClusterApi`). A tick is one step of the agent and the pause after it."""

    facts: HostFacts = field(default_factory=HostFacts)
    wanted: Wanted = field(default_factory=wanted)
    labels: dict[str, str] = field(default_factory=lambda: dict.fromkeys(GATE_LABELS, "true"))
    annotations: dict[str, str] = field(default_factory=dict[str, str])
    operands: dict[str, Pod] = field(default_factory=dict[str, Pod])
    gpu_pods: tuple[Pod, ...] | None = ()
    memory: Memory = field(default_factory=Memory)
    now: float = 1_000_000.0
    fail: dict[Step, list[tuple[int, str]]] = field(default_factory=dict[Step, list[tuple[int, str]]])
    """Failures of the next attempts at a step, by step: exit code and text."""
    after: dict[Step, Callable[[HostFacts], HostFacts]] = field(
        default_factory=dict[Step, Callable[[HostFacts], HostFacts]]
    )
    """Function that spoils the host after a step has succeeded, by step."""
    api: ClusterError | None = None
    conditions: list[Condition] = field(default_factory=list[Condition])
    events: list[tuple[str, str, str]] = field(default_factory=list[tuple[str, str, str]])
    done: list[Step] = field(default_factory=list[Step])
    """Every step that was performed or started, in order."""
    path: list[tuple[State, Step, State]] = field(default_factory=list[tuple[State, Step, State]])
    deleted: list[str] = field(default_factory=list[str])
    _names: int = 0

    # The agent's view of the host.

    def inspect(self, wanted: Wanted) -> HostFacts:
        job = self.facts.job
        if job and job.state == "running" and self.now - job.started >= 10:
            self._end(job)
        return self.facts

    def perform(self, step: Step, target: Target, wanted: Wanted, job_id: str) -> None:
        self.done.append(step)
        if step in JOBS:
            assert not (self.facts.job and self.facts.job.state == "running"), "two jobs at once"
            self.facts = replace(self.facts, job=Job(job_id, step, target, "running", started=self.now))
            return
        if failures := self.fail.get(step):
            raise HostError(failures.pop(0)[1])
        self._change(step, target)

    def _end(self, job: Job) -> None:
        if failures := self.fail.get(job.step):
            code, sentence = failures.pop(0)
            half = self.facts.half_install or job.step is not Step.FETCH
            ended = replace(job, state="failed", code=code, sentence=sentence, ended=self.now)
            self.facts = replace(self.facts, job=ended, half_install=half)
            return
        self._change(job.step, job.target)
        self.facts = replace(self.facts, job=replace(job, state="succeeded", ended=self.now))

    def _change(self, step: Step, target: Target) -> None:
        facts, version = self.facts, target.version
        if step is Step.FETCH:
            facts = replace(facts, cached=(*facts.cached, target.sha256))
        elif step is Step.UNLOAD:
            smi = replace(facts.smi, ran=False, version="", error="module nvidia is not loaded")
            facts = replace(facts, loaded={}, nouveau=False, parameters={}, smi=smi)
        elif step is Step.REMOVE:
            facts = bare(facts)
        elif step is Step.INSTALL:
            facts = replace(
                facts,
                on_disk=Module(version, target.module_type),
                library=version,
                smi=Smi(found=True, error="module nvidia is not loaded"),
                record=Record(version, target.sha256, target.module_type, facts.kernel),
                gridd="inactive",
            )
        elif step is Step.CONFIGURE:
            facts = replace(facts, configured=True, gridd_configured=facts.on_disk is not None)
        elif step is Step.LOAD and facts.on_disk:
            there = facts.on_disk.version
            smi = Smi(found=True, ran=True, version=there, devices=1, licence="licensed")
            modules = loaded(there, "proprietary" if facts.on_disk.flavour == "proprietary" else "open")
            facts = replace(facts, loaded=modules, smi=smi, parameters=HMM, gridd="active")
        elif step is Step.PERSIST:
            facts = replace(facts, smi=replace(facts.smi, persistence=True))
        elif step is Step.CLEAN:
            facts = replace(facts, legacy_marker=False, legacy_mount="none", prebaked="")
        elif step is Step.MARK_LEGACY:
            facts = replace(facts, legacy_marker=True, legacy_mount="root")
        self.facts = self.after.get(step, lambda changed: changed)(facts)

    # The agent's view of the cluster.

    def observe(self) -> NodeFacts:
        self._ask()
        return NodeFacts("node-1", dict(self.labels), self.annotations, tuple(self.operands.values()), self.gpu_pods)

    def label(self, labels: Mapping[str, str]) -> None:
        self._ask()
        self.done.append(Step.UNGATE if "true" in labels.values() else Step.GATE)
        self.labels.update(labels)

    def delete(self, pod: Pod) -> None:
        self._ask()
        self.deleted.append(pod.app or pod.name)
        self.operands = {app: each for app, each in self.operands.items() if each.uid != pod.uid}
        self.gpu_pods = tuple(each for each in self.gpu_pods or () if each.uid != pod.uid)

    def evict(self, pod: Pod) -> None:
        if self.fail.get(Step.EVICT):
            raise ClusterError("refused", self.fail[Step.EVICT].pop(0)[1])
        self.delete(pod)

    def report(self, condition: Condition) -> None:
        self._ask()
        self.conditions.append(condition)

    def event(self, kind: Literal["Normal", "Warning"], reason: str, message: str) -> None:
        self._ask()
        self.events.append((kind, reason, message))

    def _ask(self) -> None:
        if self.api:
            raise self.api

    # What happens around the agent.

    def tick(self) -> Memory:
        """Performs one step of the agent. Its memory is written to JSON and read again, as on a real host."""
        before = self.memory.state
        self.memory = from_document(to_document(advance(self.memory, self, self, self.wanted, self.now)))
        step = Step(self.memory.upcoming[0]) if self.memory.upcoming else Step.WAIT
        self.path.append((before, step, self.memory.state))
        self.now += pause(self.memory, self.wanted)
        self._operate()
        return self.memory

    def run(self, *states: State, ticks: int = 3000) -> Memory:
        """Ticks until the node is in one of these states."""
        for _ in range(ticks):
            if self.tick().state in states:
                return self.memory
        raise AssertionError(f"still {self.memory.state.value} ({self.memory.reason}): {self.memory.sentence}")

    def run_until(self, reason: str, ticks: int = 3000) -> Memory:
        for _ in range(ticks):
            if self.tick().reason == reason:
                return self.memory
        raise AssertionError(f"never {reason}, but {self.memory.reason}: {self.memory.sentence}")

    def run_for(self, seconds: float) -> None:
        end = self.now + seconds
        while self.now < end:
            self.tick()

    def reboot(self, **changes: Any) -> None:
        smi = replace(self.facts.smi, ran=False, version="", error="module nvidia is not loaded")
        boot = f"{self.facts.boot_id}+"
        job = self.facts.job
        if job and job.state == "running":
            job = replace(job, state="vanished")
        gone = replace(self.facts, loaded={}, parameters={}, smi=smi, boot_id=boot, job=job, driver_ready="absent")
        gone = replace(gone, legacy_marker=False, legacy_mount="none")
        if gone.gridd == "active":
            gone = replace(gone, gridd="inactive")
        self.facts = replace(gone, **changes)
        self.operands = {}

    def _operate(self) -> None:
        """Acts as the operator and the kubelet do: Pods come and go with the labels, and look at the driver once."""
        works = self.facts.smi.ran
        for app, label in LABEL_OF.items():
            if self.labels.get(label) != "true":
                self.operands.pop(app, None)
            elif app not in self.operands:
                self._names += 1
                waits = not works and app in (TOOLKIT, VALIDATOR)
                name = f"{app}-{self._names}"
                self.operands[app] = Pod("gpu-operator", name, name, app, looking=waits, begun=self.now)
                if app in (TOOLKIT, VALIDATOR):
                    self.facts = replace(self.facts, driver_ready="host" if works else "absent")

    @property
    def gated(self) -> bool:
        return not any(self.labels.get(label) == "true" for label in GATE_LABELS)

    def serves(self, version: str) -> bool:
        """True if Pods can use this build: it works, the operands exist, and none of them waits forever."""
        pods = self.operands.values()
        return self.facts.smi.version == version and len(pods) == len(LABEL_OF) and not any(p.looking for p in pods)


ODD: tuple[Any, ...] = (None, True, -1, 1.5, 10**30, "", "soon", [], [1], ["x", None], {}, {"x": 1}, {"load": None})
"""Values that a broken state file may have in any field."""

GPU_POD = Pod("training", "job-1", "u-1", gpus=1)


def serving(version: str = OLD, **changes: object) -> FakeNode:
    """Node whose operands run, after the agent has installed and verified a build there."""
    fake = FakeNode(facts=installed(version), wanted=wanted(version))
    fake.run(State.READY)
    fake.run_for(60)
    fake.done.clear()
    fake.path.clear()
    fake.wanted = wanted(NEW, **changes)
    return fake
