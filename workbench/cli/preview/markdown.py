"""A stack's preview as Markdown, for GitHub and for a terminal. Pure functions over a document."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from enum import IntEnum
from typing import Any

from workbench.cli.preview.first_gpu_markdown import first_gpu
from workbench.cli.preview.markdown_text import code, severity, text

OPERATIONS = ("replace", "delete", "create", "update")
"""Engine operations in the order in which a review shows them: removals first."""
ROWS = 20
"""Largest number of changes that are shown unfolded; further changes are folded."""
DIFFERENCES = 8
"""Largest number of changed properties that are shown of one resource."""
Document = Mapping[str, Any]


class Detail(IntEnum):
    """Amount of detail that the Markdown of a stack's preview has. A longer comment uses a lower level."""

    COUNTS = 0
    """The number of changes and the losses that they cause, without the changes themselves."""
    SHOWN = 1
    """All parts of the preview except the folded parts."""
    ALL = 2


def stack(document: Document, detail: Detail = Detail.ALL) -> str:
    """One stack's preview as Markdown.

    Args:
        document: The document that `workbench.cli.preview.review.document` returns.
    """
    parts = [
        f"### `{document['stack']}`: {headline(document)}",
        work(document, detail),
        move(document),
        reach(document),
        *_changes(document, detail),
    ]
    parts += [
        _policies(document["policy"], detail),
        _versions(document["compat"], detail),
        first_gpu(document),
        _cost(document, detail),
    ]
    parts += [f"> **Warning** {text(each)}" for each in document["warnings"]]
    return "\n\n".join(part for part in parts if part) + "\n"


def work(document: Document, detail: Detail) -> str:
    """Impact of the change on running work, as Markdown: a headline, and a line for each workflow or Job. Empty if the
    change affects no existing resource.
    """
    found: Document | None = document.get("impact")
    if found is None:
        return ""
    lines = [text(each) for each in found["lines"]]
    first = f"**Running work**: {text(found['headline'])}"
    if not lines or detail is Detail.COUNTS:
        return first
    listed = "\n".join(f"- {each}" for each in lines[:ROWS])
    more = f"\n- … and {len(lines) - ROWS} more" if len(lines) > ROWS else ""
    return f"{first}\n\n{listed}{more}"


def move(document: Document) -> str:
    """A change of the network mode as Markdown; empty if there is none."""
    found: Document | None = document.get("networkMove")
    if found is None:
        return ""
    names = {"replaced": "Replaced", "inPlace": "In place", "created": "Created", "deleted": "Deleted"}
    rows = [f"- {names[key]}: {text('; '.join(found[key]))}." for key in names if found[key]]
    return "\n".join([f"**{text(found['title'])}**", "", *rows])


def reach(document: Document) -> str:
    """Connections that the change opens or closes, as Markdown. Empty if there are none, or if the code that made
    `document` does not report connections.
    """
    rows: Sequence[Document] = document.get("reach") or ()
    verbs = {"open": "opens", "closed": "closes", "unknown": "leaves unknown"}
    lines: list[str] = []
    for each in rows:
        verb = verbs[each["after"]]
        must = "" if each["holds"] else f" **It must be {text(each['must'])}**: {text(each['why'])}"
        ends = f"{code(each['from'])} → {code(each['target'])}, port {each['port']}"
        before = f"; it was {each['before']} by {text(each['byBefore'])}" if each.get("byBefore") else ""
        lines.append(f"- {verb if each['holds'] else f'**{verb}**'} {ends}, by {text(each['by'])}{before}.{must}")
    return "\n".join(["**Who reaches whom**: this change", "", *lines]) if lines else ""


def headline(document: Document) -> str:
    """A preview in one line, such as `1 to replace, 4 to update, 2 nodes lost`. Removals are bold."""
    counts: Mapping[str, int] = document["summary"]
    parts = [f"{counts[op]} to {op}" for op in OPERATIONS if counts.get(op)]
    parts = [f"**{each}**" if each.endswith(("replace", "delete")) else each for each in parts]
    if lost := nodes_lost(document):
        parts.append(f"**{lost} {'node' if lost == 1 else 'nodes'} lost**")
    return ", ".join(parts) or "no changes"


def nodes_lost(document: Document) -> int:
    return sum(change["nodesLost"] for change in document["changes"])


def _changes(document: Document, detail: Detail) -> list[str]:
    changes: Sequence[Document] = document["changes"]
    ordered = sorted(changes, key=_order)
    if detail is Detail.COUNTS:
        ordered = [each for each in ordered if each["disruptive"]]
    if not ordered:
        return []
    # A new stack creates everything: the number of each kind says more than a hundred rows.
    many = len(ordered) > ROWS
    created = [each for each in ordered if each["op"] == "create" and many and not each["differences"]]
    listed = [each for each in ordered if each not in created]
    parts = [_table(listed[:ROWS])] if listed else []
    if created:
        parts.append(f"{'Also creates' if listed else 'Creates'} {_kinds(created)}.")
    if detail is Detail.ALL and (rest := [*listed[ROWS:], *created]):
        parts.append(_folded(f"{len(rest)} more", _table(rest)))
    elif len(listed) > ROWS:
        parts.append(f"… and {len(listed) - ROWS} more")
    return parts


def _order(change: Document) -> tuple[bool, int, str, str]:
    """Sort key of a change: disruptive changes first, then by operation, kind and name. The order is always the same,
    so an updated comment keeps the order of its lines.
    """
    return not change["disruptive"], OPERATIONS.index(change["op"]), change["kind"], change["name"]


def _table(changes: Iterable[Document]) -> str:
    return "\n".join(["| | resource | what changes |", "|---|---|---|", *(_row(each) for each in changes)])


def _row(change: Document) -> str:
    shown = [_difference(each) for each in change["differences"][:DIFFERENCES]]
    if (more := len(change["differences"]) - DIFFERENCES) > 0:
        shown.append(f"… and {more} more properties")
    impact = " ".join(text(each) for each in change["impact"])
    what, where = change["op"], f"{change['kind']} {code(change['name'])}"
    if change["disruptive"]:
        what, where, impact = f"**{what}**", f"**{where}**", impact and f"**{impact}**"
    return f"| {what} | {where} | {'<br>'.join([*shown, *([impact] if impact else [])])} |"


def _difference(each: Document) -> str:
    mark = " (replaces)" if each["replaces"] else ""
    before = "" if each["before"] is None else f"{code(each['before'])} → "
    return f"{code(each['path'])}: {before}{code(each['after'])}{mark}"


def _kinds(changes: Iterable[Document]) -> str:
    counts: dict[str, int] = {}
    for each in changes:
        counts[each["kind"]] = counts.get(each["kind"], 0) + 1
    return ", ".join(f"{count} {kind}" for kind, count in sorted(counts.items(), key=lambda row: (-row[1], row[0])))


def _policies(policy: Document, detail: Detail) -> str:
    findings: Sequence[Document] = policy["findings"]
    checked = f"{policy['rules']} rules over {policy['resources']} resources"
    if not findings:
        return f"**Policies**: {checked}, no finding."
    lines = [f"**Policies**: {checked}, {severities(findings)}."]
    if detail is not Detail.COUNTS:
        lines.append("")
        lines += [_finding(each) for each in findings]
    return "\n".join(lines)


def _finding(each: Document) -> str:
    where = f"{text(each['type'].rpartition(':')[2])} {code(each['name'])}" + (
        f" {code(each['path'])}" if each["path"] else ""
    )
    message = f"{text(each['message']).removesuffix('.')}. {text(each['reason'])}"
    return f"- {severity(each)} [{text(each['rule'])}]({each['link']}), {where}: {message}"


def _versions(compat: Document, detail: Detail) -> str:
    operator = compat["operator"]
    versions = f"GPU Operator {operator['version']} ({operator['lifecycle']}), Kubernetes {compat['kubernetes']}"
    verdicts: Sequence[Document] = compat["verdicts"]
    listed = [each for each in verdicts if each["severity"] != "info"]
    folded = [each for each in verdicts if each["severity"] == "info"]
    lines = [f"**Versions**: {versions}; {severities(verdicts) or 'no finding'}."]
    if listed and detail is not Detail.COUNTS:
        lines += ["", *(_verdict(each) for each in listed)]
    if folded and detail is Detail.ALL:
        lines += ["", _folded(f"{len(folded)} for information", "\n".join(_verdict(each) for each in folded))]
    return "\n".join(lines)


def _verdict(each: Document) -> str:
    pools = f" ({text(', '.join(each['pools']))})" if each["pools"] else ""
    sentences: list[str] = [sentence for sentence in (each["message"], each["fix"]) if sentence]
    message = " ".join(text(sentence).rstrip(".") + "." for sentence in sentences)
    return f"- {severity(each)} {text(each['rule'])}, {code(each['path'])}{pools}: {message}"


def severities(rows: Sequence[Document]) -> str:
    """Number of findings of each severity, such as `1 error, 2 warnings`; empty if there are none."""
    counts = {name: sum(row["severity"] == name for row in rows) for name in ("error", "warning", "info")}
    words = {"error": "errors", "warning": "warnings"}
    named = {
        name: f"{count} for information" if name == "info" else f"{count} {name if count == 1 else words[name]}"
        for name, count in counts.items()
    }
    return ", ".join(shown for name, shown in named.items() if counts[name])


def _cost(document: Document, detail: Detail) -> str:
    cost = document["cost"]
    dates = " and ".join(dict.fromkeys(each["date"] for each in cost["prices"]))
    basis = f"estimate, list prices of {dates}" if dates else "estimate; the catalogue has no price here"
    change = cost["change"]
    now = f"{dollars(cost['monthly'], signed=False)} a month with the minimum / requested / maximum nodes"
    lines = [f"**Cost** ({basis}): {change_of_cost(document)}; total {now}."]
    if services := cost.get("services"):
        low, high = (dollars(cost["monthlyWithServices"][key], signed=False) for key in ("low", "high"))
        since = min(each["date"] for each in services)
        lines.append(f"With disks, gateways, logs and data services (prices since {since}): {low} to {high} a month.")
    if cost["unpriced"]:
        lines.append(
            f"Not included, for lack of a price: {', '.join(code(each['pool']) for each in cost['unpriced'])}."
        )
    if cost["spotAtRegular"]:
        names = ", ".join(code(name) for name in cost["spotAtRegular"])
        lines.append(f"Spot, shown at the regular price and cheaper: {names}.")
    if cost.get("notCounted") and detail is Detail.ALL:
        lines.append(f"Not counted: {text('; '.join(cost['notCounted']))}.")
    if cost["stale"]:
        lines.append(f"The prices are {cost['daysOld']} days old.")
    if change["pools"] and detail is Detail.ALL:
        lines += ["", *(_pool_cost(each) for each in change["pools"])]
    return "\n".join(lines)


def change_of_cost(document: Document) -> str:
    """The difference in cost per month, or a note that there is none."""
    monthly = document["cost"]["change"]["monthly"]
    if not document["deployed"]:
        return f"new, **{dollars(monthly, signed=True)}** a month"
    return "unchanged" if not any(monthly.values()) else f"**{dollars(monthly, signed=True)}** a month"


def _pool_cost(pool: Document) -> str:
    sides = [pool[side] for side in ("before", "after") if pool[side]]
    sizes = " → ".join(dict.fromkeys(code(each["size"]) for each in sides))
    nodes = [f"{each['nodes']['min']:g} / {each['nodes']['asked']:g} / {each['nodes']['max']:g}" for each in sides]
    costs = f"{dollars(pool['monthly'], signed=True)} a month" if pool["monthly"] else "no price"
    return f"- {code(pool['name'])} {pool['kind']}: {sizes}, nodes {' → '.join(dict.fromkeys(nodes))}, {costs}"


def dollars(span: Mapping[str, float], *, signed: bool) -> str:
    """Amounts in dollars as text: `$0 / $1,200 / $2,400` for minimum, requested and maximum, or one amount if all are
    equal. With `signed`, a difference such as `+$1,200`.
    """
    figures = [round(span[key]) for key in ("min", "asked", "max")]
    shown = [f"{'-' if value < 0 else '+' if signed else ''}${abs(value):,}" for value in figures]
    return shown[0] if len(set(shown)) == 1 else " / ".join(shown)


def _folded(title: str, body: str) -> str:
    # GitHub renders Markdown inside HTML only after an empty line.
    return f"<details><summary>{title}</summary>\n\n{body}\n\n</details>"
