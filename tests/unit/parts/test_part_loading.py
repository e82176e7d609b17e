"""Errors of importing a part's modules: the file, the line and Python's words, and never a traceback."""

from __future__ import annotations

from pathlib import Path

import pytest

import parts
from parts import loading, registry
from parts.loading import PartError
from physical_ai.settings.models import parts as settings_of_parts

PART = """\
from parts.part import Part
from parts.{name}.plan import CHART

PART = Part(name=CHART, stagee=1)
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder of parts, from which modules are imported too."""
    for module, name in ((loading, "FOLDER"), (registry, "FOLDER"), (settings_of_parts, "PARTS")):
        monkeypatch.setattr(module, name, tmp_path)
    monkeypatch.setattr(parts, "__path__", [*parts.__path__, str(tmp_path)])
    return tmp_path


@pytest.mark.parametrize(
    ("name", "plan", "text"),
    [
        ("made_up_a", None, "parts/made_up_a/part.py:2: ModuleNotFoundError: No module named 'parts.made_up_a.plan'"),
        ("made_up_b", "CHART = (\n", "parts/made_up_b/plan.py:1: SyntaxError: '(' was never closed"),
        ("made_up_c", "\nfrom json import lods\n", "parts/made_up_c/plan.py:2: ImportError: cannot import name 'lods'"),
        ("made_up_d", "CHART = 1\n", "parts/made_up_d/part.py:4: TypeError: Part.__init__() got an unexpected keyword"),
    ],
)
def test_a_module_that_cannot_be_imported_is_named_with_its_line(
    folder: Path, name: str, plan: str | None, text: str
) -> None:
    (folder / name).mkdir()
    (folder / name / "part.py").write_text(PART.format(name=name))
    if plan is not None:
        (folder / name / "plan.py").write_text(plan)
    with pytest.raises(PartError) as raised:
        registry.listed_part(name)
    assert str(raised.value).startswith(text)


def test_an_error_of_another_place_is_left_as_it_is(folder: Path) -> None:
    del folder
    with pytest.raises(ZeroDivisionError), loading.readable_errors():
        raise ZeroDivisionError


def test_a_constant_that_is_no_model_is_named(folder: Path) -> None:
    (folder / "made_up_e").mkdir()
    (folder / "made_up_e" / "model.py").write_text("SETTINGS = 3\n")
    with pytest.raises(PartError, match=r"^parts/made_up_e/model\.py: SETTINGS\n.*\n  Write SETTINGS = "):
        settings_of_parts.part_models()
