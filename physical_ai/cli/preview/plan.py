"""The changes of a preview, for people and as data."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from rich.console import Group, RenderableType
from rich.markup import escape
from rich.text import Text

from physical_ai.catalog.engine_values import UNKNOWN, is_secret
from physical_ai.cli.preview.changes import Run, Step

SYMBOLS = {"create": "[green]+[/]", "update": "[yellow]~[/]", "delete": "[red]-[/]", "replace": "[magenta]±[/]"}
WORDS = {"create": "to create", "update": "to update", "delete": "to delete", "replace": "to replace"}
DONE = {"create": "created", "update": "updated", "delete": "deleted", "replace": "replaced"}
PARTS_OF_REPLACE = ("create-replacement", "delete-replaced")
SHOWN_LENGTH = 60
NONE = "(none)"
HIDDEN = "(secret)"
NOT_KNOWN = "(not known yet)"


def planned(run: Run) -> list[Step]:
    """The changes; a replacement is one step."""
    return [step for step in run.changed() if step.op not in PARTS_OF_REPLACE]


def document(run: Run, nodes: Mapping[str, int]) -> dict[str, Any]:
    """The plan as data: counts by operation, and every change; `nodes` has the number of each pool's nodes."""
    changes = [
        {
            "op": step.op,
            "type": step.type,
            "name": step.name,
            "urn": step.urn,
            "properties": list(step.properties),
            "replacedBecauseOf": list(step.keys),
            "nodesLost": nodes_lost(step, nodes),
        }
        for step in planned(run)
    ]
    return {"changes": changes, "summary": dict(run.counts())}


def drift(run: Run) -> list[dict[str, Any]]:
    """What a refresh found as data: every resource that differs from the state, or does not exist any more."""
    return [
        {
            "op": "delete" if step.gone else "update",
            "type": step.type,
            "name": step.name,
            "urn": step.urn,
            "properties": list(step.properties),
        }
        for step in run.drifted()
    ]


def render_drift(run: Run) -> RenderableType:
    """The same as lines of text."""
    lines: list[str] = []
    for step in run.drifted():
        lines.append(f"{SYMBOLS['delete' if step.gone else 'update']} {step.kind} [bold]{escape(step.name)}[/]")
        lines += (
            ["    does not exist any more"] if step.gone else [f"    {escape(line)}" for line in _differences(step)]
        )
    count = len(run.drifted())
    total = f"{count} {'resource differs' if count == 1 else 'resources differ'} from the state"
    return Group(*(Text.from_markup(line) for line in [*lines, f"[bold]{total if count else 'no differences'}[/]"]))


def nodes_lost(step: Step, nodes: Mapping[str, int]) -> int:
    """Nodes that are deleted with their pool or cluster; their capacity may not be available again at once.

    Counted in the cluster: the requested number says little about a pool with an autoscaler.
    """
    if step.op not in ("replace", "delete"):
        return 0
    if step.kind == "AgentPool":
        return nodes.get(str(step.old.get("agentPoolName")), 0)
    if step.kind == "ManagedCluster":
        inline: list[dict[str, Any]] = step.old.get("agentPoolProfiles") or []
        return sum(nodes.get(str(pool.get("name")), 0) for pool in inline)
    return 0


def render(run: Run, nodes: Mapping[str, int]) -> RenderableType:
    """The plan as lines of text."""
    lines: list[str] = []
    for step in planned(run):
        lines.append(f"{SYMBOLS.get(step.op, '?')} {step.kind} [bold]{escape(step.name)}[/]")
        if step.op in ("update", "replace"):
            lines += [f"    {escape(line)}" for line in _differences(step)]
        if lost := nodes_lost(step, nodes):
            lines.append(
                f"    [red]{lost} {'node' if lost == 1 else 'nodes'} lost[/]; capacity may not be available at once"
            )
    return Group(*(Text.from_markup(line) for line in [*lines, summary(run)]))


def summary(run: Run) -> str:
    counts = run.counts()
    parts = [f"{counts[op]} {word}" for op, word in WORDS.items() if counts[op]]
    return f"[bold]{', '.join(parts)}[/]" if parts else "[bold]no changes[/]"


def done(changes: Mapping[str, int]) -> str:
    """The result of an operation, as `3 created, 1 updated`."""
    parts = ", ".join(f"{changes[op]} {past}" for op, past in DONE.items() if changes.get(op))
    return parts or "no changes"


def _differences(step: Step) -> list[str]:
    return [
        f"{each['path']}: {_short(each['before'])} → {_short(each['after'])}{' (replaces)' if each['replaces'] else ''}"
        for each in differences(step)
    ]


def differences(step: Step) -> list[dict[str, Any]]:
    """What changes in a resource: `{path, before, after, replaces}`; `NONE` for a side without such a value.

    A secret is `HIDDEN` on both sides: only that it changes is shown.
    """
    replacing = set(step.keys)
    return [
        {
            "path": path,
            "before": _at(step.old, path),
            "after": _at(step.new, path),
            "replaces": path.split(".")[0].split("[")[0] in replacing or path in replacing,
        }
        for path in step.properties
    ]


def _at(value: Any, path: str) -> Any:
    for part in _parts(path):
        try:
            value = value[int(part) if isinstance(value, list) else part]
        except (TypeError, ValueError, LookupError):
            return NONE
        if is_secret(value):
            return HIDDEN
    return NOT_KNOWN if value == UNKNOWN else value


def _parts(path: str) -> list[str]:
    """Keys and indices of a property path; a key in quotes keeps its dots, as in `nodeLabels["nvidia.com/gpu"]`."""
    found = re.findall(r'\["((?:[^"\\]|\\.)*)"\]|\[(\d+)\]|([^.\[\]]+)', path)
    return [quoted.replace('\\"', '"') or index or plain for quoted, index, plain in found]


def _short(value: Any) -> str:
    text = str(value)
    return text if len(text) <= SHOWN_LENGTH else f"{text[: SHOWN_LENGTH - 1]}…"
