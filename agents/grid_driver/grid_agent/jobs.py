"""Long work as a transient unit of the host, so that it outlives the pod that started it."""

from __future__ import annotations

import fcntl
import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from grid_agent.facts import HostError, Job
from grid_agent.shell import Shell
from grid_agent.steps import Step
from grid_agent.store import STATE_DIR
from grid_agent.wanted import Target, Wanted

UNIT = "physical-ai-grid-driver"
UNREADABLE = 1
"""Exit code of a job whose result can't be read."""
GRACE = 60.0
"""Seconds systemd waits for a job to end itself at its time limit."""


def seconds_of(step: Step, wanted: Wanted) -> float:
    timings = wanted.timings
    return {Step.FETCH: timings.fetch_seconds, Step.REMOVE: timings.remove_seconds}.get(step, timings.install_seconds)


@dataclass(frozen=True)
class Place:
    """What a job has to know of its host."""

    scripts: str
    """Folder of job.sh, as the host sees it."""
    kernel: str
    keep: tuple[str, ...]
    """Checksums of builds that stay in the cache."""


def start(shell: Shell, job: Job, wanted: Wanted, place: Place) -> None:
    """Write down the job, then start it. Raises HostError."""
    target, seconds, timings, kernel = job.target, seconds_of(job.step, wanted), wanted.timings, place.kernel
    document = {
        "id": job.id,
        "step": job.step.value,
        "version": target.version,
        "sha256": target.sha256,
        "module_type": target.module_type,
        "urls": target.urls,
        "packages": [package.__dict__ for package in wanted.packages if package.kernel in ("", kernel)],
        "stall_seconds": timings.stall_seconds,
        "keep": sorted({target.sha256, *place.keep} - {""}),
        "started": job.started,
        "seconds": seconds,
    }
    try:
        shell.write(f"{STATE_DIR}/job.json", json.dumps(document, indent=1), 0o600)
    except OSError as error:
        raise HostError(f"{STATE_DIR}/job.json can't be written: {error.strerror}") from error
    environment = {
        "GRID_STATE": STATE_DIR,
        "GRID_JOB": job.id,
        "GRID_VERSION": target.version,
        "GRID_SHA256": target.sha256,
        "GRID_MODULE_TYPE": target.module_type,
        "GRID_KERNEL": kernel,
        "GRID_PRESENT": "1" if wanted.present else "0",
        "GRID_DKMS": "1" if wanted.dkms else "0",
        "GRID_PACKAGE_SOURCE": wanted.package_source,
        "GRID_APT_LOCK_SECONDS": f"{timings.apt_lock_seconds:g}",
        "GRID_SECONDS": f"{seconds:g}",
    }
    result = shell.run(
        "systemd-run",
        f"--unit={UNIT}",
        "--collect",
        "--quiet",
        f"--description=GRID driver {target.version}: {job.step.value}",
        f"--property=RuntimeMaxSec={seconds + GRACE:g}",
        "--property=TimeoutStopSec=30",
        "--property=UMask=0022",
        "--property=OOMScoreAdjust=-500",
        "--property=EnvironmentFile=-/etc/environment",  # AKS writes a cluster's proxy to it
        *(f"--setenv={name}={value}" for name, value in environment.items()),
        "--",
        "/bin/bash",
        f"{place.scripts}/job.sh",
        job.step.value,
    )
    # The bus may answer too late, although the unit runs, or has ended by now.
    if not result.ok and not shell.path(log_of(job.id)).exists() and not _runs(shell):
        raise HostError(f"systemd-run failed: {result.complaint}")


def found(shell: Shell) -> Job | None:
    """The last job and its state."""
    document = shell.read_json(f"{STATE_DIR}/job.json")
    if document is None:
        return None
    try:
        target = Target(
            document["version"], document["sha256"], document["module_type"], tuple(document.get("urls", ()))
        )
        step, started, identity = Step(document["step"]), float(document["started"]), str(document["id"])
    except (KeyError, TypeError, ValueError, OverflowError):
        return None
    result = _result(shell, identity)
    if result is None and _runs(shell):
        return Job(identity, step, target, "running", started=started)
    result = result or _result(shell, identity)  # it may have ended between the two checks
    if result is None:
        # Without a log it never began, because the node or the agent ended first, or systemd refused it.
        log = shell.path(log_of(identity))
        return Job(identity, step, target, "vanished", started=started) if log.exists() else None
    code, sentence = result.get("code"), str(result.get("sentence", ""))
    if isinstance(code, bool) or not isinstance(code, int):
        code, sentence = UNREADABLE, f"its result.json has no exit code, but {code!r}"
    state: Literal["succeeded", "failed"] = "failed" if code else "succeeded"
    return Job(identity, step, target, state, code, sentence, started)


def log_of(identity: str) -> str:
    """The job's log, which it makes first of all."""
    return f"{STATE_DIR}/logs/{identity}.log"


def _result(shell: Shell, identity: str) -> dict[str, Any] | None:
    document = shell.read_json(f"{STATE_DIR}/result.json")
    return document if document and document.get("id") == identity else None


def _runs(shell: Shell) -> bool:
    """Whether systemd says so; where it does not answer, whether the job holds its lock."""
    shown = shell.run("systemctl", "show", f"{UNIT}.service", "--property=ActiveState")
    if not shown.ok:
        return _is_locked(shell.path(f"{STATE_DIR}/job.lock"))
    return shown.out.strip().removeprefix("ActiveState=") in ("active", "activating", "deactivating", "reloading")


def _is_locked(path: Path) -> bool:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(descriptor)
    return False


def cached(shell: Shell) -> tuple[str, ...]:
    """Checksums of installers that were complete when the fetch job stored them."""
    return tuple(sorted(path.stem for path in shell.path(f"{STATE_DIR}/cache").glob("*.run")))


def as_host_path(root: Path, path: Path) -> str:
    """A path below the root as commands under chroot see it."""
    return "/" + str(path.relative_to(root)).lstrip("/")
