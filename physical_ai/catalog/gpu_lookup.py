"""Lookup of rows of the GPU software stack by name, and comparison of versions."""

from __future__ import annotations

import re

from physical_ai.catalog.gpu_load import (
    driver_branches,
    mig_models,
    node_images,
    operator_releases,
    runtime_traits,
    vgpu_models,
)
from physical_ai.catalog.gpu_rows import (
    DriverBranch,
    DriverBuild,
    DriverKind,
    MigModel,
    NodeImage,
    OperatorRelease,
    RuntimeTrait,
    VgpuModel,
)
from physical_ai.catalog.lookup import UnknownName, kubernetes_minor, nearest

Version = tuple[int, ...]


def version(text: str) -> Version:
    """Numbers of a version, for comparison: `v26.7.0` is (26, 7, 0), `1.17.8-ubuntu20.04` is (1, 17, 8).

    Raises ValueError if the text does not begin with a number.
    """
    match = re.match(r"v?(\d+(?:\.\d+)*)", text)
    if match is None:
        raise ValueError(f"'{text}' is not a version")
    return tuple(int(part) for part in match[1].split("."))


def within(text: str, bounds: tuple[str, str]) -> int:
    """Position of a version relative to a range of minors: below (-1), within (0) or above (1).

    Patches of the upper minor are within.
    """
    number = version(text)
    low, high = version(bounds[0]), version(bounds[1])
    if number < low:
        return -1
    return 1 if number[: len(high)] > high else 0


def operator_release(name: str) -> OperatorRelease:
    """The GPU Operator release of this name. Raises `UnknownName`."""
    release = operator_releases().get(name)
    if release is None:
        known = operator_releases()
        near = f"v{name}" if f"v{name}" in known else nearest(name, reversed(known)) or newest_release().version
        raise UnknownName("GPU Operator release", name, near)
    return release


def newest_release() -> OperatorRelease:
    """The newest GPU Operator release whose facts were all read from sources. If that release has an advisory, the
    release with the fix.
    """
    return fixed_release([release for release in operator_releases().values() if not release.unverified][-1])


def fixed_release(release: OperatorRelease) -> OperatorRelease:
    """The newest release that fixes an advisory on `release`; `release` itself if there is no advisory on it."""
    fixes = [advisory.fixed for advisory in release.advisories]
    return operator_release(max(fixes, key=version)) if fixes else release


def branch_number(driver: str) -> int:
    """Number of the branch that a driver build belongs to: `580` for `580.173.02`. Raises ValueError if the text does
    not begin with a number.
    """
    return version(driver)[0]


def driver_branch(kind: DriverKind, driver: str) -> DriverBranch:
    """The branch that a driver build belongs to. Raises `UnknownName`, with the nearest build as its suggestion."""
    branch = driver_branches().get((kind, branch_number(driver)))
    if branch is None:
        raise UnknownName(f"{_KIND[kind]} branch", str(branch_number(driver)), nearest(driver, builds(kind), 0.4))
    return branch


def driver_build(kind: DriverKind, driver: str) -> DriverBuild:
    """Row of one driver build. Raises `UnknownName`, with the nearest build as its suggestion."""
    build = builds(kind).get(driver)
    if build is None:
        same = [name for name in builds(kind) if name.startswith(f"{driver[:3]}.")]
        raise UnknownName(f"{_KIND[kind]} build", driver, nearest(driver, same, 0.0) or nearest(driver, builds(kind)))
    return build


_KIND: dict[DriverKind, str] = {"datacenter": "driver", "grid": "GRID driver"}


def builds(kind: DriverKind) -> dict[str, DriverBuild]:
    """All builds of a driver kind, by version, oldest branch first."""
    rows = [branch for branch in driver_branches().values() if branch.kind == kind]
    return {build.version: build for branch in rows for build in branch.builds}


def node_image(os_sku: str, kubernetes: str) -> NodeImage:
    """The node image of an osSku on a Kubernetes version. Raises `UnknownName` for an unknown version."""
    if os_sku == "AzureLinux":
        return next(image for image in node_images().values() if image.os == "AzureLinux")
    release = "22.04" if os_sku == "Ubuntu2204" else kubernetes_minor(kubernetes).ubuntu
    return node_images()[f"Ubuntu {release}"]


def toolkit_trait(toolkit: str) -> RuntimeTrait:
    """Traits of a version of the NVIDIA container toolkit."""
    return _trait("toolkit", toolkit)


def containerd_trait(containerd: str) -> RuntimeTrait:
    """Traits of a version of containerd."""
    return _trait("containerd", containerd)


def _trait(component: str, name: str) -> RuntimeTrait:
    """Row about a component at version `name`: the newest row that begins at this version or an older one. Versions
    older than all rows get the oldest row.
    """
    rows = [trait for trait in runtime_traits() if trait.component == component]
    return next((trait for trait in reversed(rows) if version(trait.since) <= version(name)), rows[0])


def mig_model(gpu_model: str) -> MigModel | None:
    """MIG profiles of a GPU model; None where none are known."""
    return mig_models().get(gpu_model)


def vgpu_model(gpu_model: str) -> VgpuModel | None:
    """Facts about a vGPU model on which the guest's driver depends; None for full GPUs."""
    return vgpu_models().get(gpu_model)
