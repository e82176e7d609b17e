"""Fields of parts that do not fit are faults of `part.py`."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from parts.registry import PARTS
from physical_ai.input_errors import PartError
from physical_ai.planning.part_fields import field_faults
from physical_ai.planning.part_files import all_faults
from physical_ai.settings.facts.pinned_images import part_images


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


def test_an_example_of_a_stack_that_does_not_exist_is_named() -> None:
    (text,) = changed(examples=(("dev-westus", {}),))
    assert text == "parts/slurm/part.py: examples  There is no stack 'dev-westus'.  Did you mean 'dev-westus2'?"


@pytest.mark.parametrize(
    ("field", "name", "problem", "advice"),
    [
        ("floating_images", "IMAGE", "no chart with the image", "Did you mean '"),
        ("chart_images", "slurn", "no chart 'slurn'", "Did you mean 'slurm'?"),
        ("privileged", "slurn", "no namespace 'slurn'", "Did you mean 'slurm'?"),
    ],
)
def test_a_name_that_the_part_does_not_have_is_named(field: str, name: str, problem: str, advice: str) -> None:
    (slurm,) = [part for part in PARTS if part.name == "slurm"]
    wrong = part_images(slurm)[0][:-1] if name == "IMAGE" else name
    value = ("a",) if field == "chart_images" else "a reason"
    parts = [
        replace(slurm, **{field: {**getattr(slurm, field), wrong: value}}) if part is slurm else part for part in PARTS
    ]
    (text,) = [str(each) for each in all_faults(parts) if f": {field}\n" in str(each)]
    assert text.startswith(f"parts/slurm/part.py: {field}\n  The part has {problem}")
    assert advice in text


def test_an_image_without_a_fixed_tag_may_be_one_of_those_that_the_chart_has() -> None:
    (slurm,) = [part for part in PARTS if part.name == "slurm"]
    floating = replace(slurm, floating_images={part_images(slurm)[0]: "a reason"})
    assert list(all_faults([floating if part is slurm else part for part in PARTS])) == []


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
        ("isolated", "no", "Write isolated=True or False."),
        ("stage", 3, 'Write stage="…".'),
        ("needs", (3,), 'Write needs=("3",).'),
        ("setting", ("slurm", 1), 'Write setting=("1",).'),
        ("examples", ("dev-westus2",), 'Write examples=(("dev-westus2", {…}),).'),
        ("examples", (("dev-westus2", ()),), 'Write examples=(("dev-westus2", {…}),).'),
        ("owned", {"slurm": "configFiles"}, "The value of 'slurm' is a str, and not a mapping of texts."),
        ("owned", {"slurm": {"configFiles": None}}, 'Write owned={"slurm": {"key": "the setting, or the reason"}}.'),
        ("privileged", {"slurm": ("a",)}, 'Write privileged={"slurm": "the reason"}.'),
        ("chart_images", {"slurm": "docker.io/a:1"}, 'Write chart_images={"slurm": ("the image",)}.'),
        ("chart_images", {"slurm": ("docker.io/a:1", 2)}, "is a tuple, and not a tuple of texts"),
        ("floating_images", {"docker.io/a:1": None}, 'Write floating_images={"docker.io/a:1": "the reason"}.'),
        ("floating_images", {3: "a"}, "The key 3 is a int, not a text."),
    ],
)
def test_a_field_of_another_kind_is_named(field: str, value: Any, advice: str) -> None:
    with pytest.raises(PartError) as error:
        changed(**{field: value})
    assert str(error.value).startswith(f"parts/slurm/part.py: {field}\n")
    assert advice in str(error.value)
