"""The profile of a stack: an optional layer between the environment and region layers and the stack file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path as FilePath

from physical_ai.catalog import nearest
from physical_ai.settings.faults import Fault
from physical_ai.settings.layers.merge import Layer
from physical_ai.settings.layers.names import profiles

PROFILE = "profile"
"""Setting with the profile's name.

Only a stack file and its overlays may set it: the profile's own layer and the layers below it are read afterwards.
"""


def chosen(above: Sequence[Layer], root: FilePath) -> tuple[str | None, list[Fault]]:
    """Name of the profile that the stack chooses, and the faults of the name; None if no valid profile is chosen.

    `above`: the stack's own layer and its overlays, lowest first; the last one that sets a profile counts. A name that
    is not text is reported by the check of types.
    """
    naming = next((layer for layer in reversed(above) if PROFILE in layer.data), None)
    name = naming.data[PROFILE] if naming is not None else None
    known = profiles(root)
    if naming is None or not isinstance(name, str) or name in known:
        return (name if name in known else None), []
    near = nearest(name, known)
    fix = f"Did you mean '{near}'?  " if near else ""
    fix += f"Profiles: {', '.join(known)}." if known else "There are no profiles."
    fix += f"  A new one is a file in {root.name}/layers/profile."
    return None, [naming.fault((PROFILE,), f"There is no profile '{name}'.", fix)]


def without_profile(layer: Layer, faults: list[Fault]) -> Layer:
    """The layer without the setting `profile`. If the layer has the setting, a fault is added: only a stack file may
    set it.
    """
    if PROFILE not in layer.data:
        return layer
    problem = "A layer can't name a profile: the layers are chosen before it is read."
    faults.append(layer.fault((PROFILE,), problem, "Name it in the stack file, as physical-ai:profile."))
    return replace(layer, data={key: value for key, value in layer.data.items() if key != PROFILE})
