"""The diagram of the packages shows what the imports say."""

from __future__ import annotations

from pathlib import Path

import pytest

from docs.generator.duplicates import duplicates
from docs.generator.package_diagram import diagram, label
from docs.generator.package_numbers import (
    CORE,
    distances,
    distributions,
    numbers,
    of_program,
    parts,
    small_with_one_importer,
    steps,
)
from docs.generator.packages import TOGETHER, Checkout, cycles, implied, read
from physical_ai.repository import ROOT

NEAR = 4
FAR = {
    "components/kubernetes/fields.py",
    "components/monitoring/managed_grafana.py",
    "components/network/api_reach.py",
    "physical_ai/planning/part_fields.py",
    "physical_ai/planning/part_files.py",
    "physical_ai/planning/part_names.py",
    "physical_ai/planning/part_plans.py",
    "physical_ai/planning/part_readings.py",
    "physical_ai/planning/release_upgrade.py",
}
"""Modules of the core that are farther away: helpers of one component each, and a component inside another one."""


read_again = read.__wrapped__
"""Reads a checkout that has changed. This repository's, which takes seconds, stays in the cache."""


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    files = {
        "__main__.py": "from components import pool\n",
        "components/__init__.py": "",
        "components/pool.py": "import physical_ai.settings.load\nfrom physical_ai.catalog import sizes\n",
        "physical_ai/__init__.py": "",
        "physical_ai/catalog/__init__.py": "",
        "physical_ai/catalog/sizes.py": "",
        "physical_ai/settings/__init__.py": "",
        "physical_ai/settings/load.py": "def load():\n    from . import check\n    from ..catalog.sizes import x\n",
        "physical_ai/settings/check.py": "from physical_ai.settings import load\n",
        "agents/driver/agent/__init__.py": "",
        "agents/driver/agent/main.py": "import agent.plan\n",
        "agents/driver/agent/plan.py": "",
        "tests/test_a.py": "import components.pool\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return read(tmp_path)


def test_imports_are_found_in_every_form(checkout: Checkout) -> None:
    assert checkout.arrows == {
        "__main__": {"components"},
        "components": {"settings", "catalog"},
        "settings": {"catalog"},
        "catalog": set(),
        "agents": set(),
    }
    assert checkout.imports["agents/driver/agent/main.py"] == {"agents/driver/agent/plan.py"}


def test_the_program_is_what_main_imports(checkout: Checkout) -> None:
    assert checkout.program == {"__main__", "components", "settings", "catalog"}


def test_the_diagram_has_each_package_and_arrow_but_no_implied_one(checkout: Checkout) -> None:
    assert implied(checkout.arrows) == {("components", "catalog")}
    assert (
        diagram(checkout, program=True)
        == """\
flowchart TD
    accTitle: The packages that pulumi up imports
    accDescr: An arrow leads from a package to one that it imports. Arrows that others imply are left out.
    __main__["__main__.py"]
    catalog["catalog"]
    components["components"]
    settings["settings, parts, planning"]
    __main__ --> components
    components --> settings
    settings --> catalog
"""
    )
    assert diagram(checkout, program=False).splitlines()[3:] == ['    agents["agents"]']


def test_the_way_from_the_program_to_a_module_is_the_shortest(checkout: Checkout) -> None:
    assert steps(checkout, "physical_ai/catalog/sizes.py") == [
        "__main__.py",
        "components/pool.py",
        "physical_ai/catalog/sizes.py",
    ]
    assert steps(checkout, "agents/driver/agent/plan.py") == []


def test_what_the_program_imports_is_counted_by_module(checkout: Checkout) -> None:
    assert of_program(checkout) == (4, 6)
    assert "agents/driver/agent/plan.py" in small_with_one_importer(checkout)
    assert "physical_ai/catalog/sizes.py" not in small_with_one_importer(checkout)


def test_a_part_is_counted_by_its_files_and_by_who_imports_them(checkout: Checkout) -> None:
    for name, text in {
        "parts/mill/part.py": "A = 1\n",
        "parts/mill/mill-values.yaml": "a: 1\nb: 2\n",
        "parts/mill/charts.yaml": "- name: grinder\n  a: 1\n",
        "components/mill.py": "from parts.mill.part import A\n",
        "simulator/mill/model.py": "B = 1\n",
        "simulator/charts/data/grinder/values.yaml": "a: 1\n",
        "tests/unit/parts/mill/test_mill.py": "",
    }.items():
        (checkout.root / name).parent.mkdir(parents=True, exist_ok=True)
        (checkout.root / name).write_text(text)
    assert list(parts(read_again(checkout.root))) == [("mill", "3", "5", "1", "2", "1")]


def test_functions_with_one_body_are_found_whatever_their_docstrings(checkout: Checkout) -> None:
    body = "    b = a + 1\n    if b:\n        b += 2\n    return b\n"
    (checkout.root / "components" / "one.py").write_text(f"def f(a):\n    'Text.'\n{body}")
    (checkout.root / "components" / "two.py").write_text(f"def g(a: int) -> int:\n{body}def h(c):\n{body}")
    assert duplicates(read_again(checkout.root)) == [("components/one.py:f", "components/two.py:g")]


def test_each_module_is_of_one_distribution(own: Checkout) -> None:
    assert sum(int(modules) for _, modules, _ in distributions(own)) == len(own.modules)


def test_the_core_is_few_imports_away_from_the_program(own: Checkout) -> None:
    assert {path for path in own.modules if path.startswith(CORE) and len(steps(own, path)) - 1 > NEAR} <= FAR
    assert [number for number, _, _ in distances(own)][:NEAR] == ["1", "2", "3", "4"]


def test_the_only_folders_that_import_each_other_are_on_the_floor_of_the_settings(own: Checkout) -> None:
    (group,) = own.folder_cycles()
    assert {"/".join(name.split("/")[:2]) for name in group} == {
        "parts",
        "physical_ai/planning",
        "physical_ai/settings",
    }


def test_modules_that_import_each_other_are_a_cycle(checkout: Checkout) -> None:
    assert checkout.cycles() == [["physical_ai/settings/check.py", "physical_ai/settings/load.py"]]


def test_packages_that_import_each_other_have_no_diagram(tmp_path: Path) -> None:
    for name, other in (("a", "b"), ("b", "a")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text(f"import {other}\n")
    assert cycles(read(tmp_path).arrows) == [["a", "b"]]
    with pytest.raises(ValueError, match="import each other"):
        diagram(read(tmp_path), program=True)


@pytest.fixture(scope="module")
def own() -> Checkout:
    return read(ROOT)


def test_the_diagram_of_this_repository_shows_every_package(own: Checkout) -> None:
    text = diagram(own, program=True) + diagram(own, program=False)
    for name in map(label, own.arrows.keys() - TOGETHER.keys()):
        assert f'["{name}"]' in text


def test_the_numbers_of_this_repository_are_counted(own: Checkout) -> None:
    found = dict(numbers(own))
    assert found["cycles of packages"] == "0"
    assert int(found["packages"]) == len(own.arrows)


def test_no_module_of_the_product_is_longer_than_300_lines() -> None:
    folders = ("components", "parts", "physical_ai", "workbench", "simulator", "agents", "docs", ".github/scripts")
    files = [file for folder in folders for file in (ROOT / folder).rglob("*.py")]
    lines = {file.relative_to(ROOT).as_posix(): len(file.read_text().splitlines()) for file in files}
    assert {name: count for name, count in lines.items() if count > 300} == {}
    assert len(lines) > 1000
