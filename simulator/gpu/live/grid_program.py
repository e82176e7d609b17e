"""The GRID driver agent as its DaemonSet mounts it: simulated nodes run the deployed program.

The files come from the Pod's ConfigMap, and each set of files is imported as a package with a unique name, so that
nodes can run several versions during a roll-out. This module declares everything of the program that the simulator
uses.
"""

from __future__ import annotations

import hashlib
import importlib
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.abc import ExecutionLoader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_loader
from types import ModuleType
from typing import Any, Protocol

from simulator.cluster.objects import Json, at

PACKAGE = "grid_agent"
"""Package name under which the agent's modules import each other."""


class ProgramFault(Exception):
    """Error if the mounted files are not a program that the simulator can run; the text gives the reason."""


class Word(Protocol):
    """Interface of a member of an enumeration in the agent's code."""

    @property
    def value(self) -> str: ...


class Memory(Protocol):
    @property
    def state(self) -> Word: ...
    @property
    def sentence(self) -> str: ...
    @property
    def is_done(self) -> bool:
        """True if the agent's Pod is ready in this state."""
        ...


class Target(Protocol):
    @property
    def version(self) -> str: ...
    @property
    def sha256(self) -> str: ...
    @property
    def module_type(self) -> str: ...
    @property
    def urls(self) -> tuple[str, ...]: ...


class Wanted(Protocol):
    @property
    def module_parameters(self) -> Mapping[str, Mapping[str, str]]: ...


class Pod(Protocol):
    @property
    def namespace(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def uid(self) -> str: ...


class Condition(Protocol):
    @property
    def status(self) -> str: ...
    @property
    def reason(self) -> str: ...
    @property
    def message(self) -> str: ...


class Facts(Protocol):
    """Interface of the agent's module `facts`: constructors of observations, types of errors, and names of operands."""

    Gpu: Callable[..., object]
    HostFacts: Callable[..., object]
    Job: Callable[..., object]
    Module: Callable[..., object]
    NodeFacts: Callable[..., object]
    Pod: Callable[..., object]
    Record: Callable[..., object]
    Smi: Callable[..., object]
    HostError: Callable[[str], Exception]
    ClusterError: Callable[[str, str], Exception]
    OPERANDS: Sequence[str]


@dataclass(frozen=True)
class Program:
    """The agent's program from one set of files: those of its functions and types that the simulator uses."""

    facts: Facts
    advance: Callable[[Memory, Any, Any, Wanted, float], Memory]
    """Function that returns the agent's memory after one step. Arguments: memory, host, cluster, settings, and the time
    in seconds since the epoch.
    """
    fresh_memory: Callable[[], Memory]
    to_document: Callable[[Memory], Json]
    from_document: Callable[[Json], Memory]
    wanted_from: Callable[[Mapping[str, Any]], Wanted]
    for_pool: Callable[[Mapping[str, Any], Callable[[], str]], Mapping[str, Any]]
    step: Callable[[str], object]
    target: Callable[..., object]
    metrics: Callable[[Memory, Wanted | None, float], str]
    """Function that returns the agent's metrics. Arguments: memory, settings, and the time of the last check in seconds
    since the epoch.
    """

    def remembered(self, document: Json | None) -> Memory:
        """The agent's memory from `document`, which another version of the agent may have written. A fresh memory if
        `document` is None or if this version cannot read it.
        """
        if document is None:
            return self.fresh_memory()
        try:
            return self.from_document(document)
        except (KeyError, TypeError, ValueError, AttributeError, ArithmeticError):
            return self.fresh_memory()


def files_of(pod: Json, config_maps: Mapping[str, Json]) -> dict[str, str]:
    """Files of the ConfigMaps that the Pod mounts, by path in the volume.

    Raises:
        ProgramFault: A ConfigMap, or a key that the Pod names, is missing.
    """
    files: dict[str, str] = {}
    for volume in at(pod, "spec.volumes", []):
        source: Json | None = volume.get("configMap")
        if source is None:
            continue
        if source["name"] not in config_maps:
            raise ProgramFault(f'configmap "{source["name"]}" not found')
        data: Mapping[str, str] = at(config_maps[source["name"]], "data", {})
        items: list[Json] = source.get("items") or [{"key": key, "path": key} for key in data]
        for item in items:
            if item["key"] not in data:
                # As kubelet reports it (kubernetes/kubernetes, pkg/volume/configmap).
                where = f"{at(pod, 'metadata.namespace')}/{source['name']}"
                raise ProgramFault(f"configmap {where} references non-existent config key: {item['key']}")
            files[item["path"]] = data[item["key"]]
    return files


def load(files: Mapping[str, str]) -> Program:
    """The program in `files`. Equal files always return the same object.

    Raises:
        ProgramFault: The files lack a module or a name, or fail to import.
    """
    digest = hashlib.sha256(repr(sorted(files.items())).encode()).hexdigest()[:16]
    if digest not in _loaded:
        _loaded[digest] = _load(DeployedFiles(f"deployed_{PACKAGE}_{digest}", files))
    found = _loaded[digest]
    if isinstance(found, Program):
        return found
    raise ProgramFault(found)


_loaded: dict[str, Program | str] = {}
"""Loaded programs, by digest of their files. A text in place of a program is the reason why the files
cannot be loaded.
"""


class DeployedFiles(MetaPathFinder, ExecutionLoader):
    """Importer that loads one set of files as the package `package`. `written`: package name that the files use in
    their imports; these imports are rewritten to `package`.
    """

    def __init__(self, package: str, files: Mapping[str, str], written: str = PACKAGE) -> None:
        self.package = package
        self._paths = {
            self._module(path): path for path in files if path.startswith(f"{written}/") and path.endswith(".py")
        }
        own_imports = re.compile(rf"^(\s*(?:from|import) ){written}\b", re.MULTILINE)
        self._sources = {
            module: own_imports.sub(rf"\g<1>{package}", files[path]) for module, path in self._paths.items()
        }

    def _module(self, path: str) -> str:
        parts = path.removesuffix(".py").removesuffix("/__init__").split("/")
        return ".".join((self.package, *parts[1:]))

    def find_spec(self, fullname: str, path: object = None, target: object = None) -> ModuleSpec | None:
        return spec_from_loader(fullname, self) if fullname in self._sources else None

    def get_source(self, fullname: str) -> str:
        return self._sources[fullname]

    def get_filename(self, fullname: str) -> str:
        return self._paths[fullname]

    def is_package(self, fullname: str) -> bool:
        return fullname == self.package or self._paths[fullname].endswith("/__init__.py")

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return None


def _load(files: DeployedFiles) -> Program | str:
    """The program in the files, or the reason why the files cannot be loaded as a program."""

    def module(name: str) -> Any:
        return importlib.import_module(f"{files.package}.{name}")

    sys.meta_path.append(files)
    try:
        memory, wanted = module("memory"), module("wanted")
        facts: Facts = module("facts")
        for attribute in Facts.__annotations__:
            getattr(facts, attribute)
        return Program(
            facts=facts,
            advance=module("machine").advance,
            fresh_memory=memory.Memory,
            to_document=memory.to_document,
            from_document=memory.from_document,
            wanted_from=wanted.wanted_from,
            for_pool=wanted.for_pool,
            step=module("steps").Step,
            target=wanted.Target,
            metrics=module("metrics").render,
        )
    except (Exception, SystemExit) as fault:  # anything that a file may raise on import
        sys.meta_path.remove(files)
        for name in [each for each in sys.modules if each.partition(".")[0] == files.package]:
            del sys.modules[name]
        return f"the agent does not start: {type(fault).__name__}: {fault}".replace(files.package, PACKAGE)
