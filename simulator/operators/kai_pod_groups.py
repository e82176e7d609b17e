"""Checks of the KAI v0.17.0 webhook on PodGroups: refusals and warnings. Pure functions.

Read in kai-scheduler/KAI-Scheduler tag v0.17.0, pkg/apis/scheduling/v2alpha2/podgroup_webhook.go.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from simulator.cluster.objects import Json, at


def group_problems(group: Json, *, is_update: bool) -> tuple[str, tuple[str, ...]]:
    """Reason why the webhook refuses a PodGroup (empty if it accepts it), and the webhook's warnings."""
    spec: Json = at(group, "spec", {})
    if spec.get("minMember") is not None and spec.get("minSubGroup") is not None:
        return (
            "minMember and minSubGroup are mutually exclusive: set minMember"
            f" ({spec['minMember']}) to schedule a fixed number of pods, or set minSubGroup to require a minimum number"
            " of child SubGroups, but not both",
            (),
        )
    parts: list[Json] = spec.get("subGroups", [])
    if problem := next(_graph_problems(parts), ""):
        return problem, ()
    children = _children(parts)
    hard: list[str] = []
    soft: list[str] = []
    for part in sorted(parts, key=lambda each: str(each["name"])):
        if part.get("minMember") is not None and part.get("minSubGroup") is not None:
            return f'subgroup "{part["name"]}": minMember and minSubGroup are mutually exclusive', ()
        for text, is_soft in _minimum_problems(part, children.get(str(part["name"]), ()), is_update=is_update):
            (soft if is_soft else hard).append(text)
    roots = sum(part.get("parent") is None for part in parts)
    if spec.get("minSubGroup") is not None and int(spec["minSubGroup"]) > roots:
        soft.append(f"minSubGroup ({spec['minSubGroup']}) exceeds the number of direct child SubGroups ({roots})")
    return "\n".join(hard), tuple(soft)


def _children(parts: Sequence[Json]) -> Mapping[str, list[str]]:
    found: dict[str, list[str]] = {}
    for part in parts:
        if part.get("parent") is not None:
            found.setdefault(str(part["parent"]), []).append(str(part["name"]))
    return found


def _graph_problems(parts: Sequence[Json]) -> Iterator[str]:
    names = [str(part["name"]) for part in parts]
    for name in names:
        if names.count(name) > 1:
            yield f"duplicate subgroup name {name}"
    parents = {str(part["name"]): part.get("parent") for part in parts}
    for name, parent in parents.items():
        if parent is not None and parent not in parents:
            yield f"parent {parent} of {name} was not found"
    for name in names:
        above, seen = parents[name], {name}
        while above is not None and above in parents:
            if above in seen:
                yield "cycle detected in subgroups"
                break
            seen.add(str(above))
            above = parents[str(above)]


def _minimum_problems(part: Json, children: Sequence[str], *, is_update: bool) -> Iterator[tuple[str, bool]]:
    """Problems with the minimum numbers of one subgroup. The second value of each problem is True if it is only a
    warning.
    """
    name, members, groups = part["name"], part.get("minMember"), part.get("minSubGroup")
    if not children:
        if groups is not None:
            yield f'subgroup "{name}": minSubGroup cannot be set on a leaf SubGroup (no child SubGroups)', False
        if members is None:
            yield f"subgroup {name}: minMember is required", False
        return
    if members is not None:
        yield (
            f'subgroup "{name}": minMember cannot be set on a mid-level SubGroup (has child SubGroups); use minSubGroup'
            " instead",
            is_update,
        )
    if groups is not None and int(groups) > len(children):
        yield (
            f'subgroup "{name}": minSubGroup ({groups}) exceeds the number of direct child SubGroups ({len(children)})',
            True,
        )
