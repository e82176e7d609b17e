"""docs/reference/impact-agreement.md and the count in docs/running-work.md, from the recorded agreement of predicted
impacts with the simulator; and the timeline in docs/running-work.md, from an invented change.
"""

from __future__ import annotations

import datetime
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from docs.generator.markdown import code, marked_part, table
from physical_ai.repository import DOCS
from workbench.cli.preview.impact_picture import picture
from workbench.impact import Work, judge
from workbench.impact.agreement import Cell, agreement, grid, read_cells
from workbench.impact.pools import PoolFacts
from workbench.impact.telling import Seen, document

PAGE = DOCS / "running-work.md"
FILE = DOCS / "reference" / "impact-agreement.md"
PICTURE = DOCS / "img" / "impact.svg"
BEGIN = "<!-- from workbench/impact/agreement.yaml: python -m docs.generator -->"
_NOW = datetime.datetime(2026, 11, 28, 12, tzinfo=datetime.UTC)
_HEAD = """\
# Agreement of predicted impacts

Generated from `workbench/impact/agreement.yaml` by `python -m docs.generator`. One row is a change of the default
stack, or its way back, one column a Pod that runs meanwhile. A preview predicts the fate of each Pod, the change is
made in the simulator, and what became of each Pod is compared: `restarted → ended` means that it was said to restart,
and ended. `may` marks a prediction that depends on something that the preview does not show; such a Pod may also run
on. A Pod that is said to wait or to be cut off has to run on. What is predicted for certain has to stay true for four
simulated minutes. `–` marks a Pod that did not run before the change, or in the run that made the row. Changes that are
no reason for another node stay until *all that stayed, back*. *another node image*, *both pools of a gang* and *fewer
of fixed nodes* are older: they were made without the gang, and without those four minutes.

The gang is a workflow that is submitted to OSMO's service, whose task `lead` leads the group; the task `train` is a Pod
as OSMO's agents make it. A change *while* a driver is installed begins when the operator waits for a task. A change
*and a budget* finds a disruption budget that never lets the Pod of `serve` go. No row is an upgrade of KAI: a stack has
one version of it, which changes with a release of this program. None is an upgrade of Kubernetes with such a budget
either: the preview fails, as AKS would.

The file is written by `PHYSAI_RECORD_AGREEMENT=1` with all of `tests/simulator/test_impact_agreement.py`.
"""


@dataclass(frozen=True)
class _Change:
    """A change of the invented sample."""

    kind: str
    op: str
    old: Mapping[str, Any]
    properties: tuple[str, ...] = ()
    new: Mapping[str, Any] = field(default_factory=dict[str, Any])
    name: str = ""
    type: str = "sample:"


def renewed() -> str:
    """Text of docs/running-work.md with the present count. Raises ValueError where the page does not have its marks."""
    return marked_part(PAGE, BEGIN, _count())


def page() -> str:
    """Text of the page with the table."""
    cells, kinds = read_cells()
    works, rows = grid(cells)
    of = {each.work: each.kind for each in cells}
    columns = [f"{code(work)}, {kinds[of[work]]}" for work in works]
    found = agreement(cells)
    parts = [_HEAD, _count(), table(("change", *columns), ([change, *texts] for change, texts in rows.items()))]
    if found.differences:
        parts += ["## Differences\n", table(("change", "Pod", "cell", "why"), _differences(cells))]
    return "\n".join(parts)


def _count() -> str:
    cells, _ = read_cells()
    found, changes = agreement(cells), len({each.change for each in cells})
    seen = Counter(each.seen for each in cells)
    ran, again, ended = (seen[each] for each in ("untouched", "restarted", "ended"))
    return (
        f"{len(cells)} predictions, of {changes} changes and ways back: {found.agreeing} came true, which is"
        f" {found.share:.1%}. {found.sure} of them were certain. {ran} Pods ran on, {again} were restarted, {ended}"
        " ended.\n"
    )


def _differences(cells: Sequence[Cell]) -> Iterator[tuple[str, ...]]:
    for each in agreement(cells).differences:
        yield each.cell.change, code(each.cell.work), each.cell.text, each.reason or "not known"


def sample() -> str:
    """Timeline of an invented change: a pool is replaced, another one gets another driver."""
    pools = {
        "h100gpu": PoolFacts("h100gpu", 2, 1, "H100 NVL", "operator", spot=True, vendor="NVIDIA"),
        "l40s": PoolFacts("l40s", 3, 1, "L40S", "operator", vendor="NVIDIA"),
    }
    changes = [
        _Change("AgentPool", "replace", {"agentPoolName": "h100gpu"}, ("osDiskSizeGB",)),
        _Change("NVIDIADriver", "update", _driver("580.173.02"), ("spec.version",), _driver("580.178.04")),
    ]
    found = judge(changes, list(_sample_work()), pools, _NOW)
    return picture(document(found, Seen(known=True, at=_NOW)), "a sample")


def _driver(version: str) -> dict[str, Any]:
    return {"metadata": {"name": "l40s"}, "spec": {"nodeSelector": {"agentpool": "l40s"}, "version": version}}


def _sample_work() -> Iterator[Work]:
    started = _NOW - datetime.timedelta(hours=6)
    half_hour = datetime.timedelta(minutes=30)
    for index in range(2):
        yield Work(
            "osmo-workflows", f"train-{index}", "workflow train-7", "osmo-workflows/train-7", f"rank {index}",
            node=f"h100-{index}", pool="h100gpu", gpus=1, started=started, checkpoint=half_hour,
        )  # fmt: skip
    yield Work(
        "team", "web-1", "Deployment team/inference", controller="ReplicaSet", node="l40s-0", pool="l40s", gpus=1,
        started=started,
    )  # fmt: skip
    yield Work(
        "team", "api-1", "Deployment team/api", controller="ReplicaSet", node="cpu-0", pool="cpu", started=started
    )
