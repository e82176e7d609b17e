"""The list of optional parts: what is listed is loaded, and what does not fit is a fault with file and key."""

from __future__ import annotations

from dataclasses import replace

import pulumi
import pytest
from pydantic import create_model

from components.kubernetes.chart_part import ChartPart
from parts import components
from parts.components import component_of
from parts.part import GPU_OPERATOR
from parts.registry import NAMES, PARTS
from physical_ai.planning import part_files
from physical_ai.planning.part_files import all_faults, listing_faults, unmet_needs
from physical_ai.repository import PARTS as FOLDER
from physical_ai.settings import load
from physical_ai.settings.json_schema import layer_schema
from physical_ai.settings.models.parts import OpenParts, part_models

BY_NAME = {part.name: part for part in PARTS}


def test_the_parts_are_those_of_the_folders_in_the_order_of_the_list() -> None:
    assert tuple(part.name for part in PARTS) == NAMES
    assert sorted(NAMES) == sorted(file.parent.name for file in FOLDER.glob("*/part.py"))
    assert [*listing_faults(), *unmet_needs(PARTS)] == []


def listed(monkeypatch: pytest.MonkeyPatch, *names: str) -> list[str]:
    monkeypatch.setattr(part_files, "LISTED", names)
    return [str(each) for each in listing_faults()]


def test_a_folder_that_is_not_listed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    (text,) = listed(monkeypatch, *(name for name in NAMES if name != "slurm"))
    assert "parts/registry.py: NAMES" in text
    assert "parts/slurm/part.py is not listed" in text
    assert 'Write "slurm" into NAMES' in text


@pytest.mark.parametrize(
    ("name", "advice"), [("slurn", "Did you mean 'slurm'?"), ("weather", "Write the name of the part's folder")]
)
def test_a_name_without_a_folder_is_named(monkeypatch: pytest.MonkeyPatch, name: str, advice: str) -> None:
    _, text = listed(monkeypatch, *(each for each in NAMES if each != "slurm"), name)
    assert f"'{name}' is listed, and there is no parts/{name}/part.py." in text
    assert advice in text


def test_a_name_that_is_listed_twice_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    (text,) = listed(monkeypatch, *NAMES, "amd")
    assert "'amd' is listed more than once." in text


def test_a_module_without_its_part_or_with_another_name_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    found = {"amd": None, "slurm": replace(BY_NAME["slurm"], name="slurmd")}
    monkeypatch.setattr(part_files, "listed_part", lambda name: {**BY_NAME, **found}[name])
    slurm, amd = sorted((str(each) for each in listing_faults()), key=lambda text: "amd" in text)
    assert amd.startswith("parts/amd/part.py: PART\n")
    assert slurm.startswith("parts/slurm/part.py: name\n")
    assert 'Write name="slurm".' in slurm


def test_a_part_with_another_name_than_its_folder_has_its_fault_alone() -> None:
    renamed = [replace(part, name="slurmd") if part.name == "slurm" else part for part in PARTS]
    assert list(all_faults(renamed)) == []


@pytest.mark.parametrize(
    ("name", "needs", "texts"),
    [
        ("slurm", "cert_manger", ("'cert_manger' is not the name of a part.", "Did you mean 'cert_manager'?")),
        ("slurm", "zz", ("One of: cluster_services, ",)),
        ("runners", GPU_OPERATOR, ("'gpu-operator' is declared after the part 'runners'.", 'Write stage="gpus".')),
        ("runners", "slurm", ('Write stage="gpus".',)),
        ("traces", "runners", ('Write "traces" after "runners" into NAMES of parts/registry.py.',)),
        ("nvsentinel", "slurm", ('Write "nvsentinel" after "slurm" into NAMES of parts/registry.py.',)),
    ],
)
def test_a_need_that_is_not_met_before_the_part_is_named(name: str, needs: str, texts: tuple[str, ...]) -> None:
    parts = [replace(part, needs=(needs,)) if part.name == name else part for part in PARTS]
    (fault,) = unmet_needs(parts)
    assert str(fault).startswith(f"parts/{name}/part.py: needs\n")
    assert all(text in str(fault) for text in texts)


def test_each_part_has_the_component_of_its_folder() -> None:
    own = {part.name for part in PARTS if component_of(part) is not ChartPart}
    assert own == {file.parent.name for file in FOLDER.glob("*/component.py")}


def test_a_component_that_its_module_does_not_name_is_an_error_with_the_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(components, "import_module", lambda _name: object())
    with pytest.raises(pulumi.RunError, match=r"parts/amd/component\.py: COMPONENT\n.*\n  Write COMPONENT = "):
        component_of(BY_NAME["amd"])


def test_the_section_of_parts_is_shown_where_a_part_has_a_setting_in_it() -> None:
    shown = bool(part_models())
    assert ("parts" in layer_schema()["properties"]) is shown
    assert any(row.path.startswith("parts") for row in load("dev-westus2").explain()) is shown
    section = create_model("Section", __base__=OpenParts, made_up=(int | None, None))
    assert "madeUp" in section.model_json_schema()["properties"]
