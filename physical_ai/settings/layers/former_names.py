"""Former names of settings: a layer that has one gets the present name, and a warning with the version.

The notes of releases say which settings were renamed or deprecated (`physical_ai/releases`).
"""

from __future__ import annotations

from dataclasses import replace

from physical_ai.releases.notes import Release, Rename
from physical_ai.releases.renames import Former, Place, deprecated, found, in_force, is_set, keys, moved, places
from physical_ai.settings.faults import Fault
from physical_ai.settings.layers.merge import Layer
from physical_ai.settings.layers.paths import Path, show


def with_present_names(layer: Layer, faults: list[Fault]) -> Layer:
    """The layer with the present name of each setting that it has by an old name.

    Warnings about old names, and about deprecated settings, are added to `faults`; an error where the layer has both
    names.
    """
    for release, deprecation in deprecated():
        for path in found(keys(deprecation.path), layer.data):
            problem = f"'{path[-1]}' is deprecated since version {release.version}, and {deprecation.until} refuses it."
            faults.append(layer.fault(path, problem, deprecation.instead).as_warning())
    for release, rename in in_force():
        for place in list(places(rename, layer.data)):
            faults.append(_fault(layer, release, rename, place))
            layer = _renamed(layer, rename, place)
    return layer


def _fault(layer: Layer, release: Release, rename: Rename, place: Place) -> Fault:
    new = f"{layer.prefix}{show(place.new)}"
    if is_set(layer.data, place.new):
        problem = f"This is the former name of {new}, which the file has, too."
        return layer.fault(place.old, problem, "Remove the former name.")
    fix = f"Write {new}, or let `physai upgrade` rewrite it. Version {rename.until} refuses the former name."
    return layer.fault(place.old, Former(release, rename, place.old).problem, fix).as_warning()


def _renamed(layer: Layer, rename: Rename, place: Place) -> Layer:
    data = moved(layer.data, rename, place)
    count = len(place.old)
    below: dict[Path, int] = {
        (*place.new, *path[count:]): line for path, line in layer.lines.items() if path[:count] == place.old
    }
    return replace(layer, data=data, lines={**layer.lines, **below})
