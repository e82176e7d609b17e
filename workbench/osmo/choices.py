"""Enumerations of the fixed values that workflow files and OSMO's configuration may contain."""

from __future__ import annotations

from enum import Enum


class OperatorType(Enum):
    """Comparison operators of resource validations. OSMO's documentation also has NE, which OSMO does not accept."""

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
    """Ways in which a task gets its inputs. OSMO has only one such way, DOWNLOAD."""

    DOWNLOAD = "download"


HIGH, NORMAL, LOW = "HIGH", "NORMAL", "LOW"
PRIORITIES = (HIGH, NORMAL, LOW)
"""Values of `osmo workflow submit --priority`. A workflow with LOW may use GPUs beyond the pool's guarantee, and may be
preempted for other workflows.
"""


class PoolStatus(Enum):
    ONLINE = "ONLINE"
    OFFLINE = "OFFLINE"
    MAINTENANCE = "MAINTENANCE"


class TopologyRequirementType(Enum):
    REQUIRED = "required"
    PREFERRED = "preferred"


class BackendSchedulerType(Enum):
    KAI = "kai"
