"""Conversion of differences between a recording and the simulator into catalogue rows with a date and a source."""

from __future__ import annotations

import datetime
import hashlib
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from physical_ai.catalog import seen as seen_rows
from physical_ai.catalog import tolerated
from physical_ai.catalog.azure_native import mappings
from workbench.recordings.comparing import ABSENT, TOLERATED, Difference
from workbench.recordings.reading import Recording

ACCESS = re.compile(r"access|network|auth|firewall|acls?\b|iprules|identit|rbac|role|permission|tls|encrypt|polic",
                    re.IGNORECASE)  # fmt: skip
"""Paths of properties that protect a resource. Differences in these properties are never added to the tolerated
differences, because the maker of a recording must not decide which of them are ignored.
"""
REASON = "Azure fills it in"
Rows = Mapping[Path, Sequence[Mapping[str, Any]]]


def new_rows(found: Sequence[Difference], recording: Recording) -> Rows:
    """Rows to add to the catalogue, by file, without facts that the catalogue already has."""
    digest = hashlib.sha256(recording.file.read_bytes()).hexdigest()[:12] if recording.file.is_file() else "unwritten"
    source = f"recording of {recording.stack}, {digest}"
    date = recording.recorded_at[:10]
    known = {(each.about, each.subject, each.path, str(each.seen)) for each in seen_rows.seen_facts()}
    fills = [
        each for each in found if each.home == TOLERATED and each.believed == ABSENT and not ACCESS.search(each.path)
    ]
    own = [
        {**each.document(), "source": source, "how": "seen", "date": date}
        for each in found
        if (each.about, each.subject, each.path, str(each.seen)) not in known
    ]
    filled = [row for each in fills if (row := tolerated_row(each, source, date)) is not None]
    return {seen_rows.FILE: own, tolerated.FILE: filled}


def tolerated_row(given: Difference, source: str, date: str) -> dict[str, Any] | None:
    """The row of tolerated_differences.yaml for a value that Azure fills in; None if no input of the resource type
    contains the value.
    """
    arm_type = given.subject.partition(" ")[0]
    mapping = next((each for each in mappings().values() if each.arm_type.lower() == arm_type.lower()), None)
    if mapping is None:
        return None
    for name, body in sorted(mapping.inputs.items(), key=lambda each: -len(each[1])):
        if given.path == body or given.path.startswith((f"{body}.", f"{body}[")):
            path = re.escape(f"{name}{given.path[len(body) :]}")
            row = {"type": mapping.token, "path": path, "value": given.seen, "reason": REASON, "source": source}
            return {**row, "how": "seen", "date": date}
    return None


def written(rows: Rows) -> list[str]:
    """Appends rows to the catalogue's files. Returns a line of text for each file that has changed."""
    lines: list[str] = []
    for file, added in rows.items():
        if not added:
            continue
        text = file.read_text(encoding="utf-8")
        body = text.removesuffix("[]\n")
        dated = yaml.safe_dump([_dated(each) for each in added], sort_keys=False, allow_unicode=True, width=1000)
        unfinished = file.with_name(f".{file.name}.{os.getpid()}.new")
        unfinished.write_text(f"{body.rstrip()}\n\n{dated}", encoding="utf-8")
        unfinished.replace(file)
        lines.append(f"{len(added)} rows of {file.name}")
    return lines


def _dated(row: Mapping[str, Any]) -> dict[str, Any]:
    """The row with its `date` as a date object instead of a text, since YAML writes a date object without quotes."""
    return {**row, "date": datetime.date.fromisoformat(str(row["date"]))}
