"""Rules about the driver of a pool's nodes."""

from __future__ import annotations

import datetime
from collections.abc import Iterator

from physical_ai.catalog import sources
from physical_ai.catalog.compat.lifecycle import judge_branch
from physical_ai.catalog.compat.vgpu import judge_guest
from physical_ai.catalog.gpu_load import driver_branches
from physical_ai.catalog.gpu_lookup import branch_number, builds, driver_branch, driver_build
from physical_ai.catalog.gpu_rows import DriverKind, NodeImage, OperatorRelease
from physical_ai.catalog.lookup import UnknownName
from physical_ai.findings import Finding, Severity

PRECOMPILED = {"22.04": (580, 595), "24.04": (580, 595)}
"""Driver branches with images precompiled for the azure kernel, by Ubuntu release (NVIDIA GPU Operator docs, platform
support, 26.7).
"""
PRECOMPILED_DOCS = "NVIDIA GPU Operator docs, precompiled-drivers"
MIG_BUG = "NVIDIA/gpu-operator#1361"


def judge_driver(
    release: OperatorRelease,
    image: NodeImage,
    driver: str | None,
    kind: DriverKind,
    today: datetime.date,
    *,
    precompiled: bool,
    mig: bool,
    gpu: str | None = None,
) -> Iterator[Finding]:
    """Findings of all rules about the driver of a pool's nodes; none if this project does not install the driver. `gpu`
    is the pool's GPU model.
    """
    if driver is None:
        return
    if kind == "datacenter":
        yield from _image(release, image)
    if precompiled:
        yield from _precompiled(image, driver, today)
        return
    if kind == "grid" and (driver in builds("grid") or driver not in builds("datacenter")):
        yield from judge_guest(driver, gpu, image)
        if driver not in builds("grid"):
            return
    try:
        branch = driver_branch(kind, driver)
        build = driver_build(kind, driver)
    except UnknownName as error:
        yield _unknown(release, driver, kind, error)
        return
    yield from judge_branch(branch, today)
    if build.mig_bug:
        message = f"With driver {driver} GPU Pods remain Pending on nodes that mix MIG and full GPUs."
        fix = f"Use {release.default_driver} or another build from branch 580 on; within 570, 570.86.15."
        yield Finding(Severity.ERROR if mig else Severity.WARNING, "driver-mig-bug", "driver", message, fix, MIG_BUG)
    if kind == "datacenter" and driver not in release.drivers:
        message = f"{release.version} does not list driver {driver}."
        fix = f"Listed: {', '.join(release.drivers)}."
        yield Finding(Severity.WARNING, "driver-unlisted", "driver", message, fix, release.source)


def _unknown(release: OperatorRelease, driver: str, kind: DriverKind, error: UnknownName) -> Finding:
    near = f"Did you mean {error.suggestion}?" if error.suggestion else f"Such as {release.default_driver}."
    other: DriverKind = "grid" if kind == "datacenter" else "datacenter"
    if driver in builds(other):
        what = "a GRID driver, for vGPUs" if other == "grid" else "a datacenter driver, for full GPUs"
        message, rule = f"{driver} is {what}; this pool needs the other kind.", "driver-kind"
        return Finding(
            Severity.ERROR, rule, "driver", message, near, driver_branches()[other, branch_number(driver)].source
        )
    if error.name == driver and kind == "datacenter":
        # Builds newer than the catalogue are common, and their image may well exist, so this is only a warning.
        return Finding(Severity.WARNING, "driver-unlisted", "driver", str(error), near, sources.DRIVERS)
    return Finding(Severity.ERROR, "driver-unknown", "driver", str(error), near, sources.DRIVERS)


def _image(release: OperatorRelease, image: NodeImage) -> Iterator[Finding]:
    if not image.driver_images:
        message = f"NVIDIA publishes no driver images for {image.name}."
        yield Finding(Severity.ERROR, "driver-no-image", "node image", message, "osSku: Ubuntu", image.source)
    elif image.release not in release.ubuntu:
        message = f"{release.version} has no driver images for {image.name}."
        fix = f"Node images it has: Ubuntu {', '.join(release.ubuntu)}."
        yield Finding(Severity.ERROR, "driver-no-image", "node image", message, fix, release.source)


def _precompiled(image: NodeImage, driver: str, today: datetime.date) -> Iterator[Finding]:
    number = branch_number(driver)
    if driver != str(number):
        message = f"Precompiled drivers are chosen by branch alone, not by build {driver}."
        yield Finding(
            Severity.ERROR, "precompiled-version", "driver", message, f'version: "{number}"', PRECOMPILED_DOCS
        )
    known = PRECOMPILED.get(image.release, ())
    if number not in known:
        message = f"No precompiled drivers of branch {number} exist for the azure kernel of {image.name}."
        fix = f"Branches: {', '.join(map(str, known))}." if known else "precompiled: false"
        yield Finding(Severity.ERROR, "precompiled-branch", "driver", message, fix, PRECOMPILED_DOCS)
    elif branch := driver_branches().get(("datacenter", number)):
        yield from judge_branch(branch, today)
    message = "Each kernel needs its own driver image; until NVIDIA has built it, new nodes get no driver."
    yield Finding(Severity.WARNING, "precompiled-kernel", "driver", message, "precompiled: false", PRECOMPILED_DOCS)
