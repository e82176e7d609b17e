"""Imports between packages point one way, without circles, and Pulumi stays where resources are declared."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

from docs.generator.packages import LOADED, read
from physical_ai.repository import ROOT
from tests.support.cases import in_one_test

MAY_IMPORT: dict[str, set[str]] = {
    "catalog": set(),
    "untrusted": set(),
    "servers": set(),
    "kubernetes": set(),
    "telemetry": {"catalog"},
    "releases": {"catalog"},
    "subscription": {"catalog", "servers", "settings"},
    "settings": {"catalog", "parts", "planning", "releases", "telemetry", "untrusted"},
    "planning": {"kubernetes", "catalog", "parts", "settings", "telemetry"},
    "readiness": {"planning", "catalog", "kubernetes", "parts", "servers", "settings", "untrusted"},
    # The GRID agent has the reader of nvidia-smi, which acceptance shares with it.
    "health": {"planning", "agents", "catalog", "kubernetes", "parts", "readiness", "settings"},
    "osmo": {"planning", "catalog", "settings", "untrusted"},
    "policies": {"parts", "planning", "catalog", "kubernetes", "settings"},
    "preflight": {"planning", "catalog", "kubernetes", "parts", "servers", "settings", "subscription"},
    "verdict": {"catalog", "readiness", "subscription"},
    "first_contact": {"catalog"},
    "first_gpu": {"catalog", "costs", "policies", "settings"},
    "costs": {"catalog", "parts", "settings"},
    "goodput": {"catalog", "health", "kubernetes", "settings"},
    "impact": {"catalog", "kubernetes", "readiness", "settings"},
    "moves": {"catalog", "health", "impact", "kubernetes", "readiness", "settings", "subscription", "upgrade"},
    "rolls": {"catalog", "health", "impact", "kubernetes", "moves", "readiness", "settings", "subscription"},
    "upgrade": {"releases", "settings", "untrusted"},
    "recordings": {"catalog", "kubernetes", "readiness", "servers", "subscription"},
    # A part's settings are in the tree of settings, and its plan reads that tree.
    "parts": {"planning", "catalog", "settings", "telemetry"},
    "components": {"planning", "catalog", "parts", "readiness", "releases", "settings", "telemetry"},
    "part components": {"catalog", "components", "parts", "settings", "telemetry"},
    "platform": {
        "planning",
        "catalog",
        "components",
        "part components",
        "parts",
        "readiness",
        "releases",
        "settings",
        "subscription",
    },
    "simulator": {"catalog", "kubernetes", "untrusted"},
    "mocks": {"catalog", "components", "platform", "policies", "readiness", "settings"},
    "cli": {
        "planning",
        "catalog",
        "costs",
        "first_contact",
        "first_gpu",
        "goodput",
        "health",
        "impact",
        "kubernetes",
        "mocks",
        "moves",
        "osmo",
        "parts",
        "policies",
        "preflight",
        "readiness",
        "recordings",
        "releases",
        "rolls",
        "servers",
        "settings",
        "simulator",
        "subscription",
        "telemetry",
        "untrusted",
        "upgrade",
        "verdict",
    },
    "agents": set(),
    "docs": {
        "planning",
        "catalog",
        "cli",
        "components",
        "costs",
        "first_gpu",
        "goodput",
        "health",
        "impact",
        "osmo",
        "parts",
        "policies",
        "preflight",
        "readiness",
        "settings",
        "simulator",
        "telemetry",
    },
    "__main__": {"components", "platform"},
}
"""What each package imports of the others, and may import. `tests` may import everything, and nothing imports `tests`.

`simulator/program.py` also runs `__main__.py`, and with it `components`, by its path and on purpose: the program of a
stack is an input of the simulator, as it is of the engine.
"""

FREE_OF_PULUMI = set(MAY_IMPORT) - {
    "components",
    "part components",
    "platform",
    "simulator",
    "mocks",
    "cli",
    "docs",
    "settings",
    "__main__",
}
OUTSIDE = {
    "physical_ai/__init__.py",
    "workbench/__init__.py",
    "physical_ai/repository.py",
    "physical_ai/citations.py",
    "physical_ai/disk_errors.py",
    "physical_ai/findings.py",
    "physical_ai/input_errors.py",
    "physical_ai/nested.py",
    "physical_ai/safe_yaml.py",
}
"""Modules of no package: where the checkout is, what a finding and an error of input or the disk is, how to read JSON
and YAML. All may import them.
"""

TARGET_SETTING = "physical_ai.settings.target"
TARGET_MODEL = "physical_ai.settings.models.target"
SEAM = {
    "platform": "components/platform/target_cluster.py",
    "planning": "physical_ai/planning/namespaces.py",
    "cli": "workbench/cli/existing_check.py",
}
"""Who outside the settings may ask what the target of a stack is: one module of each package. The simulator may have
one too."""


@cache
def packages() -> dict[str, str]:
    """The package of each module; empty for the modules of none."""
    return {path: module.package for path, module in read(ROOT).modules.items()}


def imported(path: str) -> set[str]:
    """The top packages, of this project or others, that a module imports anywhere in its body."""
    return {module.partition(".")[0] for module, _ in read(ROOT).modules[path].names}


def test_every_package_is_known() -> None:
    assert set(packages().values()) - {""} == set(MAY_IMPORT)
    assert {path for path, package in packages().items() if not package} == OUTSIDE


@in_one_test("package", sorted(MAY_IMPORT))
def test_imports_point_one_way(package: str) -> None:
    wrong = {
        path: beyond
        for path, targets in read(ROOT).imports.items()
        if packages()[path] == package
        and (beyond := {packages()[target] for target in targets} - MAY_IMPORT[package] - {package, ""})
    }
    assert wrong == {}


@in_one_test("package", sorted(MAY_IMPORT))
def test_what_a_package_may_import_it_does_import(package: str) -> None:
    assert MAY_IMPORT[package] - read(ROOT).arrows.get(package, set()) == set()


def test_no_circle_of_modules() -> None:
    TopologicalSorter(read(ROOT).imports).prepare()  # names a circle in its error


@in_one_test("depth", [2, 3, 4])
@in_one_test("package", sorted(MAY_IMPORT))
def test_no_circle_of_folders(package: str, depth: int) -> None:
    """`depth`: how many parts of a module's path name its folder, or itself where it is in none so deep."""
    graph: dict[tuple[str, ...], set[tuple[str, ...]]] = {}
    for path, targets in read(ROOT).imports.items():
        if packages()[path] == package:
            part = Path(path).parts[:depth]
            own = {Path(target).parts[:depth] for target in targets if packages()[target] == package}
            graph[part] = graph.get(part, set()) | own - {part}
    TopologicalSorter(graph).prepare()


@in_one_test("package", sorted(FREE_OF_PULUMI))
def test_decisions_do_without_pulumi(package: str) -> None:
    wrong = [path for path in packages() if packages()[path] == package and knows_pulumi(path)]
    assert [path for path in wrong if "/policies/pack/" not in path] == []  # which speaks with the engine


def test_of_the_settings_only_secrets_know_pulumi() -> None:
    users = [path for path in packages() if packages()[path] == "settings" and knows_pulumi(path)]
    assert users == ["physical_ai/settings/secrets.py"]


def knows_pulumi(path: str) -> bool:
    return any(name.startswith("pulumi") for name in imported(path))


def test_only_the_entry_point_imports_commands() -> None:
    commands = "workbench/cli/commands/"
    users = {
        path
        for path, targets in read(ROOT).imports.items()
        if packages()[path] == "cli" and any(target.startswith(commands) for target in targets)
    }
    assert users == {"workbench/cli/main.py"}


def test_the_command_loads_no_facts_or_settings_before_it_knows_what_it_is_asked_for() -> None:
    """Each of the other packages takes a part of a second, which every command would wait for."""
    known, found = {"workbench/cli/main.py"}, list[str]()
    left = [*known]
    while left:
        path = left.pop()
        for name in at_start(path):
            module = read(ROOT).by_name.get(name, "")
            if packages().get(module) == "cli" and module not in known:
                known.add(module)
                left.append(module)
            elif packages().get(module) not in {None, "", "cli", "kubernetes", "untrusted"}:  # which load little
                found.append(f"{path} imports {name}")
    assert found == []
    assert len(known) > 40


def at_start(path: str) -> Iterator[str]:
    """Modules that a module imports when it is loaded."""
    for node in ast.parse((ROOT / path).read_text()).body:
        if isinstance(node, ast.Import):
            yield from (each.name for each in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            yield node.module
            yield from (f"{node.module}.{each.name}" for each in node.names)


def test_nothing_imports_tests() -> None:
    assert [path for path in packages() if "tests" in imported(path)] == []


def test_agents_import_the_standard_library_only() -> None:
    own = {name.partition(".")[0] for name, path in read(ROOT).by_name.items() if packages()[path] == "agents"}
    wrong = {
        path: beyond
        for path in packages()
        if packages()[path] == "agents" and (beyond := imported(path) - sys.stdlib_module_names - own)
    }
    assert wrong == {}


PROGRAM = ("__main__.py", "components/", "parts/", "physical_ai/")
ABOVE = re.compile(r"(workbench|simulator|docs|tests)(\.\w+)+")
"""Name of a module that the program must not know."""
MAY_NAME = re.compile(rf"import_module|__import__|{ABOVE.pattern}")
"""Text without which a module names none, and need not be parsed."""


def named_modules(path: str) -> Iterator[str]:
    """Modules that a module of the program loads by a name that it makes, or names in a text."""
    source = (ROOT / path).read_text()
    if not MAY_NAME.search(source):
        return
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith(("import_module", "__import__")):
            name = node.args[0]
            yield str(name.value) if isinstance(name, ast.Constant) else LOADED.get(path, "any module")
        elif isinstance(node, ast.Constant) and ABOVE.fullmatch(str(node.value)):
            yield str(node.value)


def test_the_program_names_no_module_above_it() -> None:
    found = {(path, name) for path in packages() if path.startswith(PROGRAM) for name in named_modules(path)}
    outside = {(path, name) for path, name in found if name.partition(".")[0] == "kubernetes"}
    assert found - outside == set(LOADED.items())


def asks_for_target(path: str) -> bool:
    """Whether a module outside the settings asks what the target of a stack is."""
    names = read(ROOT).modules[path].names
    dotted = {f"{module}.{name}" for module, name in names} | {module for module, _ in names}
    return bool({TARGET_SETTING, TARGET_MODEL} & dotted) or reads_target((ROOT / path).read_text())


def reads_target(source: str) -> bool:
    """Whether a module reads `target` of what is called, or annotated as, the settings of a stack."""
    if ".target" not in source:
        return False
    tree = ast.parse(source)
    known = {"settings", *_annotated(tree, "Settings")}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr == "target":
            holder = node.value
            if isinstance(holder, ast.Name) and holder.id in known:
                return True
            if isinstance(holder, ast.Attribute) and holder.attr.lstrip("_") == "settings":
                return True
    return False


def _annotated(tree: ast.AST, kind: str) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.arg) and node.annotation is not None and ast.unparse(node.annotation) == kind:
            yield node.arg
        if (
            isinstance(node, ast.AnnAssign)
            and isinstance(node.target, ast.Name)
            and ast.unparse(node.annotation) == kind
        ):
            yield node.target.id


def test_one_module_of_each_package_depends_on_the_target() -> None:
    users: dict[str, set[str]] = {}
    for path in packages():
        if packages()[path] != "settings" and asks_for_target(path):
            users.setdefault(packages()[path], set()).add(path)
    assert len(users.pop("simulator", set())) <= 1
    assert users == {package: {path} for package, path in SEAM.items()}


def test_one_module_of_the_settings_reads_the_target() -> None:
    own = [path for path in packages() if packages()[path] == "settings"]
    assert [path for path in own if reads_target((ROOT / path).read_text())] == ["physical_ai/settings/target.py"]


@pytest.mark.parametrize(
    ("source", "reads"),
    [
        ("def f(settings): return settings.target.kind", True),
        ("def f(given: Settings): return given.target", True),
        ("def f(args): return args.settings.target", True),
        ("class A:\n    def f(self): return self._settings.target", True),
        ("x: Settings = load()\nx.target", True),
        ("def f(args: Args): return args.target", False),
        ("def f(settings): return settings.pools", False),
    ],
)
def test_a_module_that_reads_the_target_is_found(source: str, reads: bool) -> None:
    assert reads_target(source) is reads
