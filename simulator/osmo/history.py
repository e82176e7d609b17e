"""The workflows that a simulated stack has run: what the service would have in its database."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

KEPT = 50
FILE = "workflows.json"


class History:
    """Kept in the simulation's folder, so it goes with the simulation."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / FILE

    def all(self) -> list[dict[str, Any]]:
        """Oldest first, `KEPT` at most: documents as `add` got them, each with an `id` as `train-3`."""
        if not self._file.exists():
            return []
        return json.loads(self._file.read_text())

    def number(self, name: str) -> int:
        """The number of the next run of a workflow."""
        runs = (str(each["id"]).rpartition("-") for each in self.all())
        return max((int(number) for of, _, number in runs if of == name), default=0) + 1

    def add(self, document: dict[str, Any]) -> None:
        draft = self._file.with_name(f".{FILE}")
        draft.write_text(json.dumps([*self.all(), document][-KEPT:], indent=1))
        draft.replace(self._file)
