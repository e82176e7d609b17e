"""Traces that other set-ups of the driver have left on the node."""

from __future__ import annotations

from tests.host.faults import Fault
from tests.host.harness import Harness
from tests.host.operator import MARKER

ROOT = "/run/nvidia/driver"


def _stale_marker(harness: Harness) -> None:
    harness.node.write(MARKER, "")


def _legacy_bind(harness: Harness) -> None:
    harness.node.write(MARKER, "")
    harness.node.run("mkdir", "-p", ROOT)
    assert harness.node.run("mount", "--bind", "/", ROOT).returncode == 0


def _deleted_mount(harness: Harness) -> None:
    harness.node.run("mkdir", "-p", ROOT, "/run/before")
    assert harness.node.run("mount", "--bind", "/run/before", ROOT).returncode == 0
    assert harness.node.run("rmdir", "/run/before").returncode == 0


def _no_traces(harness: Harness) -> None:
    assert harness.node.read(MARKER) is None
    assert ROOT not in (
        harness.node.read("/proc/self/mountinfo") or harness.node.run("cat", "/proc/self/mountinfo").stdout
    )
    assert harness.node.run("test", "-e", "/usr/bin/env").returncode == 0, "the root itself was unmounted"


FAULTS = (
    Fault(
        "a stale marker of the seed deployment",
        "recovers",
        "Removes it before any change.",
        live=_stale_marker,
        then=_no_traces,
        deep=True,
    ),
    Fault(
        "the bind mount of the seed deployment",
        "recovers",
        "Unmounts it without force; the root remains.",
        live=_legacy_bind,
        then=_no_traces,
        deep=True,
    ),
    Fault(
        "a mount on /run/nvidia/driver whose source is deleted",
        "recovers",
        "Unmounts it.",
        live=_deleted_mount,
        then=_no_traces,
        deep=True,
    ),
)
