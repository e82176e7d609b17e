"""Driver packages: files that behave like NVIDIA's `.run` installers, and drivers that are on a node already."""

from __future__ import annotations

import hashlib
import random
from dataclasses import dataclass
from functools import cache
from typing import Literal

from tests.host.namespaces import FAKES

Flavour = Literal["open", "proprietary"]
OLD, NEW = "580.105.08", "595.91.07"
LICENCES: dict[Flavour, str] = {"open": "Dual MIT/GPL", "proprietary": "NVIDIA"}
MODULES = {"nvidia": "", "nvidia_uvm": "nvidia", "nvidia_modeset": "nvidia"}
"""Module → the modules it needs."""


@dataclass(frozen=True)
class Installer:
    """One `.run` file."""

    version: str
    arch: str = "x86_64"
    kind: Literal["grid", "cuda"] = "grid"
    libraries: str = ""
    """Version of the libraries inside; that of the modules unless given (a broken build)."""

    @property
    def name(self) -> str:
        return f"NVIDIA-Linux-{self.arch}-{self.version}-grid-azure.run"

    @property
    def content(self) -> bytes:
        """A shell script, then an archive that the shell never reads."""
        return _content(self)

    @property
    def sha256(self) -> str:
        return _sha256(self)


@cache
def _content(installer: Installer) -> bytes:
    text = (FAKES / "installer.sh").read_text()
    given = {
        "VERSION": installer.version,
        "ARCH": installer.arch,
        "KIND": installer.kind,
        "LIBRARIES": installer.libraries or installer.version,
    }
    for name, value in given.items():
        text = text.replace(f"@{name}@", value)
    return text.encode() + random.Random(installer.version).randbytes(3 << 20)  # noqa: S311 - filling


@cache
def _sha256(installer: Installer) -> str:
    return hashlib.sha256(installer.content).hexdigest()


def intruder() -> bytes:
    """A file that another process put in place of an installer: run as root, it leaves a trace."""
    return b"#!/bin/sh\necho intruder >> /hw/intruded\nexit 0\n" + bytes(3 << 20)


def module(version: str, kernel: str, flavour: Flavour, needs: str) -> str:
    """The `.modinfo` section of a kernel module: all that the stand-in's modules consist of."""
    return f"version={version}\nlicense={LICENCES[flavour]}\nvermagic={kernel}\ndepends={needs}\n"
