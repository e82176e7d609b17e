"""The real host: what the Protocol `Host` promises, by files and commands."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Literal

from grid_agent import configure, inspection, jobs, modules
from grid_agent.facts import HostError, HostFacts, Job, Smi
from grid_agent.shell import Shell
from grid_agent.smi import module_from, smi_from
from grid_agent.steps import JOBS, Step
from grid_agent.store import STATE_DIR, Store, program
from grid_agent.wanted import Target, Wanted

RECORD = f"{STATE_DIR}/installed.json"
HALF = f"{STATE_DIR}/installing"


class RealHost:
    """The host below `root`."""

    def __init__(self, root: str, package: Path, scripts: Path) -> None:
        self.shell = Shell(root)
        self.store = Store(root)
        self.program = program(package, scripts)
        """As of the process's start: its jobs run scripts of its own version, whatever happens to the files."""
        self.smi_age = 0.0
        """Seconds for which an answer of nvidia-smi may be used again, as long as it was a good one."""
        self._smi: tuple[float, Smi] = (0.0, Smi())

    def inspect(self, wanted: Wanted) -> HostFacts:
        shell = self.shell
        shell.seconds = wanted.timings.command_seconds
        job = jobs.found(shell)  # first: what follows is then not older than its end
        kernel = shell.run("uname", "-r").out.strip()
        loaded, gpus = inspection.loaded(shell), tuple(inspection.gpus(shell))
        return HostFacts(
            kernel=kernel,
            architecture=shell.run("uname", "-m").out.strip(),
            system=inspection.system(shell),
            boot_id=(shell.read("/proc/sys/kernel/random/boot_id") or "").strip(),
            gpus=gpus,
            secure_boot=inspection.secure_boot(shell),
            usr_writable=all(inspection.writable(shell.path(path)) for path in ("/usr", "/lib/modules")),
            free_bytes=inspection.free_bytes(self.store.folder),
            headers=inspection.has_headers(shell, kernel),
            compiler=inspection.has_compiler(shell),
            nouveau=inspection.is_loaded(shell, "nouveau"),
            loaded=loaded,
            on_disk=module_from(shell.run("modinfo", "-k", kernel, "nvidia")),
            library=inspection.library(shell),
            smi=self._asked("nvidia" in loaded),
            parameters=inspection.parameters(shell, loaded),
            record=inspection.record(shell, RECORD),
            half_install=shell.path(HALF).exists(),
            prebaked=inspection.prebaked(shell),
            packaged=inspection.packaged(shell),
            gridd=self._gridd(),
            configured=configure.is_configured(shell, wanted),
            gridd_configured=configure.is_gridd_configured(shell, wanted),
            legacy_marker=shell.path(inspection.LEGACY_MARKER).exists(),
            legacy_mount=inspection.legacy_mount(shell),
            driver_ready=inspection.driver_ready(shell),
            gpu_processes=inspection.gpu_processes(shell) if "nvidia" in loaded else (),
            kernel_users=inspection.kernel_users(shell, loaded),
            missing_nodes=inspection.missing_nodes(shell, len(gpus)) if "nvidia" in loaded else (),
            cached=jobs.cached(shell),
            job=job,
        )

    def perform(self, step: Step, target: Target, wanted: Wanted, job_id: str) -> None:
        self.shell.seconds = wanted.timings.command_seconds
        self._smi = (0.0, Smi())
        if step in JOBS:
            self._start(step, target, wanted, job_id)
        elif step is Step.CLEAN:
            on_disk = module_from(self.shell.run("modinfo", "-k", self._kernel(), "nvidia"))
            modules.clean(self.shell, ours=on_disk is not None and on_disk.version == target.version)
        elif step is Step.UNLOAD:
            modules.unload(self.shell, wanted.persistence)
        elif step is Step.CONFIGURE:
            configure.configure(self.shell, wanted)
        elif step is Step.LOAD:
            modules.load(self.shell, len(tuple(inspection.gpus(self.shell))), wanted.persistence)
        elif step is Step.PERSIST:
            modules.persist(self.shell)
        elif step is Step.MARK_LEGACY:
            modules.mark_legacy(self.shell)
        else:
            raise HostError(f"{step.value} is nothing the host can do")

    def _start(self, step: Step, target: Target, wanted: Wanted, job_id: str) -> None:
        try:
            folder = self.store.own_copy(self.program)
        except OSError as error:
            raise HostError(f"{error.filename} can't be written: {error.strerror}") from error
        scripts = jobs.as_host_path(self.shell.root, folder / "host")
        record = inspection.record(self.shell, RECORD)
        keep = (wanted.sha256, *((record.sha256,) if record else ()), *self._previous())
        job = Job(job_id, step, target, "running", started=time.time())
        jobs.start(self.shell, job, wanted, jobs.Place(scripts, self._kernel(), keep))

    def _previous(self) -> tuple[str, ...]:
        """Builds that a rollback may need: a fetch must not clear them out of the cache."""
        memory = self.store.load()
        return tuple(target.sha256 for target in (memory.verified, memory.previous) if target)

    def _kernel(self) -> str:
        return self.shell.run("uname", "-r").out.strip()

    def _gridd(self) -> Literal["active", "inactive", "missing"]:
        if not inspection.is_program(self.shell.path("/usr/bin/nvidia-gridd")):
            return "missing"
        return "active" if self.shell.run("systemctl", "is-active", configure.GRIDD_UNIT).ok else "inactive"

    def _asked(self, loaded: bool) -> Smi:
        """nvidia-smi's answer. It is not run while no module is loaded, because it would load whichever is on disk."""
        if not inspection.is_program(self.shell.path("/usr/bin/nvidia-smi")):
            return Smi()
        if not loaded:
            return Smi(found=True, error="module nvidia is not loaded")
        when, smi = self._smi
        if smi.ran and smi.licence == "licensed" and time.monotonic() - when < self.smi_age:
            return smi
        # The XML: names of users' processes, which it prints too, cannot take the place of its own lines there.
        query = self.shell.run("nvidia-smi", "-q", "-x")
        listing = self.shell.run("nvidia-smi", "-L") if query.ok else query
        self._smi = (time.monotonic(), smi_from(query, listing))
        return self._smi[1]
