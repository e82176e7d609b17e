"""A gang in which a collective operation of NCCL timed out: which rank the others waited for. Pure functions.

The ranks that report a timeout were waiting. So the cause is a rank that runs and does not report, a rank that timed
out in an earlier operation, or a program whose ranks wait in different operations.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from physical_ai.kubernetes.objects import Json, at, name, namespace
from physical_ai.readiness.workloads.index import Index, subject
from physical_ai.readiness.workloads.model import Explanation

# Formats of PyTorch, ProcessGroupNCCL.cpp: "[Rank 1] Watchdog …"; in newer versions "[PG ID 0 PG GUID 0(default_pg)
# Rank 1] Watchdog …".
TIMEOUT = re.compile(
    r"\[(?:PG [^\]]*?GUID (?P<group>\S+) )?rank ?(?P<rank>\d+)\][^\n\[]*Watchdog caught collective operation timeout: "
    r"WorkNCCL\(SeqNum=(?P<number>\d+)(?:, OpType=(?P<kind>\w+))?",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Timeout:
    """Timeout that one rank reports, with the operation in which it waited."""

    pod: str
    rank: int
    group: str
    """Process group; operations are numbered within a group."""
    number: int
    kind: str


def timeouts(pod: Mapping[str, Any], text: str) -> list[Timeout]:
    """First timeout of each rank in a log."""
    found: dict[int, Timeout] = {}
    for match in TIMEOUT.finditer(text):
        rank, group = int(match["rank"]), match["group"] or ""
        found.setdefault(rank, Timeout(subject(pod), rank, group, int(match["number"]), match["kind"] or ""))
    return list(found.values())


def hang_causes(members: Sequence[Json], index: Index) -> Iterator[Explanation]:
    """Explanations of why a gang's operation did not end, as far as the logs show it."""
    logs = {subject(pod): "\n".join(_logs(pod, index)) for pod in members}
    known = {subject(pod): timeouts(pod, logs[subject(pod)]) for pod in members}
    waiting = [each for found in known.values() for each in found]
    if not waiting:
        return
    silent = [pod for pod in members if logs[subject(pod)] and not known[subject(pod)] and _runs(pod)]
    if silent:
        yield from (_silent(pod, logs[subject(pod)], waiting, index) for pod in silent)
        return
    groups: dict[str, list[Timeout]] = defaultdict(list)
    for each in waiting:
        groups[each.group].append(each)
    for found in groups.values():
        yield from _different(found, index)


def explained(found: Sequence[Explanation]) -> bool:
    """True if one of the causes in `found` names the rank that the other ranks waited for. The timeouts that the other
    ranks report then need no explanation.
    """
    return any(each.cause in ("nccl-silent-rank", "nccl-late-rank", "nccl-mismatch") for each in found)


def _silent(pod: Json, log: str, waiting: Sequence[Timeout], index: Index) -> Explanation:
    lines = [line.strip() for line in log.splitlines() if line.strip()]
    return index.explanation(
        subject(pod),
        "nccl-silent-rank",
        "container",
        f"last line of its log: {lines[-1]}",
        pod=name(pod),
        namespace=namespace(pod),
        node=str(at(pod, "spec.nodeName", "")),
        waiting=_ranks(waiting),
        operation=_operation(waiting[0]),
    )


def _different(found: Sequence[Timeout], index: Index) -> Iterator[Explanation]:
    first = min(found, key=lambda each: each.number)
    later = [each for each in found if each.number > first.number]
    same = [each for each in found if each.number == first.number]
    if later:
        yield index.explanation(
            first.pod,
            "nccl-late-rank",
            "container",
            f"rank {first.rank}: {_operation(first)}; {_ranks(later)}: {_operation(later[0])}",
            rank=_ranks(same),
            operation=_operation(first),
            later=_operation(later[0]),
        )
    elif len({each.kind for each in same}) > 1:
        evidence = ", ".join(
            f"rank {each.rank}: {_operation(each)}" for each in sorted(same, key=lambda each: each.rank)
        )
        yield index.explanation(first.pod, "nccl-mismatch", "container", evidence, number=str(first.number))


def _operation(each: Timeout) -> str:
    return f"{each.kind or 'operation'} {each.number}"


def _ranks(found: Sequence[Timeout]) -> str:
    ranks = sorted({each.rank for each in found})
    shown = ", ".join(map(str, ranks[:4])) + (f" and {len(ranks) - 4} more" if len(ranks) > 4 else "")
    return f"{'ranks' if len(ranks) > 1 else 'rank'} {shown}"


def _logs(pod: Json, index: Index) -> Iterator[str]:
    for (where, own, _), text in index.given.logs.items():
        if (where, own) == (namespace(pod), name(pod)):
            yield text


def _runs(pod: Json) -> bool:
    statuses: list[Json] = at(pod, "status.containerStatuses", [])
    return at(pod, "status.phase") == "Running" and all(at(each, "state.running") is not None for each in statuses)
