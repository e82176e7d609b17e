"""Effects of the target on the settings: which layers a stack has, which sections it needs, and which rules apply.

No other module of the settings depends on the target. The others only see its effects, such as a pool with a node
selector, or a stack without a virtual network.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path as FilePath
from typing import Any, get_args

from physical_ai.settings.faults import Fault
from physical_ai.settings.guards import is_map
from physical_ai.settings.layers.merge import Layer
from physical_ai.settings.layers.names import StackName, layer_files, name_faults, target_layer
from physical_ai.settings.layers.paths import Path
from physical_ai.settings.models.target import Target, TargetKind
from physical_ai.settings.models.tree import Settings

TARGET = "target"
"""Name of the setting `target`. Only a stack file and its overlays may contain it, because it decides which layers
apply.
"""
AZURE: TargetKind = "azure"
EXISTING: TargetKind = "existing"

_ALL = "*"
_REQUIRED: dict[TargetKind, tuple[Path, ...]] = {
    AZURE: (("network",), ("cluster", "tier"), ("cluster", "upgrades"), ("systemPool",), ("pools", _ALL, "subnet")),
    EXISTING: (("target", "context"), ("cpuPool", "nodeSelector"), ("pools", _ALL, "nodeSelector")),
}
"""Settings that each kind of target requires and that have no default. A setting whose whole section is missing is not
reported here.
"""


def kind_of(settings: Settings) -> TargetKind:
    return settings.target.kind


def existing_cluster(settings: Settings) -> Target | None:
    """Target of a stack on an existing cluster; None for a stack that creates its cluster."""
    return settings.target if settings.target.kind == EXISTING else None


def leaves_nothing(settings: Settings) -> bool:
    """True where the objects that charts leave in an existing cluster are removed with the stack."""
    return settings.target.kind == EXISTING and settings.target.leave == "nothing"


def names_cluster(settings: Settings) -> bool:
    """True if a setting is set that only applies to an existing cluster."""
    target = settings.target
    return target.context is not None or target.kubeconfig is not None or target.leave != "definitions"


def chosen_kind(above: Sequence[Layer]) -> TargetKind:
    """Kind of target of a stack: the kind in the highest of the layers `above` that sets one, or Azure if none does.
    `above`: the stack's own layer and its overlays, lowest first.

    An invalid kind is left to the check of types.
    """
    given = (layer.data.get(TARGET) for layer in reversed(above))
    kinds = (target.get("kind") for target in given if is_map(target) and "kind" in target)
    return _kind(next(kinds, AZURE))


def layers_of(kind: TargetKind, name: StackName, root: FilePath) -> dict[str, FilePath]:
    """Layer files that apply below a stack's profile and its own file, lowest priority first. Keys are the names that
    messages show.

    A stack on an existing cluster has no region and environment layers, because these describe AKS clusters.
    """
    return layer_files(name, root) if kind == AZURE else target_layer(EXISTING, root)


def faults_of_name(kind: TargetKind, name: StackName, root: FilePath) -> list[Fault]:
    """Faults of a well-formed stack name; none for an existing cluster, whose name has no Azure region."""
    return name_faults(name, root) if kind == AZURE else []


def without_target(layer: Layer, faults: list[Fault]) -> Layer:
    """The layer without the setting `target`. If the layer has the setting, a fault is added: a file that stacks share
    may not set it.
    """
    if TARGET not in layer.data:
        return layer
    problem = "A layer can't have a target: it decides which layers there are."
    faults.append(layer.fault((TARGET,), problem, "Write it in the stack file, as physical-ai:target."))
    return Layer(layer.label, {key: value for key, value in layer.data.items() if key != TARGET}, layer.prefix)


def missing_settings(data: Mapping[str, Any]) -> Iterator[Path]:
    """Paths of the settings that the target needs, and that no file sets."""
    given: Any = data.get(TARGET)
    for path in _REQUIRED[_kind(given.get("kind", AZURE) if is_map(given) else AZURE)]:
        yield from _missing(data, path, ())


def _missing(data: Any, path: Path, above: Path) -> Iterator[Path]:
    if not is_map(data):
        return
    first, rest = path[0], path[1:]
    for key in list(data) if first == _ALL else [str(first)]:
        if rest and key in data:
            yield from _missing(data[key], rest, (*above, key))
        elif not rest and key not in data:
            yield (*above, key)


def _kind(value: Any) -> TargetKind:
    return value if value in get_args(TargetKind) else AZURE
