"""The words for what is done and for where a node is."""

from __future__ import annotations

from enum import Enum


class Step(str, Enum):
    """An action of `Host.perform` or of the cluster, bounded and non-blocking."""

    WAIT = "wait"
    GATE = "gate"
    EVICT = "evict"
    """Ask the API server to evict one GPU pod (upgrade policy drain) or delete it (force)."""
    DELETE_OPERAND = "delete-operand"
    """Delete one pod of the operator on this node: it lingers after the gate, or it started too early."""
    CLEAN = "clean"
    """Remove the legacy marker, then unmount (plainly) a legacy bind on /run/nvidia/driver."""
    UNLOAD = "unload"
    """Stop the driver's services and unload its modules and nouveau, in order."""
    REMOVE = "remove"
    """Job: take any driver off the host: ours, prebaked, foreign, half an install."""
    FETCH = "fetch"
    """Job: bring the installer into the cache and check its sha256."""
    CONFIGURE = "configure"
    """Write modprobe.d, the nouveau blacklist and gridd.conf as wanted."""
    INSTALL = "install"
    """Job: hash the cached file once more and run it."""
    LOAD = "load"
    """Load the modules, make the device nodes, start persistence and licence daemons."""
    PERSIST = "persist"
    """Turn persistence mode on again, while the driver is in service."""
    MARK_LEGACY = "mark-legacy"
    """Bind mount and marker of the seed deployment, in that order."""
    UNGATE = "ungate"


JOBS = (Step.FETCH, Step.REMOVE, Step.INSTALL)
"""Steps that run as the host's transient unit and are polled."""


class State(str, Enum):
    """The state of a node, as the condition and the metrics name it."""

    INSPECTING = "inspecting"
    GATING = "gating"
    WAITING = "waiting"
    """Something outside the agent has to change first: GPU Pods, a process that uses the GPU, the API server."""
    DRAINING = "draining"
    CLEANING = "cleaning"
    FETCHING = "fetching"
    REMOVING = "removing"
    INSTALLING = "installing"
    CONFIGURING = "configuring"
    VERIFYING = "verifying"
    UNGATING = "ungating"
    KICKING = "kicking"
    READY = "ready"
    BLOCKED = "blocked"
    """A person has to act; the message describes how."""
    REMOVED = "removed"
