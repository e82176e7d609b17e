"""What OSMO's models share: choices that files and configuration write as words."""

from __future__ import annotations

from enum import Enum

from pydantic import ValidationError

from physical_ai.osmo.refusal import Problem, Refusal


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


def as_refusal(error: ValidationError, kind: str = "ValidationError") -> Refusal:
    """A model's error as a refusal that names every value that is wrong."""
    problems = tuple(
        Problem(".".join(str(step) for step in item["loc"]), item["type"], item["msg"])
        for item in error.errors(include_url=False, include_input=False)
    )
    message = "; ".join(f"{problem.path or '(all)'}: {problem.message}" for problem in problems)
    return Refusal(kind, message, problems=problems)
