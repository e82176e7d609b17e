"""Long work as a transient unit of the host, so that it outlives the pod that started it."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from grid_agent.facts import HostError, Job
from grid_agent.shell import Shell
from grid_agent.steps import Step
from grid_agent.store import STATE_DIR
from grid_agent.wanted import Target, Wanted

UNIT = "physical-ai-grid-driver"
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
        "--property=UMask=0077",
        "--property=OOMScoreAdjust=-500",
        "--property=EnvironmentFile=-/etc/environment",  # AKS writes a cluster's proxy to it
        *(f"--setenv={name}={value}" for name, value in environment.items()),
        "--",
        "/bin/bash",
        f"{place.scripts}/job.sh",
        job.step.value,
    )
    if not result.ok:
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
    except (KeyError, TypeError, ValueError):
        return None
    result = _result(shell, identity)
    if result is None and _runs(shell, started, document):
        return Job(identity, step, target, "running", started=started)
    result = result or _result(shell, identity)  # it may have ended between the two checks
    if result is None:
        return Job(identity, step, target, "vanished", started=started)
    code = int(result.get("code", 1))
    state: Literal["succeeded", "failed"] = "failed" if code else "succeeded"
    sentence, ended = str(result.get("sentence", "")), float(result.get("ended", 0))
    return Job(identity, step, target, state, code, sentence, started, ended)


def _result(shell: Shell, identity: str) -> dict[str, Any] | None:
    document = shell.read_json(f"{STATE_DIR}/result.json")
    return document if document and document.get("id") == identity else None


def _runs(shell: Shell, started: float, document: dict[str, Any]) -> bool:
    shown = shell.run("systemctl", "show", f"{UNIT}.service", "--property=ActiveState")
    if not shown.ok:  # systemd does not answer: rather wait than start a second one
        return time.time() - started < 2 * GRACE or (shown.code != 0 and not document)
    return shown.out.strip().removeprefix("ActiveState=") in ("active", "activating", "deactivating", "reloading")


def cached(shell: Shell) -> tuple[str, ...]:
    """Checksums of installers that were complete when the fetch job stored them."""
    return tuple(sorted(path.stem for path in shell.path(f"{STATE_DIR}/cache").glob("*.run")))


def as_host_path(root: Path, path: Path) -> str:
    """A path below the root as commands under chroot see it."""
    return "/" + str(path.relative_to(root)).lstrip("/")
