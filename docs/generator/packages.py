"""The packages of a checkout, their sizes, and the imports between them.

The module reads source files, and imports none of them.
"""

from __future__ import annotations

import ast
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path, PurePosixPath
from typing import Any

OPENED = ("physical_ai", "workbench")
"""Folders whose subfolders are separate packages. Their own modules belong to no package."""
EXCLUDED = {"tests"}
COMPOSITION = PurePosixPath("components/platform")
"""The folder that puts components and parts together."""
TOGETHER = {"parts": "settings", "planning": "settings"}
"""Packages that count as one package with another, by that other: a part has its settings in the tree of settings, and
its plan reads that tree; loading a stack makes its plan.
"""
LOADED: Mapping[str, str] = {
    "parts/components.py": "parts/*/component.py",
    "parts/registry.py": "parts/*/part.py",
    "physical_ai/settings/models/parts.py": "parts/*/model.py",
}
"""Modules that import others by a computed name, and the pattern of the modules that they import."""
ENTRY = "__main__"
"""The program that `pulumi up` runs."""


Shape = tuple[tuple[str, ...], tuple[str, ...]]
"""Names of a function's parameters, and the kinds of its statements without the docstring. Functions with one body have
one shape."""


@dataclass(frozen=True)
class Module:
    """One Python file: its package, its length, and its imports."""

    path: str
    package: str
    lines: int
    longest_function: int
    names: frozenset[tuple[str, str]]
    """Imported modules by dotted name, each with the name that is taken from it; empty for `import module`."""
    shapes: tuple[Shape, ...]
    """Shape of each function, by which those that may have one body are found without another look at the file."""


def package_of(path: str) -> str:
    """The package of a file by its path: its top folder, or the folder below `physical_ai`.

    >>> package_of("physical_ai/catalog/load.py"), package_of("components/osmo/osmo.py"), package_of("__main__.py")
    ('catalog', 'components', '__main__')
    """
    first, *rest = PurePosixPath(path).with_suffix("").parts
    if first == "parts" and rest[-1] in {"component", "components"}:
        return "part components"
    if PurePosixPath(path).parent == COMPOSITION:
        return "platform"
    if first not in OPENED:
        return first
    return rest[0] if len(rest) > 1 else ""


@dataclass(frozen=True)
class Checkout:
    """The Python modules of a checkout, without its tests."""

    root: Path
    modules: Mapping[str, Module]

    @cached_property
    def by_name(self) -> dict[str, str]:
        """Paths of the modules by dotted name: relative to the root, and to the folder above the outermost package."""
        found: dict[str, str] = {}
        for path in self.modules:
            base = (self.root / path).parent
            while (base / "__init__.py").is_file():
                base = base.parent
            for start in (base, self.root):
                name = ".".join((self.root / path).relative_to(start).with_suffix("").parts)
                found[name.removesuffix(".__init__")] = path
        return found

    @cached_property
    def imports(self) -> dict[str, set[str]]:
        """The modules that each module imports or loads by name; keys and values are paths."""
        return {
            path: {target for name in module.names if (target := self._target(*name))} - {path} | self._loaded(path)
            for path, module in self.modules.items()
        }

    def _loaded(self, path: str) -> set[str]:
        pattern = LOADED.get(path)
        return {each for each in self.modules if PurePosixPath(each).match(pattern)} if pattern else set()

    def _target(self, module: str, name: str) -> str | None:
        """Path of an imported module: for `from a import b`, the path of `a.b` if that is a module, else of `a`."""
        return self.by_name.get(f"{module}.{name}") or self.by_name.get(module)

    @cached_property
    def arrows(self) -> dict[str, set[str]]:
        """The packages that each package imports."""
        found: dict[str, set[str]] = {each.package: set() for each in self.modules.values() if each.package}
        for path, targets in self.imports.items():
            package = self.modules[path].package
            if package:
                found[package] |= {self.modules[each].package for each in targets} - {package, ""}
        return found

    @cached_property
    def floors(self) -> dict[str, set[str]]:
        """The packages that each package imports, where packages in `TOGETHER` count as one."""
        found: dict[str, set[str]] = {}
        for package, targets in self.arrows.items():
            own = TOGETHER.get(package, package)
            found.setdefault(own, set()).update({TOGETHER.get(each, each) for each in targets} - {own})
        return found

    @cached_property
    def program(self) -> set[str]:
        """The packages that the program imports, directly or indirectly."""
        return reachable(self.arrows, ENTRY) | {ENTRY}

    @cached_property
    def ways(self) -> dict[str, list[str]]:
        """Modules on a shortest path of imports from the program to each module that it imports, both included."""
        found = {f"{ENTRY}.py": [f"{ENTRY}.py"]}
        rest = deque(found)
        while rest:
            path = rest.popleft()
            for each in sorted(self.imports.get(path, set()) - found.keys()):
                found[each] = [*found[path], each]
                rest.append(each)
        return found

    def lines(self, package: str) -> int:
        return sum(each.lines for each in self.modules.values() if each.package == package)

    def cycles(self) -> list[list[str]]:
        """Groups of modules that import each other."""
        return cycles(self.imports)

    def _folder(self, path: str) -> PurePosixPath:
        package = self.modules[path].package
        return PurePosixPath(package) if package in {"parts", "part components"} else PurePosixPath(path).parent

    def folder_cycles(self) -> list[list[str]]:
        """Groups of folders that import each other. A folder and its subfolder do not count.

        The folders of parts count as two: their components, which are above the core's, and everything else, which is
        on the floor of the settings.
        """
        folders: dict[str, set[str]] = {}
        for path, targets in self.imports.items():
            own = self._folder(path)
            below = folders.setdefault(own.as_posix(), set())
            for other in map(self._folder, targets):
                if own != other and own not in other.parents and other not in own.parents:
                    below.add(other.as_posix())
        return cycles(folders)


@cache
def read(root: Path) -> Checkout:
    """A checkout without hidden folders and tests, read once."""
    tops = [each for each in root.iterdir() if not each.name.startswith(".") and each.name not in EXCLUDED]
    files = [
        file for each in tops for file in (each.rglob("*.py") if each.is_dir() else [each]) if file.suffix == ".py"
    ]
    paths = {file.relative_to(root).as_posix(): file for file in files}
    return Checkout(root, {relative: _module(paths[relative], relative) for relative in sorted(paths)})


def _module(path: Path, relative: str) -> Module:
    text = path.read_text(encoding="utf-8")
    functions: list[int] = []
    shapes: list[Shape] = []
    names: set[tuple[str, str]] = set()
    for node in statements(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            functions.append((node.end_lineno or node.lineno) - node.lineno + 1)
            shapes.append(shape(node))
        elif isinstance(node, ast.Import | ast.ImportFrom):
            names.update(imported(node, PurePosixPath(relative)))
    longest = max(functions, default=0)
    return Module(
        relative, package_of(relative), len(text.splitlines()), longest, frozenset(names), tuple(sorted(shapes))
    )


def shape(function: ast.FunctionDef | ast.AsyncFunctionDef) -> Shape:
    """Shape of a function, in which its expressions do not count."""
    arguments = function.args
    others = (arguments.vararg, arguments.kwarg)
    named = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, *(each for each in others if each)]
    kinds = (type(each).__name__ for part in without_docstring(function) for each in statements(part))
    return tuple(each.arg for each in named), tuple(kinds)


def without_docstring(function: ast.FunctionDef | ast.AsyncFunctionDef) -> list[ast.stmt]:
    """Statements of a function's body, but for its docstring."""
    return function.body[1:] if ast.get_docstring(function, clean=False) is not None else function.body


def statements(module: ast.AST) -> Iterator[ast.stmt]:
    """All statements of a module or statement, at any depth, itself included.

    Expressions, which are most of the tree, contain none and are not visited.
    """
    rest: list[Any] = [module]
    while rest:
        node = rest.pop()
        if isinstance(node, ast.stmt):
            yield node
        for block in ("body", "orelse", "finalbody", "handlers", "cases"):
            rest += getattr(node, block, ())


def imported(node: ast.Import | ast.ImportFrom, path: PurePosixPath) -> Iterable[tuple[str, str]]:
    """The modules of an import statement, each with the name that is taken from it."""
    if isinstance(node, ast.Import):
        return [(alias.name, "") for alias in node.names]
    base = ".".join([*(path.parts[: -node.level] if node.level else ()), *([node.module] if node.module else [])])
    return [(base, alias.name) for alias in node.names]


def reachable(arrows: Mapping[str, set[str]], start: str) -> set[str]:
    """Everything that can be reached from a node, without the node unless it is part of a cycle."""
    found, rest = set[str](), list(arrows.get(start, ()))
    while rest:
        if (each := rest.pop()) not in found:
            found.add(each)
            rest += arrows.get(each, ())
    return found


def cycles(arrows: Mapping[str, set[str]]) -> list[list[str]]:
    """Groups of nodes that can all be reached from each other, largest first."""
    left = set(arrows)
    while ends := {each for each in left if not arrows[each] & left}:
        left -= ends
    inner = {each: arrows[each] & left for each in left}  # a path in circles never leaves these
    reach = {each: reachable(inner, each) for each in inner}
    groups = {frozenset(other for other in reach[each] if each in reach[other]) for each in inner}
    return sorted((sorted(group) for group in groups if len(group) > 1), key=lambda group: (-len(group), group))


def implied(arrows: Mapping[str, set[str]]) -> set[tuple[str, str]]:
    """Arrows that other arrows imply: the package is imported directly, and through a third package as well."""
    return {
        (source, target)
        for source, targets in arrows.items()
        for target in targets
        if any(target in reachable(arrows, other) for other in targets - {target})
    }
