"""The simulated cloud's state file: JSON that is rewritten after every change, and read again when another process has
changed it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from simulator.azure import ids
from simulator.azure.state import Resource

FORMAT = 1


class Store:
    """Resources by id, on disk after every `save`.

    A save writes a second file and renames it over the first, so a process that is killed at any moment leaves either
    the old or the new state. It does not wait for the disk: a simulator need not survive a power cut.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.resources: dict[str, Resource] = {}
        self.serial = 0
        self.refused: dict[str, int] = {}
        """Number of requests that were refused because of automatic operations of Azure, by name of cluster or pool."""
        self.deleted_vaults: dict[str, Any] = {}
        """Key vaults that can still be recovered, by name."""
        self._encoded: dict[str, str] = {}
        self._known: tuple[int, int, int] | None = None
        self.refresh()

    def refresh(self) -> None:
        """Loads changes that another process has saved since this process last read or wrote the file."""
        if (found := self._stamp()) == self._known:
            return
        self._known = found
        self.resources, self._encoded = {}, {}
        content: dict[str, Any] = json.loads(self.path.read_text(encoding="utf-8")) if found else {}
        self.serial = content.get("serial", 0)
        self.refused = content.get("refused", {})
        self.deleted_vaults = content.get("deletedVaults", {})
        for row in content.get("resources", ()):
            self.put(Resource(**row))

    def _stamp(self) -> tuple[int, int, int] | None:
        try:
            found = self.path.stat()
        except FileNotFoundError:
            return None
        return found.st_ino, found.st_mtime_ns, found.st_size

    def next_serial(self) -> int:
        self.serial += 1
        return self.serial

    def put(self, resource: Resource) -> None:
        """Adds or replaces the resource in memory; `save` writes it to disk."""
        key = ids.key(resource.id)
        self.resources[key] = resource
        row = {name: getattr(resource, name) for name in Resource.__dataclass_fields__}
        self._encoded[key] = json.dumps(row, separators=(",", ":"))

    def remove(self, resource_id: str) -> None:
        key = ids.key(resource_id)
        self.resources.pop(key, None)
        self._encoded.pop(key, None)

    def save(self) -> None:
        """Writes the state. Only changed resources are encoded again, so a save is cheap even with many pools."""
        rows = ",\n".join(self._encoded.values())
        counted, deleted = json.dumps(self.refused), json.dumps(self.deleted_vaults)
        head = f'"format":{FORMAT},"serial":{self.serial},"refused":{counted},"deletedVaults":{deleted}'
        text = f'{{{head},"resources":[\n{rows}\n]}}\n'
        beside = self.path.with_name(f"{self.path.name}.new")
        beside.write_text(text, encoding="utf-8")
        os.replace(beside, self.path)
        self._known = self._stamp()

    def __iter__(self) -> Iterator[Resource]:
        return iter(list(self.resources.values()))
