"""Output of the changes of a preview, for people and as data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from rich.console import Group, RenderableType
from rich.markup import escape
from rich.text import Text

from physical_ai.catalog.engine_values import UNKNOWN, is_secret
from physical_ai.nested import at_path
from workbench.cli.changes import Run, Step
from workbench.cli.preview.moves import NetworkMove, network_move
from workbench.cli.preview.read_back import read_back, reasons, significant, significant_drift

SYMBOLS = {"create": "[green]+[/]", "update": "[yellow]~[/]", "delete": "[red]-[/]", "replace": "[magenta]±[/]"}
WORDS = {"create": "to create", "update": "to update", "delete": "to delete", "replace": "to replace"}
DONE = {"create": "created", "update": "updated", "delete": "deleted", "replace": "replaced"}
PARTS_OF_REPLACE = ("create-replacement", "delete-replaced")
SHOWN_LENGTH = 60
READ_BACK = (
    "{reasons}, and a refresh reports that as a change, and of what depends on it. --expect-no-changes does not report"
    " them; `up --refresh` sends the resource again, as it is."
)
"""Sentence that explains why updates that `read_back` returns do not count as changes."""
NONE = "(none)"
HIDDEN = "(secret)"
NOT_KNOWN = "(not known yet)"
MAY_BE_SAME = "updated only if that value turns out to be another one"


def planned(run: Run) -> list[Step]:
    """Steps of a preview that count as changes. A replacement is one step, and the steps of the function `read_back`
    are left out.
    """
    return [step for step in significant(run) if step.op not in PARTS_OF_REPLACE]


def counts(run: Run) -> Counter[str]:
    """Number of changes by operation, counted as in `planned`."""
    found = run.counts()
    found.subtract(step.op for step in read_back(run))
    return Counter({op: found[op] for op in WORDS if found[op]})


def document(run: Run, nodes: Mapping[str, int]) -> dict[str, Any]:
    """The changes of a preview as data: their number by operation, and each change. `nodes`: number of nodes of each
    pool.

    `readBack` lists updates that only undo values which Azure has added by itself. Such updates are neither counted nor
    treated as unexpected changes. `networkMove` describes a change of the network mode.
    """
    changes = [
        {
            **_resource(step),
            "replacedBecauseOf": list(step.keys),
            "nodesLost": nodes_lost(step, nodes),
            "firstNodes": first_nodes(step),
            "mayBeSame": step.may_be_same,
        }
        for step in planned(run)
    ]
    found = move(run, nodes)
    return {
        "changes": changes,
        "summary": dict(counts(run)),
        "readBack": [_resource(step) for step in read_back(run)],
        "networkMove": found.document() if found is not None else None,
    }


def move(run: Run, nodes: Mapping[str, int]) -> NetworkMove | None:
    """Summary of a change of the network mode in a preview; None if the preview does not change the network mode."""
    steps = planned(run)
    return network_move(steps, sum(nodes_lost(step, nodes) for step in steps))


def _resource(step: Step) -> dict[str, Any]:
    return {
        "op": step.op,
        "type": step.type,
        "name": step.name,
        "urn": step.urn,
        "properties": list(step.properties),
    }


def drift(run: Run) -> list[dict[str, Any]]:
    """Differences that a refresh found, as data: each resource that differs from the state, or no longer exists.

    Differences that Azure makes by itself, such as node pools in a cluster's list, are left out (see `read_back`).
    """
    return [{**_resource(step), "op": "delete" if step.gone else "update"} for step in significant_drift(run)]


def render_drift(run: Run) -> RenderableType:
    """Differences that a refresh found, as lines of text."""
    lines: list[str] = []
    for step in significant_drift(run):
        lines.append(f"{SYMBOLS['delete' if step.gone else 'update']} {step.kind} [bold]{escape(step.name)}[/]")
        lines += (
            ["    does not exist any more"] if step.gone else [f"    {escape(line)}" for line in _differences(step)]
        )
    count = len(significant_drift(run))
    total = f"{count} {'resource differs' if count == 1 else 'resources differ'} from the state"
    lines.append(f"[bold]{total if count else 'no differences'}[/]")
    if count < len(run.drifted()):
        lines.append(
            "not counted: the node pools that Azure lists in their cluster, and a refresh reports as a change of it"
        )
    return Group(*(Text.from_markup(line) for line in lines))


def nodes_lost(step: Step, nodes: Mapping[str, int]) -> int:
    """Number of nodes that are deleted with a pool or cluster. Azure may not have the capacity to create them again at
    once.

    `nodes`: present number of nodes in the cluster, by pool. The declared number would be wrong for a pool with an
    autoscaler.
    """
    if step.op not in ("replace", "delete"):
        return 0
    if step.kind == "AgentPool":
        return nodes.get(str(step.old.get("agentPoolName")), 0)
    if step.kind == "ManagedCluster":
        inline: list[dict[str, Any]] = step.old.get("agentPoolProfiles") or []
        return sum(nodes.get(str(pool.get("name")), 0) for pool in inline)
    return 0


def first_nodes(step: Step) -> str | None:
    """Note about a new pool whose autoscaler may scale to zero: the number of nodes that it starts with, and the
    consequences. None for all other changes.
    """
    new = step.new
    if step.kind != "AgentPool" or step.op not in ("create", "replace"):
        return None
    if not new.get("enableAutoScaling") or new.get("minCount") != 0:
        return None
    count = int(new.get("count") or 0)
    if not count:
        return "starts without nodes: the first Pod that fits it brings one"
    spot = "Spot " if new.get("scaleSetPriority") == "Spot" else ""
    nodes = "1 node" if count == 1 else f"{count} nodes"
    return f"starts with {nodes} (scale.initial): fails without {spot}capacity at once; initial: 0 leaves it to a Pod"


def render(run: Run, nodes: Mapping[str, int]) -> RenderableType:
    """The changes of a preview as lines of text."""
    lines: list[str] = []
    for step in planned(run):
        lines.append(f"{SYMBOLS.get(step.op, '?')} {step.kind} [bold]{escape(step.name)}[/]")
        if step.op in ("update", "replace"):
            lines += [f"    {escape(line)}" for line in _differences(step)]
        if step.may_be_same:
            lines.append(f"    {MAY_BE_SAME}")
        if first := first_nodes(step):
            lines.append(f"    {escape(first)}")
        if lost := nodes_lost(step, nodes):
            lines.append(
                f"    [red]{lost} {'node' if lost == 1 else 'nodes'} lost[/]; capacity may not be available at once"
            )
    if (found := move(run, nodes)) is not None:
        lines += render_move(found)
    lines.append(summary(run))
    if without_effect := read_back(run):
        names = ", ".join(f"{step.kind} {step.name}" for step in without_effect)
        why = READ_BACK.format(reasons="; ".join(reasons(without_effect)))
        lines.append(f"not counted: {len(without_effect)} to update ({escape(names)}). {why}")
    return Group(*(Text.from_markup(line) for line in lines))


def render_move(found: NetworkMove) -> list[str]:
    """Lines of text about a change of the network mode, with markup for the console."""
    lines = ["", f"[bold]{found.title}[/]"]
    for name, parts in found.rows():
        # Created resources, and deleted ones, are shown as one list each.
        shown = [", ".join(parts)] if name in ("created", "deleted") else parts
        lines += [f"  {name if not index else '':<10}{escape(each)}" for index, each in enumerate(shown)]
    return [*lines, ""]


def summary(run: Run) -> str:
    found = counts(run)
    parts = [f"{found[op]} {word}" for op, word in WORDS.items() if found[op]]
    return f"[bold]{', '.join(parts)}[/]" if parts else "[bold]no changes[/]"


def done(changes: Mapping[str, int]) -> str:
    """Text about the changes of an operation, such as `3 created, 1 updated`."""
    parts = ", ".join(f"{changes[op]} {past}" for op, past in DONE.items() if changes.get(op))
    return parts or "no changes"


def _differences(step: Step) -> list[str]:
    return [
        f"{each['path']}: {_short(each['before'])} → {_short(each['after'])}{' (replaces)' if each['replaces'] else ''}"
        for each in differences(step)
    ]


def differences(step: Step) -> list[dict[str, Any]]:
    """Changed properties of a resource: `{path, before, after, replaces}`. `before` or `after` is `NONE` if the
    property is absent then.

    For a secret, `before` and `after` are `HIDDEN`, so that only the fact of the change is shown.
    """
    replacing = set(step.keys)
    return [
        {
            "path": path,
            "before": _shown_at(step.old, path),
            "after": _shown_at(step.new, path),
            "replaces": path.split(".")[0].split("[")[0] in replacing or path in replacing,
        }
        for path in step.properties
    ]


def _shown_at(value: Any, path: str) -> Any:
    found = at_path(value, path, NONE, ends=is_secret)
    if is_secret(found):
        return HIDDEN
    return NOT_KNOWN if found == UNKNOWN else found


def _short(value: Any) -> str:
    text = str(value)
    return text if len(text) <= SHOWN_LENGTH else f"{text[: SHOWN_LENGTH - 1]}…"
