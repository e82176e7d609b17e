"""Rules about the driver in a vGPU guest: the host's driver determines which driver branches work in the guest."""

from __future__ import annotations

from collections.abc import Iterator

from physical_ai.catalog import sources
from physical_ai.catalog.gpu_load import driver_branches
from physical_ai.catalog.gpu_lookup import branch_number, builds, vgpu_model
from physical_ai.catalog.gpu_rows import DriverBranch, NodeImage
from physical_ai.catalog.lookup import nearest
from physical_ai.findings import Finding, Severity

GRID_DOCS = "Azure compute docs, n-series-driver-setup"
A10_EVENT = "Azure/AKS#5875"


def judge_guest(driver: str, gpu_model: str | None, image: NodeImage) -> Iterator[Finding]:
    """Findings of all rules about a GRID build on a GPU model; if the model is None, only findings that depend on the
    node image.
    """
    branch = driver_branches().get(("grid", branch_number(driver)))
    if driver not in builds("grid"):
        near = nearest(driver, builds("grid"), 0.0)
        message = f"GRID driver {driver} is not in the catalogue: it is unknown whether Azure's hosts support it."
        fix = f"Compare it with Microsoft's list of GRID drivers, or use {near}."
        yield Finding(Severity.WARNING, "driver-unlisted", "driver", message, fix, sources.DRIVERS)
    if branch is None:
        return
    if image.kernel in branch.broken_kernels:
        message = f"GRID drivers of branch {branch.branch} do not build on kernel {image.kernel} of {image.name}."
        yield Finding(Severity.ERROR, "grid-kernel", "node image", message, "osSku: Ubuntu", GRID_DOCS)
    yield from _host(branch, driver, gpu_model)


def _host(branch: DriverBranch, driver: str, gpu_model: str | None) -> Iterator[Finding]:
    model = vgpu_model(gpu_model) if gpu_model else None
    if model is None or branch.vgpu is None:
        return
    host, guest = model.host_vgpu, int(branch.vgpu)
    fit = [build for build in builds("grid") if _vgpu(build) in (host, host - 1)]
    use = f"Use {fit[-1]}." if fit else f"Use a build of vGPU {host}."
    here = f"Driver {driver} is of vGPU {guest}"
    # Only a warning where the vGPU branch of Azure's hosts is not documented.
    severity = Severity.WARNING if "hostVgpu" in model.unverified else Severity.ERROR
    if guest > host:
        message = f"{here}, and Azure's {model.model} hosts run {host}: a guest is never newer than its host."
        yield Finding(severity, "vgpu-host-branch", "driver", message, use, model.source)
    elif guest < host - 1:
        message = f"{here}; Azure's {model.model} hosts run {host}, and support {host - 1} and {host}."
        yield Finding(severity, "vgpu-host-branch", "driver", message, use, f"{GRID_DOCS}; {A10_EVENT}")
    elif guest == host - 1:
        message = f"{here}: it works until Azure's {model.model} hosts move from {host} to {host + 1}."
        yield Finding(Severity.INFO, "vgpu-host-previous", "driver", message, use, f"{GRID_DOCS}; {A10_EVENT}")


def _vgpu(driver: str) -> int:
    return int(driver_branches()["grid", branch_number(driver)].vgpu or 0)
