"""What the stack's settings require of a node: the schema of `wanted.json`."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from functools import cached_property
from typing import Any, Literal, cast

ModuleType = Literal["open", "proprietary"]
UpgradePolicy = Literal["wait", "drain", "force"]
LicencePolicy = Literal["required", "optional"]
PackageSource = Literal["apt", "offline"]


class WantedError(ValueError):
    """`wanted.json` can't be used; the text says which key is wrong and what it should be."""


@dataclass(frozen=True)
class Target:
    """One driver build: what an installer puts on a host."""

    version: str
    sha256: str
    """Of the installer file, 64 lower-case hexadecimal digits; empty: unknown, the build is refused."""
    module_type: ModuleType = "open"
    urls: tuple[str, ...] = ()
    """Where the installer is, tried in this order. Empty for a build that can only come from the node's cache."""


@dataclass(frozen=True)
class Package:
    """A .deb for nodes without a package archive: kernel headers or build tools."""

    url: str
    sha256: str
    kernel: str = ""
    """Kernel release (`uname -r`) it is for; empty: every kernel."""


@dataclass(frozen=True)
class Timings:
    """Seconds, and numbers of attempts. Tests set them small."""

    poll_seconds: float = 5
    """Between two steps while there is work."""
    watch_seconds: float = 30
    """Between two checks of labels and Pods once the driver is verified."""
    check_seconds: float = 300
    """Between two checks of the host's driver once it is verified, and while the agent is blocked."""
    command_seconds: float = 30
    """Longest time for one short command of the host (modprobe, nvidia-smi …)."""
    api_seconds: float = 15
    """Longest time for one request to the API server."""
    fetch_seconds: float = 1800
    remove_seconds: float = 600
    install_seconds: float = 2400
    """Longest run of each job; systemd ends it then."""
    apt_lock_seconds: float = 600
    """How long the install job waits for another apt or dpkg."""
    stall_seconds: float = 60
    """A download without data for so long is stopped and resumed."""
    licence_seconds: float = 300
    """How long after loading the modules a licence may take."""
    pods_seconds: float = 300
    """How long the operator's pods may take to leave a gated node before the agent deletes them."""
    kick_seconds: float = 120
    """Between two restarts of the same operand on this node."""
    retry_seconds: float = 30
    retry_max_seconds: float = 900
    """First and longest pause between attempts; the pause doubles."""
    checksum_attempts: int = 2
    """Files with a wrong checksum before the agent gives up. Other download failures are retried forever."""
    install_attempts: int = 3
    """Failed installations before the previous driver is restored, or the agent stops."""
    unload_attempts: int = 5
    verify_attempts: int = 3
    """Loads of a freshly installed driver that may fail its verification."""


@dataclass(frozen=True)
class Wanted:
    """The agent's settings. Keys in `wanted.json` are these names in camelCase."""

    version: str
    sha256: str = ""
    urls: tuple[str, ...] = ()
    module_type: ModuleType = "open"
    module_parameters: Mapping[str, Mapping[str, str]] = field(
        default_factory=lambda: {"nvidia_uvm": {"uvm_disable_hmm": "1"}}
    )
    """Module -> parameter -> value, written to modprobe.d before the first load."""
    dkms: bool = True
    """Register the modules with DKMS, where the host has it, so that a new kernel gets them without a download."""
    packages: tuple[Package, ...] = ()
    package_source: PackageSource = "apt"
    """`offline`: headers and compiler come from `packages` or are on the node; apt is never called."""
    upgrade: UpgradePolicy = "wait"
    """GPU Pods that prevent a change: wait until they end, evict them (within their budgets), or delete them."""
    licence: LicencePolicy = "required"
    gridd: Mapping[str, str] = field(default_factory=lambda: {"IgnoreSP": "FALSE", "EnableUI": "FALSE"})
    """Lines of /etc/nvidia/gridd.conf; `FeatureType` is removed from NVIDIA's template unless it is set here."""
    persistence: bool = True
    legacy_validation_markers: bool = False
    """Reproduce the marker file and bind mount of the seed deployment. They hide device nodes; see the README."""
    devices: tuple[str, ...] = ()
    """PCI ids this driver is for, as `10de:2bb5`; empty: any NVIDIA display device."""
    systems: tuple[str, ...] = ("ubuntu 22.04", "ubuntu 24.04")
    """`ID VERSION_ID` of os-release that are supported."""
    refused_kernels: tuple[str, ...] = ("6.11",)
    """Beginnings of kernel releases on which this driver is known not to build."""
    present: bool = True
    """False: remove the driver from the node."""
    timings: Timings = field(default_factory=Timings)

    @property
    def target(self) -> Target:
        return Target(self.version, self.sha256, self.module_type, self.urls)

    @cached_property
    def digest(self) -> str:
        """Differs when a change of settings resets the failures: everything but the timings."""
        counted = {key: value for key, value in asdict(self).items() if key != "timings"}
        return hashlib.sha256(json.dumps(counted, sort_keys=True).encode()).hexdigest()[:16]


def camel(name: str) -> str:
    head, *rest = name.split("_")
    return head + "".join(word.capitalize() for word in rest)


_CHOICES: dict[str, tuple[str, ...]] = {
    "module_type": ("open", "proprietary"),
    "package_source": ("apt", "offline"),
    "upgrade": ("wait", "drain", "force"),
    "licence": ("required", "optional"),
}


def wanted_from(document: Mapping[str, Any]) -> Wanted:
    """`wanted.json`, loaded -> Wanted. Raises WantedError on unknown keys and on values of the wrong kind."""
    given = _known(Wanted, document, "")
    if not isinstance(given.get("version"), str) or not given["version"]:
        raise WantedError("wanted.json: version is missing; write the driver's version, such as 595.91.07")
    for name, allowed in _CHOICES.items():
        if name in given and given[name] not in allowed:
            raise WantedError(f"wanted.json: {camel(name)} is {given[name]!r}; write one of {', '.join(allowed)}")
    for name in ("urls", "devices", "systems", "refused_kernels"):
        if name in given:
            given[name] = _texts(camel(name), given[name])
    for name in ("dkms", "persistence", "legacy_validation_markers", "present"):
        if name in given and not isinstance(given[name], bool):
            raise WantedError(f"wanted.json: {camel(name)} is {given[name]!r}; write true or false")
    given["sha256"] = _sha256("sha256", given.get("sha256", ""))
    if "packages" in given:
        given["packages"] = tuple(_package(item) for item in given["packages"])
    if "gridd" in given:
        _lines("gridd", given["gridd"])
    if "module_parameters" in given:
        for module, parameters in _object("moduleParameters", given["module_parameters"]).items():
            _lines(f"moduleParameters.{module}", parameters)
    if "timings" in given:
        given["timings"] = _timings(given["timings"])
    return Wanted(**given)


def for_pool(document: Mapping[str, Any], pool: Callable[[], str]) -> Mapping[str, Any]:
    """The part of `wanted.json` for a node pool: all of it, or the pool's entry under `pools` where pools differ.

    `pool` is called only where pools differ. Raises WantedError where there is no entry for the pool.
    """
    if "pools" not in document:
        return document
    entries, name = cast("Mapping[str, Mapping[str, Any]]", document["pools"]), pool()
    if name not in entries:
        raise WantedError(f"wanted.json: no entry for node pool '{name}'; known: {', '.join(entries)}")
    return entries[name]


def _known(kind: type[Any], document: Mapping[str, Any], where: str) -> dict[str, Any]:
    names = {camel(item.name): item.name for item in fields(kind)}
    for key in document:
        if key not in names:
            raise WantedError(f"wanted.json: {where}{key} is not a setting of the agent; known: {', '.join(names)}")
    return {names[key]: value for key, value in document.items()}


def _object(name: str, value: object) -> Mapping[str, object]:
    if not isinstance(value, dict):
        raise WantedError(f"wanted.json: {name} must be an object")
    return cast("Mapping[str, object]", value)


def _lines(name: str, value: object) -> None:
    """Names and values that become lines of a file."""
    for key, text in _object(name, value).items():
        if not isinstance(text, str) or "\n" in key + text:
            raise WantedError(f"wanted.json: {name}.{key} is {text!r}; write a text of one line")


def _texts(name: str, value: object) -> tuple[str, ...]:
    if not isinstance(value, Sequence) or isinstance(value, str):
        raise WantedError(f"wanted.json: {name} must be a list of texts")
    return tuple(str(item) for item in cast("Sequence[object]", value))


def _sha256(name: str, value: object) -> str:
    text = str(value).strip().lower()
    if text and (len(text) != 64 or set(text) - set("0123456789abcdef")):
        raise WantedError(f"wanted.json: {name} is {value!r}; a sha256 has 64 hexadecimal digits")
    return text


def _package(item: Mapping[str, Any]) -> Package:
    given = _known(Package, item, "packages[].")
    given["sha256"] = _sha256("packages[].sha256", given.get("sha256", ""))
    if not given["sha256"] or not given.get("url"):
        raise WantedError("wanted.json: a package needs url and sha256")
    return Package(**given)


def _timings(document: Mapping[str, Any]) -> Timings:
    given = _known(Timings, document, "timings.")
    for name, value in given.items():
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value < math.inf:
            raise WantedError(f"wanted.json: timings.{camel(name)} is {value!r}; write a number")
    return Timings(**given)
