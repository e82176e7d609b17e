"""Errors of a part's modules in words: the file, the line, and what to write. `test_mistakes` has them as a user
reads them.
"""

from __future__ import annotations

from pathlib import Path

import pytest

import parts
from parts import registry
from physical_ai import input_errors, repository
from physical_ai.catalog.reading import CatalogError
from physical_ai.input_errors import InputError, PartError, without_traceback
from physical_ai.settings.faults import SettingsError
from physical_ai.settings.models import parts as settings_of_parts


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder of parts, from which modules are imported too."""
    monkeypatch.setattr(repository, "PARTS", tmp_path)
    for module in (repository, input_errors):
        monkeypatch.setattr(module, "PART_FOLDERS", (tmp_path,))
    monkeypatch.setattr(parts, "__path__", [*parts.__path__, str(tmp_path)])
    return tmp_path


def raised(name: str) -> str:
    with pytest.raises(PartError) as error, without_traceback(PartError):
        registry.listed_part(name)
    return str(error.value)


def test_a_missing_module_is_named_with_its_importer(folder: Path) -> None:
    (folder / "made_up_a").mkdir()
    (folder / "made_up_a" / "part.py").write_text("\nfrom parts.made_up_a.plan import CHART\n")
    assert raised("made_up_a") == (
        "parts/made_up_a/part.py:2: parts.made_up_a.plan\n"
        "  There is no such module, and parts/made_up_a/part.py:2 imports it.\n"
        "  Write parts/made_up_a/plan.py, or correct the import."
    )


def test_an_error_in_the_core_names_the_line_of_the_part_and_that_of_the_core(folder: Path) -> None:
    (folder / "made_up_b").mkdir()
    (folder / "made_up_b" / "part.py").write_text(
        "from physical_ai.planning.values_files import merge_values\nX = merge_values({}, 3)\n"
    )
    text = raised("made_up_b")
    assert text.startswith("parts/made_up_b/part.py:2: the module\n  AttributeError: 'int' object has no attribute")
    assert " (physical_ai/planning/values_files.py:" in text


def test_a_module_of_another_project_is_no_import_of_a_part(folder: Path) -> None:
    (folder / "made_up_c").mkdir()
    (folder / "made_up_c" / "part.py").write_text("\nfrom json import lods\n")
    assert raised("made_up_c").startswith("parts/made_up_c/part.py:2: the module\n  ImportError: cannot import name")


def test_an_error_of_another_place_is_left_as_it_is() -> None:
    with pytest.raises(ZeroDivisionError), without_traceback(RuntimeError):
        raise ZeroDivisionError


@pytest.mark.parametrize("error", [CatalogError("a"), SettingsError([]), PartError("a"), InputError("a")])
def test_errors_of_input_are_raised_as_the_kind_that_is_asked_for(error: InputError) -> None:
    with pytest.raises(RuntimeError, match=f"^{error}$"), without_traceback(RuntimeError):
        raise error


def test_a_constant_that_is_no_model_is_named(folder: Path) -> None:
    (folder / "made_up_e").mkdir()
    (folder / "made_up_e" / "model.py").write_text("SETTINGS = 3\n")
    with pytest.raises(PartError, match=r"^parts/made_up_e/model\.py: SETTINGS\n.*\n  Write SETTINGS = "):
        settings_of_parts.part_models()
