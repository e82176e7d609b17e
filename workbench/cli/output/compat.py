"""Output of `compat`, the compatibility of a stack's versions, as a document and for people."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from rich.markup import escape
from rich.table import Table

from physical_ai.findings import Severity
from workbench.cli.console import STYLES, out

if TYPE_CHECKING:
    from physical_ai.settings import Settings
    from physical_ai.settings.rules.compat import VersionFinding


def document(settings: Settings, today: datetime.date, findings: Iterable[VersionFinding]) -> dict[str, Any]:
    """The versions of a stack, their lifecycles and the findings about their compatibility, as JSON data."""
    from physical_ai.catalog import operator_release
    from physical_ai.catalog.compat import lifecycle
    from physical_ai.settings.facts.created import creates_cluster
    from physical_ai.settings.rules.compat import gpu_stacks

    release = operator_release(settings.gpu_operator.version)
    phase = lifecycle(release, today)
    own_nodes = creates_cluster(settings)
    pools: list[dict[str, Any]] = [
        {
            "name": name,
            "nodeImage": item.image.name if own_nodes else None,
            "containerd": (item.containerd or item.image.containerd) if own_nodes else None,
            "driverSource": settings.pools[name].driver.source.value,
            "driver": item.driver,
            "toolkit": item.toolkit or release.toolkit,
        }
        for name, item in gpu_stacks(settings).items()
    ]
    judged: list[dict[str, Any]] = [
        item.document() | {"subject": item.subject, "path": item.where, "pools": list(item.pools)} for item in findings
    ]
    return {
        "stack": settings.stack,
        "date": today.isoformat(),
        "operator": {"version": release.version, "lifecycle": phase.state, "since": phase.since},
        "kubernetes": settings.cluster.kubernetes_version,
        "pools": pools,
        "verdicts": judged,
    }


def print_document(document: Mapping[str, Any]) -> None:
    """Prints the data that `document` returns as a table and lines for people."""
    operator = document["operator"]
    out.print(
        f"GPU Operator {operator['version']} ({operator['lifecycle']}), Kubernetes {document['kubernetes']},"
        f" on {document['date']}"
    )
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in ("pool", "node image", "containerd", "driver", "build", "toolkit"):
        table.add_column(column, no_wrap=True)
    for pool in document["pools"]:
        cells = ("name", "nodeImage", "containerd", "driverSource", "driver", "toolkit")
        table.add_row(*(escape(str(pool[cell] or "–")) for cell in cells))
    out.print(table)
    counts = {
        name: sum(row["severity"] == name for row in document["verdicts"])
        for name in (Severity.ERROR, Severity.WARNING, Severity.INFO)
    }
    summary = ", ".join(
        f"{count} {name}{'s' if count != 1 and name != 'info' else ''}" for name, count in counts.items()
    )
    out.print(f"\n{len(document['pools'])} GPU pools: {summary}")
    for row in document["verdicts"]:
        style = STYLES[Severity(row["severity"])]
        pools = f" ({', '.join(row['pools'])})" if row["pools"] else ""
        out.print(f"\n[{style}]{row['severity']}[/] {row['rule']}: {escape(row['path'] + pools)}")
        out.print(f"  {escape(row['message'])}")
        if row["fix"]:
            out.print(f"  {escape(row['fix'])}")
        out.print(f"  [dim]{escape(row['source'])}[/]")
