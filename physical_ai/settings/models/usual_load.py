"""Settings of a GPU pool's usual load, from which the impact of a change is estimated if no cluster can be read."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from physical_ai.settings.models.base import Model


class UsualLoad(Model):
    """Load of a pool on an ordinary day, for estimates only: it changes nothing in a deployment."""

    nodes: Annotated[int, Field(ge=1)] = Field(description="Nodes of the pool on an ordinary day.")
    busy: Annotated[float, Field(ge=0, le=1)] = Field(default=1.0, description="Share of their GPUs that work holds.")
    task_hours: Annotated[float, Field(gt=0)] = Field(description="Hours that a task usually runs.")
    task_gpus: Annotated[int, Field(ge=1)] = Field(default=1, description="GPUs of a workflow, on all its nodes.")
    checkpoint_minutes: Annotated[float, Field(gt=0)] | None = Field(
        default=None, description="Minutes between two checkpoints; absent: tasks write none."
    )
