"""Settings about the health of GPU nodes: acceptance checks, and the reaction to faults."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from physical_ai.settings.models.base import Model, SecretName, written

HealthMode = Literal["alert", "detect", "taint", "drain"]
"""Health modes, from the least to the most intervention; each includes the previous ones."""
ImageReference = Annotated[
    str,
    written(
        r"^[a-z0-9.-]+(:\d{1,5})?(/[a-z0-9._-]+)+(:[\w.-]+)?(@sha256:[0-9a-f]{64})?$",
        "an image with its registry, like example.azurecr.io/nccl-tests:2.17",
    ),
]


CronSchedule = Annotated[
    str,
    written(
        r"^([0-9*/,-]+ +){4}[0-9*/,-]+$",
        'a schedule of five fields in numbers: minute, hour, day, month, weekday, like "0 3 * * *"',
    ),
]


class Acceptance(Model):
    """Settings of the acceptance checks of GPU nodes."""

    declare_jobs: bool = Field(
        default=False,
        description="Declare each check of each pool as a suspended CronJob, which `kubectl create job --from` runs"
        " without this project's command.",
    )
    diagnose_idle: CronSchedule | None = Field(
        default=None,
        description="Schedule of `dcgmi diag -r 2` on idle nodes of pools with whole GPUs, in UTC; absent: never. It"
        " takes all GPUs of a node for minutes, yields to Pods of any priority, and never scales up a pool.",
    )

    before_tasks: bool = Field(
        default=False,
        description="Run `dcgmi diag -r 1` in front of each task of a workflow, on platforms with whole GPUs: seconds,"
        " and the pull of its image. A task on a faulty GPU fails before its own container starts.",
    )
    images: dict[str, ImageReference] = Field(
        default_factory=dict,
        description="Images of checks by name, in place of the catalogue's: a mirror, or one of your own, such as"
        " nccl-tests, for which no image is published.",
    )


class Evidence(Model):
    """Settings of the records about GPU machines, which are kept after a machine is deleted."""

    enabled: bool = Field(
        default=True,
        description="Record each GPU machine when it joins and after each start: physical host, unique id, driver,"
        " serial numbers and UUIDs of its GPUs. `physai evidence` shows it.",
    )
    retention_days: int = Field(
        default=90, ge=7, le=3650, description="Days for which the record of a deleted machine is kept."
    )
    most_records: int = Field(
        default=500, ge=20, le=5000, description="Maximum number of records; the oldest of deleted machines go first."
    )


class Health(Model):
    """Settings for the health of GPU nodes."""

    admit: Literal["any", "accepted"] = Field(
        default="any",
        description="GPU nodes that take work. any: every node with its GPUs. accepted: those that passed the level"
        " quick of `physai accept`; new nodes carry a taint until then.",
    )
    acceptance: Acceptance = Field(default_factory=Acceptance, description="Checks of nodes.")
    mode: HealthMode = Field(
        default="alert",
        description="Automatic reaction to a failing GPU. alert: the alerts of monitoring. detect: NVSentinel"
        " reports faults as conditions of nodes. taint: it also cordons the node, one of a pool at a time. drain: it"
        " also waits until the node is empty, and says so.",
    )
    datastore_secret: SecretName | None = Field(
        default=None,
        description="Stack secret with the connection string of a MongoDB, in which NVSentinel keeps its events; needed"
        " by taint and drain, and by no other mode.",
    )
    evidence: Evidence = Field(
        default_factory=Evidence, description="Records of GPU machines, for reports and after their repair."
    )
