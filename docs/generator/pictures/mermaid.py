"""Mermaid's notation: what all diagrams of this folder share.

Diagrams set no colours, so that they follow the theme of the page in light and dark. They are at most two boxes wide,
so that they stay legible on a phone. Each has a title and a description for readers who cannot see it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

STRONG = "classDef strong stroke-width:4px"
"""Class of boxes with a thick border, in the notation of flow charts."""


def diagram(kind: str, title: str, description: str, lines: Iterable[str]) -> str:
    """Text of a diagram with its title and its description.

    >>> print(diagram("flowchart TD", "Two steps", "a comes before b.", ["a --> b"]), end="")
    flowchart TD
        accTitle: Two steps
        accDescr: a comes before b.
        a --> b
    """
    head = (f"accTitle: {title}", f"accDescr: {' '.join(description.split())}")
    return "".join(f"{line}\n" for line in (kind, *(f"    {line}" for line in (*head, *lines))))


def box(name: str, *texts: str, strong: bool = False) -> str:
    """Box of a flow chart. Each text begins on a new line; text between backticks is shown without them.

    >>> box("step-1", "one", "`two`")
    'step_1["one<br>two"]'
    """
    return f'{key(name)}["{"<br>".join(map(escaped, filter(None, texts)))}"]{":::strong" if strong else ""}'


def key(name: str) -> str:
    """Name of a box in the notation, in which a hyphen would be part of an arrow."""
    return "".join(each if each.isalnum() else "_" for each in name)


def escaped(text: str) -> str:
    """Text without what the notation gives a meaning."""
    return text.replace("`", "").replace('"', "'").replace("<", "‹").replace(">", "›")


def chain(names: Iterable[str]) -> str:
    """Arrows from each box to the next one."""
    return " --> ".join(map(key, names))


def frame(title: str, lines: Iterable[str]) -> list[str]:
    """Frame around boxes. Without a direction of its own, a frame that an arrow leads to would be laid out sideways."""
    return [f'subgraph {key(title)}["{escaped(title)}"]', "    direction TB", *(f"    {each}" for each in lines), "end"]


def framed_chain(frames: Mapping[str, Mapping[str, str]]) -> list[str]:
    """Frames below each other, with a chain of boxes in each.

    The arrows between frames end at the frames: an arrow to a box would cross the title.

    Args:
        frames: boxes by name, by the title of their frame.
    """
    lines = [line for title, boxes in frames.items() for line in frame(title, [*boxes.values(), chain(boxes)])]
    return [*lines, chain(frames)]
