"""What OSMO's models share: choices that files and configuration write as words."""

from __future__ import annotations

from enum import Enum

from pydantic import ValidationError

from physical_ai.osmo.refusal import Kind, Refusal


class OperatorType(Enum):
    """Comparisons of resource validations; NE, which the documentation has, is none."""

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


class WorkflowPriority(Enum):
    HIGH = "HIGH"
    NORMAL = "NORMAL"
    LOW = "LOW"


def as_refusal(error: ValidationError, kind: Kind = "ValidationError", prefix: str = "") -> Refusal:
    """A model's error as a refusal that names every place."""
    details = error.errors(include_url=False, include_input=False)
    places = tuple((prefix + ".".join(str(step) for step in item["loc"]), item["type"]) for item in details)
    told = tuple(f"{place or '(all)'}: {item['msg']}" for (place, _), item in zip(places, details, strict=True))
    return Refusal(kind, "; ".join(told), paths=places, details=tuple(i["msg"] for i in details))
