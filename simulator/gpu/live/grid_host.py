"""The host of a simulated GRID node, which the driver agent observes and changes.

The agent's code is the deployed code; only the host is simulated. An annotation of the node records the driver that
works on the host, as on every simulated node. The rest of the host's state (cache, jobs, files) is kept in this process
only. Its types belong to the simulator, so another version of the agent can read the same state.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace

from simulator.cluster.names import HOST_DRIVER, HOST_MODULES
from simulator.gpu.live.grid_program import Program, Target, Wanted, Word
from simulator.gpu.names import LEGACY_MOUNT
from simulator.gpu.node_state import MARKER, NodeState

MODULES = ("nvidia", "nvidia_uvm", "nvidia_modeset")
FETCH, REMOVE, INSTALL = "fetch", "remove", "install"
SECONDS = {FETCH: 40.0, REMOVE: 20.0, INSTALL: 180.0}
"""Duration, in simulated seconds, of the steps that are jobs: a download of 300 MB, a removal, and a build on 24 or
more cores (assumed).
"""
Annotate = Callable[[str, "str | None"], None]
"""Function that sets an annotation of the simulated node to a value. Arguments: the annotation's key, and the value;
None removes the annotation.
"""


@dataclass(frozen=True)
class Record:
    """Record, on the host, of the GRID driver that the agent has installed."""

    version: str
    sha256: str
    module_type: str
    kernel: str


@dataclass(frozen=True)
class Job:
    """A long-running job on the host. `started` and `ended`: simulated seconds since the epoch."""

    id: str
    step: str
    target: Target
    started: float
    ended: float = 0.0

    @property
    def is_running(self) -> bool:
        return not self.ended


@dataclass
class Disk:
    """Files that the agent has left on the host's disk: record of the installation, configuration, parameters of the
    kernel modules, and digests of the downloads.
    """

    record: Record | None = None
    configured: bool = False
    parameters: dict[str, dict[str, str]] = field(default_factory=dict[str, dict[str, str]])
    cached: set[str] = field(default_factory=set[str])


class SimulatedHost:
    """Implementation of the agent's interface `Host` that observes and changes only the state of a simulated node."""

    def __init__(self, annotate: Annotate, program: Program) -> None:
        self._annotate = annotate
        self.program = program
        self.disk = Disk()
        self._job: Job | None = None
        self._loaded = False
        self._now = 0.0
        self._state: NodeState | None = None
        self._kernel, self._boots = "", ""

    def look(self, state: NodeState, kernel: str, boots: str, now: float) -> None:
        """Updates the host to the time `now` (simulated seconds since the epoch), and ends the jobs whose duration is
        over.
        """
        self._state, self._kernel, self._boots, self._now = state, kernel, boots, now
        if self._loaded and not state.host.driver:
            # Something else removed the driver, its files included.
            self._loaded, self.disk.record = False, None
        job = self._job
        if job is not None and job.is_running and now >= job.started + SECONDS[job.step]:
            self._finish(job)

    @property
    def is_working(self) -> bool:
        """True if a job is running on the host."""
        return self._job is not None and self._job.is_running

    def inspect(self, wanted: Wanted) -> object:
        facts = self.program.facts
        state = self._seen()
        driver = state.host.driver
        record = self.disk.record
        installed = driver or (record.version if record else "")
        own = record if record is not None and record.version == installed else None
        flavour = "proprietary" if own is not None and own.module_type == "proprietary" else "open"
        module = facts.Module(driver, flavour)
        system = state.os
        split = next((index for index, each in enumerate(system) if each.isdigit()), len(system))
        verdict = "absent"
        if state.driver_root:
            verdict = "host" if state.driver_root == "/" else "container"
        return facts.HostFacts(
            kernel=self._kernel,
            system=f"{system[:split]} {system[split:]}",
            boot_id=f"boot-{self._boots}",
            gpus=tuple(
                facts.Gpu(f"{index + 1:04x}:00:00.0", f"10de:{state.hardware.pci_device}")
                for index in range(state.hardware.gpus)
            ),
            secure_boot=state.hardware.secure_boot,
            loaded=dict.fromkeys(MODULES, module) if driver else {},
            on_disk=facts.Module(installed, flavour) if installed else None,
            library=installed,
            smi=self._smi(driver, installed),
            parameters={key: dict(value) for key, value in self.disk.parameters.items()} if driver else {},
            record=facts.Record(**asdict(own)) if own is not None else None,
            gridd="active" if driver else "inactive" if installed else "missing",
            configured=self.disk.configured,
            gridd_configured=self.disk.configured,
            legacy_marker=MARKER in state.files and state.driver_pod is None,
            legacy_mount="root" if state.host.bind_mount else "none",
            driver_ready=verdict,
            cached=tuple(sorted(self.disk.cached)),
            job=self._job_facts(),
        )

    def _job_facts(self) -> object:
        job = self._job
        if job is None:
            return None
        given = job.target
        target = self.program.target(given.version, given.sha256, given.module_type, given.urls)
        state = "running" if job.is_running else "succeeded"
        step = self.program.step(job.step)
        return self.program.facts.Job(job.id, step, target, state, started=job.started, ended=job.ended)

    def perform(self, step: Word, target: Target, wanted: Wanted, job_id: str) -> None:
        if step.value in SECONDS:
            self._job = Job(job_id, step.value, target, self._now)
            return
        match step.value:
            case "configure":
                self.disk.configured = True
            case "unload":
                self._loaded = False
                self._annotate(HOST_DRIVER, None)
            case "load":
                self._load(wanted)
            case "clean":
                self._annotate(LEGACY_MOUNT, None)
            case "mark-legacy":
                self._annotate(LEGACY_MOUNT, "true")
            case other:
                raise self._error(f"the simulated host cannot {other}")

    def _error(self, text: str) -> Exception:
        return self.program.facts.HostError(text)

    def _load(self, wanted: Wanted) -> None:
        if self.disk.record is None:
            raise self._error("modprobe: FATAL: Module nvidia not found in directory /lib/modules")
        if self._seen().hardware.secure_boot:
            raise self._error("modprobe: ERROR: could not insert 'nvidia': Key was rejected by service")
        self.disk.parameters = {
            module: {key: _shown(value) for key, value in given.items()}
            for module, given in wanted.module_parameters.items()
        }
        closed = self.disk.record.module_type == "proprietary"
        self._annotate(HOST_MODULES, "proprietary" if closed else None)
        self._annotate(HOST_DRIVER, self.disk.record.version)
        self._loaded = True

    def _finish(self, job: Job) -> None:
        if job.step == FETCH:
            self.disk.cached.add(job.target.sha256)
        elif job.step == REMOVE:
            self.disk.record = None
        else:
            self.disk.record = Record(job.target.version, job.target.sha256, job.target.module_type, self._kernel)
        self._job = replace(job, ended=job.started + SECONDS[job.step])

    def _smi(self, driver: str, installed: str) -> object:
        facts = self.program.facts
        if not driver:
            return facts.Smi(found=bool(installed))
        state = self._seen()
        cut = state.hardware.mig[0]
        instances = sum(len(each) for each in state.hardware.mig if each is not None)
        return facts.Smi(
            found=True,
            ran=True,
            version=driver,
            devices=state.hardware.gpus,
            mig="disabled" if cut is None else "enabled",
            mig_devices=instances,
            licence="unlicensed" if state.faults.unlicensed else "licensed",
        )

    def _seen(self) -> NodeState:
        if self._state is None:
            raise self._error("the host has not been observed")
        return self._state


def _shown(value: str) -> str:
    """A module parameter in the form in which the kernel shows it: booleans as Y and N."""
    return {"1": "Y", "0": "N"}.get(value, value)
