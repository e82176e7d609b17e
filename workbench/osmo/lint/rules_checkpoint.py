"""Rules on checkpoints of work that may be lost with its node, and on keys for storage."""

from __future__ import annotations

from workbench.osmo.lint.registry import rule

SPOT_CHECKPOINT = rule(
    "spot-checkpoint",
    "warning",
    "A GPU task that may run for more than four hours on a Spot pool copies checkpoints while it runs.",
    reason="Outputs and datasets are uploaded when a task has ended. Azure ends a Spot machine 30 s after its notice,"
    " and everything since the start is lost.",
    fix="checkpoint: [{path: FOLDER, url: azure://ACCOUNT/CONTAINER/PATH, frequency: 10m}], and read it at the start.",
    source="Azure docs, virtual-machines/spot-vms; NVIDIA/OSMO#764",
)
SPOT_FREQUENCY = rule(
    "spot-frequency",
    "warning",
    "Checkpoints on a Spot pool are copied at least once an hour.",
    reason="What was computed since the last copy is lost with the machine: the grace period of 30 s is too short for"
    " gigabytes.",
    fix="frequency: 10m",
    source="Azure docs, virtual-machines/spot-vms; NVIDIA/OSMO#764",
)
CHECKPOINT_PLACE = rule(
    "checkpoint-place",
    "error",
    "Each task of a workflow copies its checkpoints to a place of its own.",
    reason="Files of one name replace each other, and a task that starts again continues with another one's state.",
    fix="url: azure://ACCOUNT/CONTAINER/PATH/TASK, another path for each task.",
    source="NVIDIA/OSMO docs, workflow checkpoint",
)
BLOB_CREDENTIAL = rule(
    "blob-credential",
    "warning",
    "Tasks use Azure Blob Storage as the workflows' own identity, without a key of the account.",
    reason="A key opens the whole account, cannot be limited to a container, and stays valid when it has leaked. The"
    " stack's own accounts accept none.",
    fix="Assign a role on the container to the workflows' identity, and remove the variable: docs/security.md.",
    source="Azure docs, storage/common/shared-key-authorization-prevent",
)
