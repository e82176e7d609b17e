"""Choices that files and configuration write as words."""

from __future__ import annotations

from enum import Enum


class OperatorType(Enum):
    """Comparisons of resource validations; NE, which the documentation lists, does not exist."""

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
    """How inputs come to a task; one way is left."""

    DOWNLOAD = "download"


class PoolStatus(Enum):
    ONLINE = "ONLINE"
    OFFLINE = "OFFLINE"
    MAINTENANCE = "MAINTENANCE"


class TopologyRequirementType(Enum):
    REQUIRED = "required"
    PREFERRED = "preferred"


class BackendSchedulerType(Enum):
    KAI = "kai"
