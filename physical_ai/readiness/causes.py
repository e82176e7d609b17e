"""Known causes of closed gates (`data/causes.yaml`), of Pods that do not run (`data/workload_causes.yaml`) and of
Azure's refusals (`data/azure_errors.yaml`), and the search for the cause that fits. Parts have further causes in
files of the same names in their folders.
"""

from __future__ import annotations

import datetime
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

from parts.amd import names as amd
from physical_ai import safe_yaml
from physical_ai.catalog.node_causes import gate_fix, with_remedies
from physical_ai.catalog.reading import CatalogError, file_label, read_mapping, row
from physical_ai.catalog.rows import Row, Text
from physical_ai.citations import cited
from physical_ai.nested import is_mapping
from physical_ai.repository import PARTS, part_files

DATA = Path(__file__).parent / "data"
CAPACITY = "capacity"
"""Stage of a Pod in which Azure is asked for a node."""


@dataclass(frozen=True)
class Cause:
    """A reason for a closed gate, or for a Pod that does not run."""

    id: str
    stages: tuple[str, ...]
    """Gates of a node, or stages of a Pod, at which the cause can occur."""
    symptom: str
    reason: str
    fix: str
    source: str
    pattern: re.Pattern[str] | None
    """Expression for the messages of a Pod or node; None for a cause that is derived from the objects instead."""
    waits: bool
    """True where the gate usually opens by itself."""
    past: bool = False
    """True for a cause that is already over, or that concerns an object which has left the cluster."""
    known: bool = True
    """False for a row that only states that nothing is known, and quotes the original message."""
    fix_elsewhere: str = ""
    """Fix for an existing cluster, if it differs from the fix for a cluster on Azure; empty if both are the same."""

    def describe(self, facts: Mapping[str, str], *, azure: bool = True) -> tuple[str, str]:
        """Reason and fix with the facts of one node filled in; an unknown fact appears as `?`.

        Args:
            azure: True for a cluster that the stack creates on Azure; False for an existing cluster.
        """
        known = defaultdict(lambda: "?", {"stack": "STACK"} | {key: value for key, value in facts.items() if value})
        fix = self.fix if azure else self.fix_elsewhere or self.fix
        return cited(self.reason.format_map(known)), cited(fix.format_map(known))


@cache
def causes() -> Mapping[str, Cause]:
    """Known causes of closed gates, by id, in the order of the search."""
    return _read("causes.yaml", "gates")


@cache
def amd_causes() -> Mapping[str, Cause]:
    """Known causes of closed gates on nodes with AMD GPUs, by id, in the order of the search."""
    return _rows(PARTS / "amd" / amd.CAUSES, "gates")


@cache
def workload_causes() -> Mapping[str, Cause]:
    """Known causes why a Pod does not run, by id, in the order of the search; Azure's refusals come last."""
    return {**_read("workload_causes.yaml", "stages"), **_of_azure()}


@dataclass(frozen=True)
class AzureError:
    """Known error code of Azure, with advice for deployments and, if the error can keep a pool or Pod waiting, the
    reason and fix to show there.
    """

    id: str
    pattern: re.Pattern[str]
    symptom: str
    reason: str
    """Reason why a Pod or pool waits; empty for an error that concerns deployments only."""
    fix: str
    deployment: str
    """Advice for a deployment; empty where Azure's own message is sufficient."""
    source: str
    how: str
    date: datetime.date
    waits: bool


@cache
def azure_errors() -> Mapping[str, AzureError]:
    """Known errors of Azure, by the id of their row, in the order in which `azure_error_of` tries their patterns."""
    rows: Mapping[str, Mapping[str, Any]] = safe_yaml.load((DATA / "azure_errors.yaml").read_text())
    return {
        key: AzureError(
            id=key,
            pattern=re.compile(row["pattern"], re.IGNORECASE | re.DOTALL),
            symptom=row["symptom"],
            reason=row.get("reason", ""),
            fix=row.get("fix", ""),
            deployment=str(row.get("deployment", "")).strip(),
            source=row["source"],
            how=row["how"],
            date=row["date"],
            waits=bool(row.get("waits", False)),
        )
        for key, row in rows.items()
    }


def azure_error_of(text: str) -> AzureError | None:
    """First known error of Azure whose pattern matches `text`, a code with its message; None if no pattern matches."""
    return next((each for each in azure_errors().values() if each.pattern.search(text)), None)


def _of_azure() -> dict[str, Cause]:
    return {
        key: Cause(key, (CAPACITY,), row.symptom, row.reason, row.fix, row.source, row.pattern, row.waits)
        for key, row in azure_errors().items()
        if row.reason
    }


def _read(file: str, stages: Literal["gates", "stages"]) -> Mapping[str, Cause]:
    """Causes in a file, and in the files of the same name in the folders of parts."""
    files = (DATA / file, *part_files(file))
    return {key: cause for each in files for key, cause in _rows(each, stages).items()}


class CauseRow(Row):
    """Row about a cause in a file of causes; `stages` is called `gates` in files about gates."""

    stages: tuple[Text, ...] = ()
    gates: tuple[Text, ...] = ()
    symptom: Text
    reason: Text
    fix: str | None = None
    fix_elsewhere: str | None = None
    source: Text
    pattern: str | None = None
    waits: bool = False
    past: bool = False
    known: bool = True


def _rows(file: Path, stages: Literal["gates", "stages"]) -> Mapping[str, Cause]:
    """Causes in a file of causes, by id. Raises CatalogError for a row that `CauseRow` does not accept."""
    return {key: _cause(key, data, file, stages) for key, data in read_mapping(file).items()}


def _cause(key: str, data: Any, file: Path, stages: Literal["gates", "stages"]) -> Cause:
    where = f"{file_label(file)}: {key}"
    if not is_mapping(data):
        raise CatalogError(
            f"{where}\n  The cause is not a mapping.\n  Write {stages}, symptom, reason, fix and source."
        )
    given = row(CauseRow, data, where)
    found = given.gates if stages == "gates" else given.stages
    if not found or len(given.gates) * len(given.stages):
        raise CatalogError(f"{where}: {stages}\n  The key is missing.\n  Write {stages}: and a list of names.")
    try:
        pattern = re.compile(given.pattern, re.IGNORECASE) if given.pattern is not None else None
    except re.error as error:
        raise CatalogError(f"{where}: pattern\n  It is no regular expression: {error}.\n  Correct it.") from None
    return Cause(
        id=key,
        stages=found,
        symptom=given.symptom,
        reason=given.reason,
        fix=_fix(key, given, azure=True),
        source=given.source,
        pattern=pattern,
        waits=given.waits,
        past=given.past,
        known=given.known,
        fix_elsewhere=_fix(key, given, azure=False),
    )


def _fix(key: str, given: CauseRow, *, azure: bool) -> str:
    """Fix for the cause `key`: the fix of the file's row or, for a row without one, the fix of the node cause for the
    same problem.

    Gates and alerts therefore advise the same repair.
    """
    own = given.fix if azure or given.fix_elsewhere is None else given.fix_elsewhere
    return (gate_fix(key, azure=azure) or "") if own is None else with_remedies(own, azure=azure)


def cause_of(gate: str, text: str) -> tuple[Cause, Mapping[str, str]] | None:
    """The first cause of a closed gate whose pattern matches `text`, with the pattern's named groups."""
    return _matching(causes(), gate, text)


def amd_cause_of(gate: str, text: str) -> tuple[Cause, Mapping[str, str]] | None:
    """The first cause of a closed gate on nodes with AMD GPUs whose pattern matches `text`, with the pattern's named
    groups.
    """
    return _matching(amd_causes(), gate, text)


def workload_cause_of(stage: str, text: str) -> tuple[Cause, Mapping[str, str]] | None:
    """The first cause for a stage of a Pod whose pattern matches `text`, with the pattern's named groups."""
    return _matching(workload_causes(), stage, text)


def workload_causes_of(stage: str, text: str) -> list[tuple[Cause, Mapping[str, str]]]:
    """All causes for a stage of a Pod whose patterns match `text`: a scheduler's message has several reasons, for
    different nodes.
    """
    return list(_all_matching(workload_causes(), stage, text))


def _matching(known: Mapping[str, Cause], stage: str, text: str) -> tuple[Cause, Mapping[str, str]] | None:
    return next(_all_matching(known, stage, text), None)


def _all_matching(known: Mapping[str, Cause], stage: str, text: str) -> Iterator[tuple[Cause, Mapping[str, str]]]:
    for cause in known.values():
        if stage in cause.stages and cause.pattern is not None and (found := cause.pattern.search(text)):
            yield cause, {key: value for key, value in found.groupdict().items() if value}
