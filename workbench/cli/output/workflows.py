"""Output of workflows that have run, and of their tasks, for people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.table import Table
from rich.text import Text

COMPLETED = "COMPLETED"


def succeeded(documents: Sequence[Mapping[str, Any]]) -> bool:
    """True if every workflow completed."""
    return all(document["status"] == COMPLETED for document in documents)


def table(documents: Sequence[Mapping[str, Any]]) -> Table:
    """A table of workflows and their tasks, one line each."""
    found = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 1, 0, 0))
    for column in ("workflow", "task", "platform", "GPUs", "node", "status"):
        found.add_column(column, no_wrap=True)
    for document in documents:
        name = document["id"]
        for task in document["tasks"]:
            gpus = str(task["gpus"]) if task["gpus"] else ""
            status = Text(task["status"], style="green" if task["status"] == COMPLETED else "red")
            found.add_row(name, task["name"], task["platform"], gpus, task["node"] or "", status)
            name = ""
    return found
