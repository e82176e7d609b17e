"""Profile that a stack names: a layer for a complete architecture, above its environment and region."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path as FilePath

from physical_ai.catalog import nearest
from physical_ai.settings.faults import Fault
from physical_ai.settings.layers.merge import Layer
from physical_ai.settings.layers.names import profiles

PROFILE = "profile"
"""The setting that names it. Only a stack file and what is laid over it may: the layers below come before it."""


def chosen(above: Sequence[Layer], root: FilePath) -> tuple[str | None, list[Fault]]:
    """The profile named last by the stack's own layer and the overlays, lowest first; None where none is.

    The second part lists faults of the name. A name that is not text is left to the check of types.
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
    """The layer of a shared file without its profile, which only a stack file may name; a fault is added for one."""
    if PROFILE not in layer.data:
        return layer
    problem = "A layer can't name a profile: the layers are chosen before it is read."
    faults.append(layer.fault((PROFILE,), problem, "Name it in the stack file, as physical-ai:profile."))
    return replace(layer, data={key: value for key, value in layer.data.items() if key != PROFILE})
