"""Hosts on which the driver can't be installed: what to change, in a sentence. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from grid_agent.facts import HostFacts
from grid_agent.faults import Cure, Fault
from grid_agent.wanted import Target, Wanted

SPACE = 3 << 30
"""Bytes for the installer, what it unpacks and the build."""


def unsupported(host: HostFacts, target: Target, wanted: Wanted, found: tuple[Fault, ...]) -> Fault | None:
    """Why this build can't be installed on this host; None: it can. `found`: the host's faults."""
    reasons = [_machine(host, wanted)]
    if any(fault.cure is Cure.INSTALL for fault in found):
        reasons += [_file(host, target), _build(host, wanted)]
    first = next((each for group in reasons for each in group), None)
    return Fault(first[0], first[1], Cure.OUTSIDE) if first else None


def _machine(host: HostFacts, wanted: Wanted) -> Iterator[tuple[str, str]]:
    if host.architecture != "x86_64":
        yield (
            "WrongArchitecture",
            f"this node is {host.architecture}, and Azure's GRID drivers support x86_64 only; use an x86_64 VM size",
        )
    if host.system not in wanted.systems:
        there, supported = host.system or "an unknown system", ", ".join(wanted.systems)
        yield "WrongSystem", f"this node runs {there}; set the pool's OS to one of: {supported}"
    if not host.gpus:
        yield "NoGpu", "no NVIDIA GPU was found on the PCI bus; check the pool's VM size, or redeploy the node"
    elif wanted.devices and not any(gpu.id in wanted.devices for gpu in host.gpus):
        there, asked = ", ".join(sorted({gpu.id for gpu in host.gpus})), ", ".join(wanted.devices)
        yield "WrongGpu", f"the GPU is {there}, but this driver supports {asked}; check the pool's driver source"
    if host.secure_boot:
        yield (
            "SecureBoot",
            "Secure Boot is on and the driver's modules are unsigned; recreate the pool without Secure Boot and vTPM",
        )
    if host.legacy_mount == "other":
        yield (
            "OperatorDriver",
            "the GPU Operator runs its own driver container on this node (/run/nvidia/driver is mounted); "
            "exclude the pool from its NVIDIADriver",
        )


def _file(host: HostFacts, target: Target) -> Iterator[tuple[str, str]]:
    if host.packaged:
        names = ", ".join(host.packaged[:3])
        yield (
            "PackagedDriver",
            f"Ubuntu packages have installed a driver ({names}); purge them or use a node image without them",
        )
    if not target.sha256:
        yield (
            "UnknownChecksum",
            f"the sha256 of driver {target.version} is unknown; add it to the stack's settings",
        )
    elif not target.urls and target.sha256 not in host.cached:
        yield "NoSource", f"no URL is set for driver {target.version} and this node has no copy of it; set a mirror"


def _build(host: HostFacts, wanted: Wanted) -> Iterator[tuple[str, str]]:
    if bad := next((kernel for kernel in wanted.refused_kernels if host.kernel.startswith(kernel)), None):
        yield (
            "RefusedKernel",
            f"the driver does not build on kernel {host.kernel} (all of {bad}); use a node image with another kernel",
        )
    if not host.usr_writable:
        yield "ReadOnlyUsr", "/usr or /lib/modules is read-only, so no driver can be installed; use an Ubuntu image"
    if host.free_bytes < SPACE:
        free, need = host.free_bytes / (1 << 30), SPACE / (1 << 30)
        yield "DiskFull", f"{free:.1f} GiB are free on the node's disk, but {need:.0f} GiB are needed; free disk space"
    missing = [
        name
        for name, there in (("kernel headers", host.headers), ("gcc, make and libc6-dev", host.compiler))
        if not there
    ]
    fitting = [each for each in wanted.packages if each.kernel in ("", host.kernel)]
    if missing and wanted.package_source == "offline" and not fitting:
        yield (
            "HeadersMissing",
            f"{' and '.join(missing)} for kernel {host.kernel} are missing and the settings list no packages; "
            "add them to the settings, or allow apt",
        )
