"""Fields of parts that do not fit are faults of `part.py`."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from parts.registry import PARTS
from physical_ai.input_errors import PartError
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


def test_a_setting_that_does_not_exist_is_named() -> None:
    (text,) = changed(setting=("slurn",))
    assert text == "parts/slurm/part.py: setting  There is no setting 'slurn'.  Did you mean 'slurm'?"


@pytest.mark.parametrize(
    "text", ["slurm.pols", "slurm.pols and health.mode", "health.mode: see slurm.pols.", "pools.<pool>.driver.sorce"]
)
def test_a_setting_that_a_text_about_an_owned_key_names_has_to_exist(text: str) -> None:
    (found,) = changed(owned={"slurm": {"configFiles": text}})
    assert found.startswith("parts/slurm/part.py: owned  There is no setting '")
    assert "Did you mean '" in found


@pytest.mark.parametrize("text", ["nothing", "nothing: see parts/slurm/names.py, or slurm.conf", "the pool"])
def test_a_text_about_an_owned_key_may_name_other_things(text: str) -> None:
    assert changed(owned={"slurm": {"configFiles": text}}) == []


def test_a_resource_type_that_pulumi_cannot_read_is_named() -> None:
    (text,) = changed(resource_type="Slurm")
    assert text.startswith("parts/slurm/part.py: resource_type  'Slurm' is not a type of a Pulumi resource.")


@pytest.mark.parametrize(
    ("field", "value", "advice"),
    [
        ("needs", "amd", 'Write needs=("amd",).'),
        ("title", 3, 'Write title="…".'),
        ("privileged", ("a",), "Write privileged={"),
        ("images", {}, "Write the name of a function of (settings)"),
        ("rules", (len,), "Write its parameters: (settings, trust)."),
    ],
)
def test_a_field_of_another_kind_is_named(field: str, value: Any, advice: str) -> None:
    with pytest.raises(PartError) as error:
        changed(**{field: value})
    assert str(error.value).startswith(f"parts/slurm/part.py: {field}\n")
    assert advice in str(error.value)
