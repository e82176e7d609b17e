"""The host of a simulated GRID node, as the driver agent finds and changes it.

The agent's own decisions run unchanged; what they look at and act on is simulated. Which driver works on the host
stands in the node's annotation, as for every node; the rest (cache, jobs, files) is remembered while this process runs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

from grid_agent.facts import Gpu, HostError, HostFacts, Job, Module, Record, Smi
from grid_agent.steps import JOBS, Step
from grid_agent.wanted import Target, Wanted
from physical_ai.simulator.cluster.names import HOST_DRIVER
from physical_ai.simulator.gpu.names import LEGACY_MOUNT
from physical_ai.simulator.gpu.node_state import MARKER, NodeState

MODULES = ("nvidia", "nvidia_uvm", "nvidia_modeset")
SECONDS = {Step.FETCH: 40.0, Step.REMOVE: 20.0, Step.INSTALL: 180.0}
"""Model seconds that jobs take: a download of 300 MB, and a build on 24 cores and more (believed)."""
Annotate = Callable[[str, "str | None"], None]
"""Changes an annotation of the node, in which its host is described; None removes it."""


@dataclass
class Disk:
    """What is on the host, loaded or not."""

    record: Record | None = None
    configured: bool = False
    parameters: dict[str, dict[str, str]] = field(default_factory=dict[str, dict[str, str]])
    cached: set[str] = field(default_factory=set[str])


class SimulatedHost:
    """Implements the agent's `Host`."""

    def __init__(self, annotate: Annotate) -> None:
        self._annotate = annotate
        self.disk = Disk()
        self._job: Job | None = None
        self._loaded = False
        self._now = 0.0
        self._state: NodeState | None = None
        self._kernel, self._boots = "", ""

    def look(self, state: NodeState, kernel: str, boots: str, now: float) -> None:
        """The node as it is at a moment (model seconds since the epoch); jobs that are due end."""
        self._state, self._kernel, self._boots, self._now = state, kernel, boots, now
        if self._loaded and not state.host.driver:
            # Somebody else took the driver away, its files included.
            self._loaded, self.disk.record = False, None
        job = self._job
        if job is not None and job.state == "running" and now >= job.started + SECONDS[job.step]:
            self._finish(job)

    @property
    def is_working(self) -> bool:
        """A job is under way, which ends by itself."""
        return self._job is not None and self._job.state == "running"

    def inspect(self, wanted: Wanted) -> HostFacts:
        state = self._seen()
        driver = state.host.driver
        record = self.disk.record
        installed = driver or (record.version if record else "")
        ours = record is not None and record.version == installed
        flavour: Literal["open", "proprietary"] = "proprietary" if ours and _is_proprietary(record) else "open"
        module = Module(driver, flavour)
        system = state.os
        split = next((index for index, each in enumerate(system) if each.isdigit()), len(system))
        verdict: Literal["absent", "host", "container"] = "absent"
        if state.driver_root:
            verdict = "host" if state.driver_root == "/" else "container"
        return HostFacts(
            kernel=self._kernel,
            system=f"{system[:split]} {system[split:]}",
            boot_id=f"boot-{self._boots}",
            gpus=tuple(
                Gpu(f"{index + 1:04x}:00:00.0", f"10de:{state.hardware.pci_device}")
                for index in range(state.hardware.gpus)
            ),
            secure_boot=state.hardware.secure_boot,
            loaded=dict.fromkeys(MODULES, module) if driver else {},
            on_disk=Module(installed, flavour) if installed else None,
            library=installed,
            smi=self._smi(driver, installed),
            parameters={key: dict(value) for key, value in self.disk.parameters.items()} if driver else {},
            record=record if record is not None and record.version == installed else None,
            gridd="active" if driver else "inactive" if installed else "missing",
            configured=self.disk.configured,
            gridd_configured=self.disk.configured,
            legacy_marker=MARKER in state.files and state.driver_pod is None,
            legacy_mount="root" if state.host.bind_mount else "none",
            driver_ready=verdict,
            cached=tuple(sorted(self.disk.cached)),
            job=self._job,
        )

    def perform(self, step: Step, target: Target, wanted: Wanted, job_id: str) -> None:
        if step in JOBS:
            self._job = Job(job_id, step, target, "running", started=self._now)
            return
        match step:
            case Step.CONFIGURE:
                self.disk.configured = True
            case Step.UNLOAD:
                self._loaded = False
                self._annotate(HOST_DRIVER, None)
            case Step.LOAD:
                self._load(wanted)
            case Step.CLEAN:
                self._annotate(LEGACY_MOUNT, None)
            case Step.MARK_LEGACY:
                self._annotate(LEGACY_MOUNT, "true")
            case _:
                raise HostError(f"{step.value} is nothing that a host does")

    def _load(self, wanted: Wanted) -> None:
        if self.disk.record is None:
            raise HostError("modprobe: FATAL: Module nvidia not found in directory /lib/modules")
        if self._seen().hardware.secure_boot:
            raise HostError("modprobe: ERROR: could not insert 'nvidia': Key was rejected by service")
        self.disk.parameters = {
            module: {key: _shown(value) for key, value in given.items()}
            for module, given in wanted.module_parameters.items()
        }
        self._annotate(HOST_DRIVER, self.disk.record.version)
        self._loaded = True

    def _finish(self, job: Job) -> None:
        if job.step is Step.FETCH:
            self.disk.cached.add(job.target.sha256)
        elif job.step is Step.REMOVE:
            self.disk.record = None
        else:
            self.disk.record = Record(job.target.version, job.target.sha256, job.target.module_type, self._kernel)
        ended = job.started + SECONDS[job.step]
        self._job = Job(job.id, job.step, job.target, "succeeded", started=job.started, ended=ended)

    def _smi(self, driver: str, installed: str) -> Smi:
        if not driver:
            return Smi(found=bool(installed))
        state = self._seen()
        cut = state.hardware.mig[0]
        instances = sum(len(each) for each in state.hardware.mig if each is not None)
        return Smi(
            found=True,
            ran=True,
            version=driver,
            devices=state.hardware.gpus,
            mig="disabled" if cut is None else "enabled",
            mig_devices=instances,
            licence="licensed",
        )

    def _seen(self) -> NodeState:
        if self._state is None:
            raise HostError("the host has not been looked at")
        return self._state


def _is_proprietary(record: Record | None) -> bool:
    return record is not None and record.module_type == "proprietary"


def _shown(value: str) -> str:
    """A module parameter as the kernel shows it: booleans as Y and N."""
    return {"1": "Y", "0": "N"}.get(value, value)
