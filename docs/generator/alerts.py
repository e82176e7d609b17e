"""docs/runbooks/alerts.md: each alert with what it means and what to do, the Xids, and the recorded series."""

from __future__ import annotations

from collections.abc import Iterator

from docs.generator.markdown import code, table
from physical_ai.catalog.telemetry_rows import xids
from physical_ai.repository import DOCS
from physical_ai.telemetry.rule_rows import AlertRow, Owner, themes

FILE = DOCS / "runbooks" / "alerts.md"
OWNERS: dict[Owner, str] = {
    "platform": "platform team",
    "job": "owner of the job",
    "azure": "Azure, by a support request",
}
TITLES = {
    "amd-gpus": "AMD's GPUs",
    "gpu-faults": "Faults of GPUs",
    "gpu-performance": "Slow GPUs",
    "gpu-readiness": "Nodes without their GPUs",
    "grid-driver": "Virtual GPUs",
    "infiniband": "InfiniBand",
    "workloads": "Workloads",
}
_HEAD = """\
# Alerts

Generated from `physical_ai/telemetry/data/rules/`, and `alerts.yaml` of parts, by `python -m docs.generator`. Each
alert links to its section here.
[Settings](../settings.md#metrics-and-alerts) describes how to change a threshold, omit an alert, and notify someone.

Words in capital letters are for you to replace: `NODE`, `POD` and `NAMESPACE` are labels of the alert, `STACK` is your
stack. This prints the scale set and the instance of a node, which commands of `az vmss` need:

```sh
kubectl get node NODE --output jsonpath={.spec.providerID}
```

An alert that a stack has no use for is not part of its rules: those of virtual GPUs where no pool has any, and those
whose counter its DCGM exporter does not know.

## One fault, one alert

Most faults have many signs: after Xid 79 the exporter, the device plugin and the node say so too. An alert yields to
the one that is nearer the cause, and it does so in its rule (`unless`), not only in Alertmanager: Azure's managed
Prometheus has nothing that inhibits, and so a rule is the only place that holds on every cluster.
`physical_ai:gpu_told` and `physical_ai:node_told` are what the rules yield to.

- A rule yields only to alerts that are on. With `monitoring.rules.GPUXidNodeFault.enabled: false`, for one, the alert
  that sees the fault next tells of it; with a higher threshold, while the value is below it.
- On a node that is cordoned, drained or taken away, alerts about what it offers are silent; those about its GPUs are
  not.
- Alertmanager of kube-prometheus-stack holds back besides, for those who are called: warnings about a node that has a
  critical alert, and what follows from a cluster of which no node is reported. They are listed anyway.
"""


def document() -> str:
    """Text of the page."""
    return "\n".join(_page())


def _page() -> Iterator[str]:
    yield _HEAD
    yield table(
        ["alert", "severity", "who acts", "after"],
        [
            [f"[{row.alert}](#{row.anchor})", row.severity, OWNERS[row.owner], _hold(row)]
            for theme in themes()
            for row in theme.alerts
        ],
    )
    for theme in themes():
        if theme.alerts:
            yield f"## {TITLES[theme.theme]}\n"
        for row in theme.alerts:
            yield from _alert(row)
    yield from _xids()
    yield from _records()


def _hold(row: AlertRow) -> str:
    return f"{row.hold_minutes} min" if row.hold_minutes else "at once"


def _alert(row: AlertRow) -> Iterator[str]:
    # Grafana's links have the name as it is, and cannot write it in lowercase, as the anchor of a heading is.
    yield f'<a id="{row.alert}"></a>\n'
    yield f"### {row.alert}\n"
    yield f"**Meaning.** {row.meaning}\n"
    yield f"**What to do** ({OWNERS[row.owner]}). {row.action}\n"
    yield "```sh\n" + "\n".join(row.commands) + "\n```\n"
    if row.threshold is not None:
        limits = row.threshold
        span = f"from {limits.least:g} to {limits.most:g}"
        setting = f"monitoring.rules.{row.alert}.threshold"
        yield f"Threshold: {limits.default:g}, in {limits.unit}; `{setting}` changes it, {span}.\n"
    yield f"Source: {row.source}.\n"


def _xids() -> Iterator[str]:
    yield "## Xids\n"
    yield "What the driver reports in the kernel log. Classes and actions are those of NVIDIA's catalogue.\n"
    yield (
        "These are all of its codes; a newer one alerts as GPUXidUnclear. Xid 171 and 172 come with Xid 48, 154 with"
        " the Xid that it is about: that one has the alert.\n"
    )
    alert = {
        "node": "GPUXidNodeFault",
        "job": "GPUXidJobError",
        "information": "GPUXidInformation",
        "unclear": "GPUXidUnclear",
    }
    yield table(
        ["Xid", "meaning", "alert", "NVIDIA's action", "on AKS"],
        [
            [str(each.code), each.meaning, alert[each.xid_class], code(each.action), each.advice]
            for each in sorted(xids().values(), key=lambda each: each.code)
        ],
    )


def _records() -> Iterator[str]:
    yield "## Recorded series\n"
    yield "Values are GPUs, or MIG instances and shares where a pool offers those.\n"
    yield table(
        ["series", "meaning"],
        [[code(each.record), each.meaning] for theme in themes() for each in theme.records],
    )
