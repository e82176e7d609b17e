"""Rules on the combination of software on the nodes of a GPU pool."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from physical_ai.catalog import sources
from physical_ai.catalog.compat.drivers import judge_driver
from physical_ai.catalog.compat.lifecycle import judge_kubernetes, judge_release
from physical_ai.catalog.compat.runtime import judge_runtime
from physical_ai.catalog.gpu_load import operator_releases
from physical_ai.catalog.gpu_lookup import fixed_release, newest_release, operator_release, within
from physical_ai.catalog.gpu_rows import DriverKind, NodeImage, OperatorRelease
from physical_ai.catalog.lookup import UnknownName
from physical_ai.findings import Finding, Severity

DriverOwner = Literal["NVIDIADriver", "ClusterPolicy"]


@dataclass(frozen=True)
class GpuStack:
    """Software on the nodes of a GPU pool. A version that is None is the version of the GPU Operator release or of the
    node image.
    """

    operator: str
    """GPU Operator release, such as `v26.7.0`."""
    kubernetes: str
    """Kubernetes minor or exact version."""
    image: NodeImage
    containerd: str | None = None
    toolkit: str | None = None
    runtime_config_source: str | None = None
    """RUNTIME_CONFIG_SOURCE of the toolkit; None leaves the toolkit's own default."""
    cdi: bool | None = None
    nri: bool = False
    driver: str | None = None
    """Driver build, or branch of precompiled drivers. None where this project does not install the driver."""
    driver_kind: DriverKind = "datacenter"
    driver_owner: DriverOwner = field(default="NVIDIADriver")
    precompiled: bool = False
    gpu: str | None = None
    """GPU model of the pool, as in the VM sizes; None skips the rules about the model."""
    mig: bool = False
    """True where the pool's GPUs are partitioned by MIG, in the guest or by the host."""
    long_term: bool = False
    """True where the cluster has AKS's long-term support."""
    production: bool = False
    """True for a production stack, for which a release with a security advisory is refused."""


def judge_stack(stack: GpuStack, today: datetime.date) -> list[Finding]:
    """Findings about the software on the nodes of a GPU pool, from all rules about single versions and about their
    combination. `today` is the day for which support periods are judged.
    """
    try:
        release = operator_release(stack.operator)
    except UnknownName as error:
        fix = f"Did you mean {error.suggestion}?  Known: {', '.join(operator_releases())}."
        return [Finding(Severity.ERROR, "operator-unknown", "operator", str(error), fix, sources.RELEASES)]
    return [
        *judge_release(release, today, production=stack.production),
        *judge_kubernetes(stack.kubernetes, today, long_term=stack.long_term),
        *_kubernetes(release, stack.kubernetes),
        *judge_runtime(
            release,
            stack.image,
            stack.containerd or stack.image.containerd,
            stack.toolkit,
            stack.runtime_config_source,
            cdi=release.cdi_by_default if stack.cdi is None else stack.cdi,
            nri=stack.nri,
        ),
        *_owner(release, stack),
        *judge_driver(
            release,
            stack.image,
            stack.driver,
            stack.driver_kind,
            today,
            precompiled=stack.precompiled,
            mig=stack.mig,
            gpu=stack.gpu,
        ),
        *_chart(release),
    ]


def _kubernetes(release: OperatorRelease, kubernetes: str) -> Iterator[Finding]:
    if release.kubernetes is None:
        message = f"Which Kubernetes versions {release.version} supports is unknown."
        fix = f"See NVIDIA's platform support page of {release.line}, or use {newest_release().version}."
        yield Finding(Severity.INFO, "kubernetes-range-unknown", "kubernetes", message, fix, release.source)
        return
    place, (low, high) = within(kubernetes, release.kubernetes), release.kubernetes
    tested = f"{release.version} supports Kubernetes {low} to {high}, not {kubernetes}."
    known = [r for r in operator_releases().values() if r.kubernetes and not r.unverified]
    newer = [r for r in known if r.kubernetes and not within(kubernetes, r.kubernetes)]
    nearest = high if place > 0 else low
    other = f"GPU Operator {fixed_release(newer[-1]).version}" if newer else None
    fix = f"{other} supports it; or use Kubernetes {nearest}." if other else f"Use Kubernetes {nearest}."
    if place < 0:
        yield Finding(Severity.ERROR, "kubernetes-too-old", "kubernetes", tested, fix, release.source)
    elif place > 0:
        # NVIDIA tests a new Kubernetes minor after AKS offers it, and documents it for the newest operator line only.
        newest = release.line == newest_release().line
        yield Finding(
            Severity.WARNING if newest else Severity.ERROR,
            "kubernetes-too-new",
            "kubernetes",
            tested,
            fix,
            release.source,
        )


def _owner(release: OperatorRelease, stack: GpuStack) -> Iterator[Finding]:
    if stack.driver is None or stack.driver_kind != "datacenter" or stack.driver_owner != "NVIDIADriver":
        return
    if release.driver_cr == "preview":
        message = f"NVIDIADriver resources are a technology preview in {release.line}."
        fix = "Use GPU Operator 26.7, or driverOwner ClusterPolicy with one node operating system."
        yield Finding(Severity.WARNING, "driver-cr-preview", "driver", message, fix, release.source)
    elif release.driver_cr == "new-installs":
        message = f"{release.line} supports NVIDIADriver resources on new installations only."
        fix = "Upgrade to 26.7 first where a ClusterPolicy has owned the drivers so far."
        yield Finding(Severity.INFO, "driver-cr-new-installs", "driver", message, fix, release.source)


def _chart(release: OperatorRelease) -> Iterator[Finding]:
    if release.line in ("25.3", "25.10"):
        message = f"The chart of {release.version} renders validator.plugin as null, which server-side apply refuses."
        fix = "Set one entry of validator.plugin.env, such as WITH_WORKLOAD=false."
        yield Finding(
            Severity.WARNING, "chart-null-plugin", "chart", message, fix, "NVIDIA/gpu-operator#1999; NVIDIA/aicr#50"
        )
