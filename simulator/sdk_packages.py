"""Lazy loading of the SDKs' packages: a module loads when one of its names is first used.

A package of azure-native normally imports all of its modules: `network` has 160, of which the program uses six. The
unused modules take half of the second that loading the SDK takes.
"""

from __future__ import annotations

import ast
import importlib
import importlib.util
import re
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

_IMPORTED = re.compile(r"^from \.(\w+) import \*$", re.MULTILINE)
SDKS = ("pulumi_azure_native", "pulumi_kubernetes")
_SHARED = ("_inputs", "_enums")
"""Names of modules whose types many resource modules of the SDK use."""


def load_on_demand(package: str) -> None:
    """Makes an SDK's package load its modules on demand, unless it is already loaded."""
    parent, _, name = package.rpartition(".")
    importlib.import_module(parent)
    existing = sys.modules.get(package)
    if type(existing) is ModuleType:
        return  # azure-native's modules have a class of their own until they are loaded
    spec = importlib.util.find_spec(package)
    if spec is None or spec.origin is None or spec.submodule_search_locations is None:
        raise ImportError(f"{package} is not a package", name=package)
    with open(spec.origin, encoding="utf-8") as file:
        modules = {_key(module): module for module in _IMPORTED.findall(file.read())}
    replaced = existing or ModuleType(package)
    # The module object stays the same, since other modules may have imported it. It gets the plain class, since the
    # SDK's own class would load everything.
    replaced.__class__ = ModuleType
    replaced.__dict__.update(
        __spec__=spec,
        __file__=spec.origin,
        __path__=spec.submodule_search_locations,
        __package__=package,
        __getattr__=_finder(package, modules),
    )
    sys.modules[package] = replaced
    setattr(sys.modules[parent], name, replaced)


def load_used(module: ModuleType) -> None:
    """Loads each SDK module that defines a name in the source of `module`: for `network.Subnet`, the module that
    defines `Subnet`.
    """
    source = Path(str(module.__file__)).read_text(encoding="utf-8")
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Attribute):
            _resolved(node, vars(module))


def _resolved(node: ast.expr, names: Mapping[str, Any]) -> Any:
    """The object of an SDK that a dotted name stands for; None for any other expression."""
    if isinstance(node, ast.Name):
        found = names.get(node.id)
        return found if isinstance(found, ModuleType) and found.__name__.startswith(SDKS) else None
    base = _resolved(node.value, names) if isinstance(node, ast.Attribute) else None
    return getattr(base, node.attr, None) if base is not None and isinstance(node, ast.Attribute) else None


def _key(name: str) -> str:
    return name.replace("_", "").lower()


def _finder(package: str, modules: Mapping[str, str]) -> Callable[[str], Any]:
    """A `__getattr__` for the package, which looks for a name first in the module that is likely to define it, then in
    all modules.
    """

    def find(name: str) -> Any:
        likely = [modules[key] for key in _keys(name) if key in modules]
        if not likely and (name.startswith("__") or importlib.util.find_spec(f"{package}.{name}") is not None):
            raise AttributeError(name)  # a module, which the import system loads
        loaded = vars(sys.modules[package])
        for module in dict.fromkeys((*likely, *_SHARED, *modules.values())):
            if module in modules.values():
                found = importlib.import_module(f".{module}", package)
                # All names of the module are set again: the import has put the module itself in the place of functions
                # of the same name, such as `get_client_config`.
                loaded.update({each: getattr(found, each) for each in found.__all__})
            if name in loaded:
                return loaded[name]
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    return find


def _keys(name: str) -> tuple[str, ...]:
    key = _key(name)
    return (key, *(key.removesuffix(suffix) for suffix in ("args", "initargs", "output")))
