"""Faults of NVIDIA's installer."""

from __future__ import annotations

import json

from tests.host.faults import Fault, inject, remove
from tests.host.harness import Harness
from tests.host.installers import NEW, OLD, Installer

STAGES = {
    "start": "unpacking",
    "build": "building the modules",
    "files": "writing the modules",
    "half": "writing the libraries",
    "load": "loading the module",
}
MIXED = Installer("595.58.03", libraries=OLD)


SHORT = {"installSeconds": 0.7}
"""So little that an installer that hangs is found out soon; a busy machine may need more for one that works."""


def _hangs(harness: Harness) -> None:
    harness.want(timings=SHORT)
    harness.node.fault("hang-build")


def _hangs_no_more(harness: Harness) -> None:
    harness.node.mend("hang-build")
    harness.want()


def _hangs_once(harness: Harness) -> None:
    attempts = {"installAttempts": 10}
    harness.want(timings={**SHORT, **attempts})

    def with_time(harness: Harness) -> None:
        harness.wait("the installer takes too long", lambda: "longer than" in json.dumps(harness.memory))
        harness.want(timings=attempts)

    harness.mend_later = with_time


def _mixed_build(harness: Harness) -> None:
    harness.mirror.files[MIXED.name] = MIXED.content
    harness.want(MIXED)


def _right_build(harness: Harness) -> None:
    harness.want()


def _half_install(harness: Harness) -> None:
    harness.node.driver(NEW)
    harness.node.path("/usr/bin/nvidia-smi").unlink()
    harness.node.path("/lib/modules/6.8.0-1041-azure/kernel/drivers/video/nvidia-uvm.ko").unlink()


FAULTS = (
    *(
        Fault(
            f"the installer fails once while {doing}",
            "recovers",
            "Takes half the install off and tries again.",
            disk=inject(f"fail-{stage}", once=True),
            deep=True,
        )
        for stage, doing in STAGES.items()
        if stage in ("build", "half")
    ),
    *(
        Fault(
            f"the installer always fails while {doing}",
            "stops",
            "Tries as often as configured, leaves no half install in service, stops with the installer's own error.",
            disk=inject(f"fail-{stage}"),
            says="installer failed",
            mend=remove(f"fail-{stage}"),
            gate="closed",
            serves=NEW,
            deep=stage != "half",
        )
        for stage, doing in STAGES.items()
    ),
    Fault(
        "the installer hangs once",
        "recovers",
        "Ends it after its longest time, cleans up, tries again.",
        disk=inject("hang-build", once=True),
        live=_hangs_once,
        deep=True,
    ),
    Fault(
        "the installer always hangs",
        "stops",
        "Ends it after its longest time, tries as often as configured, stops.",
        disk=_hangs,
        says=r"longer than",
        mend=_hangs_no_more,
        gate="closed",
        deep=True,
    ),
    Fault(
        "the installer says success and did nothing",
        "stops",
        "Believes what is on the disk, not the exit code; stops.",
        disk=inject("lies"),
        says="reported success",
        mend=remove("lies"),
        gate="closed",
        deep=True,
    ),
    Fault(
        "the installer brings libraries of another version than its modules",
        "stops",
        "Never calls it verified; stops and names both.",
        disk=_mixed_build,
        says=r"580\.105\.08",
        mend=_right_build,
        gate="closed",
        deep=True,
    ),
    Fault("half an install is on the node", "recovers", "Takes it off and installs.", disk=_half_install, deep=True),
)
