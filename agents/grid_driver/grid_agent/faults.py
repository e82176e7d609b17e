"""Differences between a host and the driver that the settings require, and what corrects them. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

from grid_agent.facts import HostFacts
from grid_agent.wanted import Target, Wanted

NEEDED = ("nvidia", "nvidia_uvm", "nvidia_modeset")
"""Without them CUDA or Vulkan do not work; nvidia-smi does without the last two (NVIDIA/gpu-operator#2685)."""


class Cure(str, Enum):
    """In order of severity; the most severe among a host's faults is applied."""

    CONFIGURE = "configure"
    LOAD = "load"
    RELOAD = "reload"
    INSTALL = "install"
    OUTSIDE = "outside"
    """Nothing on this host helps."""


@dataclass(frozen=True)
class Fault:
    """A difference between host and settings."""

    reason: str
    """CamelCase, for the condition."""
    sentence: str
    cure: Cure


def faults(host: HostFacts, target: Target, wanted: Wanted) -> tuple[Fault, ...]:
    """Every fault of this host for this build; empty: the driver is verified."""
    if missing := tuple(_not_on_disk(host, target)):
        return missing
    return (*_not_loaded(host, target, wanted), *_not_working(host, target, wanted), *_not_written(host))


def serving(host: HostFacts, verified: Target | None) -> bool:
    """The build that was once verified on this node still works for Pods, whether the settings require it or not."""
    smi, loaded = host.smi, host.loaded.get("nvidia")
    if verified is None or loaded is None or not smi.ran or "nvidia_uvm" not in host.loaded:
        return False
    usable = smi.devices > 0 and not smi.recovery and not (smi.mig == "enabled" and not smi.mig_devices)
    return usable and smi.version == loaded.version == verified.version


def remains(host: HostFacts) -> bool:
    """Parts of a driver are on the host's disk."""
    return bool(
        host.on_disk or host.library or host.smi.found or host.half_install or host.prebaked or host.gridd != "missing"
    )


def _not_on_disk(host: HostFacts, target: Target) -> Iterator[Fault]:
    disk, name = host.on_disk, f"driver {target.version}"
    if host.half_install:
        yield Fault("HalfInstalled", "an earlier installation or removal did not finish", Cure.INSTALL)
        return
    if disk is None and not host.library and not host.smi.found:
        yield Fault("NotInstalled", f"{name} is not installed", Cure.INSTALL)
        return
    if host.prebaked and (disk is None or disk.version != target.version):
        text = f"the node image contains a CUDA driver ({host.prebaked}), which does not support vGPUs"
        yield Fault("PrebakedDriver", text, Cure.INSTALL)
    if disk is None:
        yield Fault("NoModule", f"no nvidia module exists for kernel {host.kernel}", Cure.INSTALL)
    elif disk.version != target.version:
        text = f"the modules on disk are {disk.version or 'of an unknown version'}, not {target.version}"
        yield Fault("WrongVersion", text, Cure.INSTALL)
    elif disk.flavour not in ("", target.module_type):
        yield Fault("WrongFlavour", f"the modules on disk are {disk.flavour}, not {target.module_type}", Cure.INSTALL)
    if host.library != target.version:
        text = f"the libraries are {host.library or 'missing'}, not {target.version}"
        yield Fault("WrongLibrary", text, Cure.INSTALL)
    if not host.smi.found:
        yield Fault("NoNvidiaSmi", "/usr/bin/nvidia-smi is not an executable file", Cure.INSTALL)
    if host.gridd == "missing":
        yield Fault("NoGridd", f"nvidia-gridd is missing: this is not a GRID build of {target.version}", Cure.INSTALL)
    record = host.record
    if record and record.version == target.version and target.sha256 and record.sha256 != target.sha256:
        yield Fault("OtherChecksum", f"driver {target.version} was installed from another installer file", Cure.INSTALL)


def _not_loaded(host: HostFacts, target: Target, wanted: Wanted) -> Iterator[Fault]:
    if host.nouveau:
        yield Fault("NouveauLoaded", "the nouveau module is loaded and holds the GPU", Cure.RELOAD)
    for name in NEEDED:
        module = host.loaded.get(name)
        if module is None:
            yield Fault("ModuleMissing", f"module {name} is not loaded", Cure.LOAD)
        elif module.version and module.version != target.version:
            text = f"module {name} {module.version} is loaded, not {target.version}"
            yield Fault("OldModuleLoaded", text, Cure.RELOAD)
        elif module.flavour not in ("", target.module_type):
            text = f"the loaded {name} is {module.flavour}, not {target.module_type}"
            yield Fault("WrongFlavourLoaded", text, Cure.RELOAD)
    for module, parameters in wanted.module_parameters.items():
        if module not in host.loaded:
            continue
        for name, value in parameters.items():
            shown = host.parameters.get(module, {}).get(name, "")
            if shown and not same_value(value, shown):  # many parameters are shown nowhere: unknown is not wrong
                yield Fault("WrongParameter", f"{module}.{name} is {shown}, not {value}", Cure.RELOAD)


def _not_working(host: HostFacts, target: Target, wanted: Wanted) -> Iterator[Fault]:
    smi = host.smi
    if "nvidia" not in host.loaded:
        return
    if not smi.ran:
        yield Fault("NvidiaSmiFails", f"nvidia-smi fails: {smi.error or 'no output'}", Cure.LOAD)
        return
    if smi.version != target.version:
        text = f"nvidia-smi reports {smi.version or 'no version'}, the module is {target.version}"
        yield Fault("LibraryMismatch", text, Cure.INSTALL)
    if smi.recovery:
        text = f"a GPU has failed; nvidia-smi asks for its recovery action: {smi.recovery}. Replace or reboot the node"
        yield Fault("GpuFailed", text, Cure.OUTSIDE)
    if not smi.devices:
        yield Fault("NoDevice", "nvidia-smi lists no GPU", Cure.OUTSIDE)
    elif smi.devices < (there := sum(gpu.driver in ("", "nvidia") for gpu in host.gpus)):
        text = f"nvidia-smi lists {smi.devices} of the {there} GPUs on the PCI bus; replace or reboot the node"
        yield Fault("GpuMissing", text, Cure.OUTSIDE)
    elif smi.mig == "enabled" and not smi.mig_devices:
        text = "MIG is enabled, but the vGPU host did not assign a MIG device to this node"
        yield Fault("NoMigDevice", text, Cure.OUTSIDE)
    if host.missing_nodes:
        yield Fault("NoDeviceNode", f"{', '.join(host.missing_nodes)} does not exist", Cure.LOAD)
    if host.gridd != "active":
        yield Fault("GriddInactive", "the licence daemon nvidia-gridd is not running", Cure.LOAD)
    elif smi.licence != "licensed" and wanted.licence == "required":
        yield Fault("Unlicensed", "the vGPU has no licence yet; without one, CUDA slows down and fails", Cure.LOAD)


def _not_written(host: HostFacts) -> Iterator[Fault]:
    if not host.configured:
        text = "the module options in /etc/modprobe.d differ from the settings"
        yield Fault("OptionsMissing", text, Cure.CONFIGURE)
    if not host.gridd_configured:
        yield Fault("GriddNotConfigured", "/etc/nvidia/gridd.conf differs from the settings", Cure.CONFIGURE)


def same_value(wanted: str, shown: str) -> bool:
    """Whether a module parameter has the value. `1` is shown as `Y`, `0x10` as `16` and `-1` as `4294967295`."""
    wanted, shown = (text.strip().strip('"') for text in (wanted, shown))
    numbers = _number(wanted), _number(shown)
    if None not in numbers:
        return numbers[0] == numbers[1]
    truths = _TRUTH.get(wanted.lower()), _TRUTH.get(shown.lower())
    return wanted == shown or (truths[0] == truths[1] and None not in truths)


_TRUTH = {"1": True, "y": True, "t": True, "on": True, "0": False, "n": False, "f": False, "off": False}
"""The kernel's booleans (kstrtobool)."""


def _number(text: str) -> int | None:
    """As the kernel reads it: decimal, 0x… or octal; as a 32-bit number, as the driver shows it."""
    octal = text.removeprefix("-").startswith("0") and text.removeprefix("-").isdigit()
    try:
        return int(text, 8 if octal else 0) % (1 << 32)
    except ValueError:
        return None
