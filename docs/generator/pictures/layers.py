"""The layers of a stack, with one setting traced through them."""

from __future__ import annotations

from docs.generator.pictures.mermaid import STRONG, box, chain, diagram
from physical_ai.nested import at
from physical_ai.settings import load

STACK, SETTING = "prod-westus2", "pools.h100gpu.scale.max"
MISSING = object()


def layers() -> str:
    """Flow chart of the stack's files, lowest layer first, with what each says of the setting."""
    loaded = load(STACK)
    [row] = loaded.explain(SETTING)
    boxes: list[str] = []
    said: list[str] = []
    for number, layer in enumerate(loaded.merged.layers):
        value = at(layer.data, SETTING, MISSING)
        boxes.append(box(f"layer{number}", layer.label, _says(value), strong=value is not MISSING))
        if value is not MISSING:
            said.append(f"{layer.label} sets {value}")
    boxes.append(box("effective", "in effect", f"{SETTING}: {row.value}", strong=True))
    names = [*(f"layer{number}" for number in range(len(loaded.merged.layers))), "effective"]
    described = f"Lowest layer first. {'; '.join(said)}. In effect is {row.value}, from {row.origin}."
    title = f"{SETTING} of {STACK}, layer by layer"
    return diagram("flowchart TD", title, described, [*boxes, chain(names), STRONG])


def _says(value: object) -> str:
    return "does not set it" if value is MISSING else f"max: {value}"
