"""Profile that a stack chooses: a layer for a complete architecture, above its environment and region."""

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

Only a stack file and its overlays may set it, because the layers below are chosen before.
"""


def chosen(above: Sequence[Layer], root: FilePath) -> tuple[str | None, list[Fault]]:
    """Profile that the stack's own layer or an overlay sets last, and the faults of its name; None where none is set.

    `above` are these layers, lowest first. A name that is not text is left to the check of types.
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
    """The layer without its profile, which only a stack file may set; a fault is added where the layer has one."""
    if PROFILE not in layer.data:
        return layer
    problem = "A layer can't name a profile: the layers are chosen before it is read."
    faults.append(layer.fault((PROFILE,), problem, "Name it in the stack file, as physical-ai:profile."))
    return replace(layer, data={key: value for key, value in layer.data.items() if key != PROFILE})
