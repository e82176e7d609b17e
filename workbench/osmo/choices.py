"""Enumerations of words in workflow files and in the configuration."""

from __future__ import annotations

from enum import Enum


class OperatorType(Enum):
    """Comparisons of resource validations. NE is in OSMO's documentation but does not exist."""

    GT = "GT"
    GE = "GE"
    LT = "LT"
    LE = "LE"
    EQ = "EQ"


class ExitAction(Enum):
    COMPLETE = "COMPLETE"
    FAIL = "FAIL"
    RESCHEDULE = "RESCHEDULE"


class DownloadType(Enum):
    """Ways in which a task gets its inputs; only one is left."""

    DOWNLOAD = "download"


HIGH, NORMAL, LOW = "HIGH", "NORMAL", "LOW"
PRIORITIES = (HIGH, NORMAL, LOW)
"""Values of `osmo workflow submit --priority`. LOW may use GPUs beyond the pool's guarantee, and be preempted for
others."""


class PoolStatus(Enum):
    ONLINE = "ONLINE"
    OFFLINE = "OFFLINE"
    MAINTENANCE = "MAINTENANCE"


class TopologyRequirementType(Enum):
    REQUIRED = "required"
    PREFERRED = "preferred"


class BackendSchedulerType(Enum):
    KAI = "kai"
