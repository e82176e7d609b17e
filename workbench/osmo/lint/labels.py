"""Check of a workflow's labels by the rules of OSMO 6.4 (NVIDIA/OSMO main, src/lib/utils/workflow_labels.py).

Pure functions.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, cast

MOST = 16
_NAME = re.compile(r"[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?")
_PREFIX = re.compile(r"(?=.{1,253}$)[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?)*")


def refused_labels(given: Any) -> Iterator[tuple[tuple[str, ...], str, str]]:
    """Labels that OSMO refuses, each with its path below `labels`, the problem, and what to write instead."""
    if not isinstance(given, dict):
        yield (), "'labels' is no map of texts", "Write labels as names with texts, such as labels: {team: vision}."
        return
    labels = cast("dict[Any, Any]", given)
    if len(labels) > MOST:
        yield (), f"the workflow has {len(labels)} labels, and at most {MOST} are taken", "Remove some of them."
    for key, value in labels.items():
        prefix, slash, name = str(key).rpartition("/")
        if not isinstance(key, str) or not _NAME.fullmatch(name) or (slash and not _PREFIX.fullmatch(prefix)):
            problem = f"'{key}' is not a label name: letters, digits, '-', '_' and '.', at most 63"
            yield (str(key),), problem, "Write a name such as team, or example.com/team."
        if not isinstance(value, str):
            yield (str(key),), f"the label '{key}' is not text", f'Put it in quotation marks: {key}: "{value}".'
        elif not _NAME.fullmatch(value):
            problem = f"the label '{key}' has the value '{value}': letters, digits, '-', '_' and '.', from 1 to 63"
            yield (str(key),), problem, "Write such a value."
