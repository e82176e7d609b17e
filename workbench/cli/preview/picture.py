"""A cluster as an SVG picture: pools, nodes and GPUs, readable in light and dark mode."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from xml.sax.saxutils import escape, quoteattr

Pool = Mapping[str, Any]
WIDTH, MARGIN = 860, 20
HEADER, FOOTER, GAP, PADDING = 62, 44, 12, 14
NODES_AT = 352
"""Horizontal position in pixels at which the nodes begin. Text is to the left of it."""
NODE_WIDTH, NODE_HEIGHT, NODE_GAP = 60, 38, 8
PER_ROW = (WIDTH - MARGIN - PADDING - NODES_AT + NODE_GAP) // (NODE_WIDTH + NODE_GAP)
NODES_SHOWN = 3 * PER_ROW
GPU, GPU_GAP, GPUS_PER_LINE, GPUS_SHOWN = 11, 3, 4, 8
LINE = 15
TEXT_LENGTH = 50
"""Number of characters of the smaller text size that fit to the left of the picture's nodes."""

FONT = "ui-sans-serif, -apple-system, 'Segoe UI', 'Liberation Sans', Arial, sans-serif"
MONO = "ui-monospace, 'SF Mono', 'Liberation Mono', monospace"
LIGHT = {
    "text": "fill: #1f2328",
    ".small, .dim": "fill: #59636e",
    ".spot": "fill: #8250df",
    ".back": "fill: #ffffff",
    ".card": "fill: #f6f8fa; stroke: #d0d7de",
    ".node": "fill: #ffffff; stroke: #1a7f37",
    ".unready": "stroke: #cf222e",
    ".room": "fill: none; stroke: #afb8c1",
    ".gpu": "fill: #0969da; stroke: #0969da",
    ".missing": "fill: none; stroke: #cf222e",
}
DARK = {
    "text": "fill: #f0f6fc",
    ".small, .dim": "fill: #9198a1",
    ".spot": "fill: #ab7df8",
    ".back": "fill: #0d1117",
    ".card": "fill: #151b23; stroke: #3d444d",
    ".node": "fill: #0d1117; stroke: #3fb950",
    ".unready": "stroke: #f85149",
    ".room": "fill: none; stroke: #565e68",
    ".gpu": "fill: #4493f8; stroke: #4493f8",
    ".missing": "fill: none; stroke: #f85149",
}
"""Colours of the dark theme, by CSS selector. They are plain rules and not variables, which some SVG viewers do not
support.
"""


def themes(light: Mapping[str, str], dark: Mapping[str, str]) -> str:
    """CSS rules for pages with a light theme, and for pages with a dark theme."""
    rules = [" ".join(f"{selector} {{ {rule} }}" for selector, rule in each.items()) for each in (light, dark)]
    return f"{rules[0]}\n@media (prefers-color-scheme: dark) {{ {rules[1]} }}"


STYLE = f"""
text {{ font-family: {FONT}; font-size: 12px }}
.title {{ font-size: 18px; font-weight: 600 }} .name {{ font-size: 14px; font-weight: 600 }}
.small {{ font-size: 11px }}
.mono {{ font-family: {MONO}; font-size: 11px }} .node, .room {{ stroke-width: 1.5 }} .room {{ stroke-dasharray: 4 3 }}
{themes(LIGHT, DARK)}
"""


@dataclass(frozen=True)
class Card:
    """A pool with its vertical position and height in the picture, in pixels."""

    pool: Pool
    top: int
    height: int


def picture(document: Mapping[str, Any]) -> str:
    """The picture of a status document (`workbench.cli.stack_status.status_document`)."""
    cards = list(_cards(document["pools"]))
    bottom = cards[-1].top + cards[-1].height if cards else HEADER
    height = bottom + FOOTER
    title = f"{document['stack']}: {document['cluster'] or 'no cluster'}"
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}"'
        f' role="img" aria-label={quoteattr(title)}>',
        f"<title>{escape(title)}</title>",
        f"<style>{STYLE}</style>",
        f'<rect class="back" width="{WIDTH}" height="{height}" rx="8"/>',
        *_header(document),
        *(line for card in cards for line in _card(card)),
        *_footer(bottom),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _cards(pools: Sequence[Pool]) -> Iterator[Card]:
    top = HEADER
    for pool in pools:
        boxes = min(len(pool["members"]) + _room(pool), NODES_SHOWN)
        rows = max(1, -(-boxes // PER_ROW))
        more = LINE if _hidden(pool) else 0
        nodes = rows * (NODE_HEIGHT + NODE_GAP) - NODE_GAP + more
        height = 2 * PADDING + max(nodes, LINE * len(list(_facts(pool))) + 6)
        yield Card(pool, top, height)
        top += height + GAP


def _header(document: Mapping[str, Any]) -> Iterator[str]:
    nodes = sum(pool["nodes"] for pool in document["pools"])
    gpus = sum(_offered(pool, node) for pool in document["pools"] for node in pool["members"])
    releases = ", ".join(f"{each['name']} {each['version']}" for each in document["releases"])
    yield _text(MARGIN, 30, document["stack"], "title")
    counts = f"{document['cluster'] or 'no cluster'} · {_count(nodes, 'node')} · {_count(gpus, 'GPU')} offered"
    yield _text(MARGIN, 49, " · ".join(part for part in (counts, releases) if part), "small")


def _card(card: Card) -> Iterator[str]:
    pool, left, top = card.pool, MARGIN, card.top
    yield f'<g class="pool" id={quoteattr("pool-" + pool["name"])}>'
    yield f'<rect class="card" x="{left}" y="{top}" width="{WIDTH - 2 * MARGIN}" height="{card.height}" rx="6"/>'
    for index, (text, style) in enumerate(_facts(pool)):
        y = top + PADDING + 12 + index * LINE + (4 if index else 0)
        yield _text(left + PADDING, y, text, style)
    members: Sequence[Mapping[str, Any]] = pool["members"][:NODES_SHOWN]
    for index, node in enumerate(members):
        yield from _node(pool, node, *_place(index, top))
    for index in range(len(members), min(len(members) + _room(pool), NODES_SHOWN)):
        x, y = _place(index, top)
        yield f'<rect class="room" x="{x}" y="{y}" width="{NODE_WIDTH}" height="{NODE_HEIGHT}" rx="4"/>'
    if not members and not _room(pool):
        yield _text(NODES_AT, top + PADDING + 12, "no nodes", "dim")
    if hidden := _hidden(pool):
        yield _text(NODES_AT, top + card.height - PADDING + 2, f"and {hidden} more nodes", "small")
    yield "</g>"


def _facts(pool: Pool) -> Iterator[tuple[str, str]]:
    """Lines of text about a pool, each with its CSS class."""
    limits = pool["limits"]
    nodes = f"{pool['ready']}/{pool['nodes']} ready"
    if limits is not None:
        nodes += f", {limits['min']} to {limits['max']}"
    yield pool["name"], "name"
    yield pool["size"], "mono"
    yield f"{pool['priority']}, {nodes}", "spot" if pool["priority"] == "Spot" else ""
    if pool["driverSource"]:
        offered = sum(_offered(pool, node) for node in pool["members"])
        gpus = f"{offered}/{pool['gpusPerNode'] * pool['nodes']} GPUs"
        shared = f", {pool['sharing']}" if _is_shared(pool) else ""
        yield f"{gpus}{shared}; driver {pool['driverSource']} {pool['driverVersion'] or ''}".strip(), ""
    for taint in pool["taints"]:
        yield taint if len(taint) <= TEXT_LENGTH else f"{taint[: TEXT_LENGTH - 1]}…", "small"


def _node(pool: Pool, node: Mapping[str, Any], x: int, y: int) -> Iterator[str]:
    state = "ready" if node["ready"] else "not ready"
    offered = _offered(pool, node)
    gpus = f", {offered} of {pool['gpusPerNode']} GPUs" if pool["gpusPerNode"] else ""
    style = "node" if node["ready"] else "node unready"
    yield f"<g><title>{escape(node['name'])}: {state}{gpus}</title>"
    yield f'<rect class="{style}" x="{x}" y="{y}" width="{NODE_WIDTH}" height="{NODE_HEIGHT}" rx="4"/>'
    count = min(pool["gpusPerNode"], GPUS_SHOWN)
    lines = -(-count // GPUS_PER_LINE)
    across = min(count, GPUS_PER_LINE)
    x += (NODE_WIDTH - across * (GPU + GPU_GAP) + GPU_GAP) // 2
    y += (NODE_HEIGHT - lines * (GPU + GPU_GAP) + GPU_GAP) // 2
    for index in range(count):
        column, line = index % GPUS_PER_LINE, index // GPUS_PER_LINE
        here = f'x="{x + column * (GPU + GPU_GAP)}" y="{y + line * (GPU + GPU_GAP)}" width="{GPU}" height="{GPU}"'
        yield f'<rect class="{"gpu" if index < offered else "missing"}" {here} rx="1.5"/>'
    yield "</g>"


def _is_shared(pool: Pool) -> bool:
    return pool["sharing"] not in (None, "none")


def _offered(pool: Pool, node: Mapping[str, Any]) -> int:
    """Number of physical GPUs that a node offers.

    If the node's GPUs are shared, the number is all of them or none: all if the node offers every share.
    """
    if not _is_shared(pool):
        return node["gpus"]
    slices: Sequence[Mapping[str, int]] = list(pool["gpus"].values())
    is_complete = slices and all(each["allocatable"] >= each["expected"] for each in slices)
    return pool["gpusPerNode"] if is_complete else 0


def _footer(bottom: int) -> Iterator[str]:
    y, x = bottom + 20, MARGIN
    legend = (
        ("node", "node, ready"),
        ("node unready", "node, not ready"),
        ("gpu", "GPU offered"),
        ("missing", "GPU not offered"),
        ("room", "room for the autoscaler"),
    )
    for style, text in legend:
        yield f'<rect class="{style}" x="{x}" y="{y - 9}" width="10" height="10" rx="2"/>'
        yield _text(x + 16, y, text, "small")
        x += 40 + 6 * len(text)


def _place(index: int, top: int) -> tuple[int, int]:
    row, column = divmod(index, PER_ROW)
    return NODES_AT + column * (NODE_WIDTH + NODE_GAP), top + PADDING + row * (NODE_HEIGHT + NODE_GAP)


def _room(pool: Pool) -> int:
    """Number of nodes that the autoscaler may still add."""
    return max(0, pool["limits"]["max"] - pool["nodes"]) if pool["limits"] is not None else 0


def _hidden(pool: Pool) -> int:
    return max(0, len(pool["members"]) - NODES_SHOWN)


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def _text(x: int, y: int, text: str, style: str) -> str:
    named = f' class="{style}"' if style else ""
    return f'<text x="{x}" y="{y}"{named}>{escape(text)}</text>'
