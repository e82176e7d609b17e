"""Fields of parts that do not fit are faults of `part.py`."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from parts.registry import PARTS
from physical_ai.planning.part_fields import field_faults


def changed(**fields: Any) -> list[str]:
    parts = [replace(part, **fields) if part.name == "slurm" else part for part in PARTS]
    return [str(each).replace("\n", "") for each in field_faults(parts)]


def test_a_stage_that_does_not_exist_is_named() -> None:
    assert changed() == []
    (text,) = changed(stage="clusterr")
    assert text == "parts/slurm/part.py: stage  'clusterr' is not a stage.  Did you mean 'cluster'?"


def test_names_of_resources_that_another_part_has_are_named() -> None:
    (text,) = changed(resource_name="traces")
    assert text.startswith("parts/slurm/part.py: resource_name  The part 'traces' has 'traces' too.")


def test_a_setting_that_does_not_exist_and_needs_that_are_a_text_are_named() -> None:
    (text,) = changed(setting=("parts", "slurn"))
    assert text.startswith("parts/slurm/part.py: setting  There is no setting 'parts.slurn'.")
    (text,) = changed(needs="amd")
    assert text.endswith('Write needs=("amd",).')
