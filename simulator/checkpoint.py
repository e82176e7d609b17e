"""The engine's state of one stack, read from the files of its backend without running the engine."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from physical_ai.catalog.engine_values import is_secret

STACK_TYPE = "pulumi:pulumi:Stack"


@dataclass(frozen=True)
class Checkpoint:
    """Checkpoint of a stack in the engine's file backend. `backend`: the backend's folder, which need not exist yet."""

    backend: Path
    stack: str

    @property
    def file(self) -> Path | None:
        """The stack's checkpoint file; None before the stack's first command."""
        return next(self.backend.glob(f".pulumi/stacks/*/{self.stack}.json"), None)

    def create(self, project: str) -> None:
        """Writes the empty state of a new stack; `pulumi stack init` takes half a second to do the same.

        Format: pulumi/pkg 3.259, backend/diy/{meta,stack}.go, and apitype.VersionedCheckpoint.
        """
        root = self.backend / ".pulumi"
        file = root / "stacks" / project / f"{self.stack}.json"
        file.parent.mkdir(parents=True, exist_ok=True)
        (root / "meta.yaml").write_text("version: 1\n")
        state = {"stack": f"organization/{project}/{self.stack}"}
        unfinished = self.backend / "new.json"
        unfinished.write_text(json.dumps({"version": 3, "checkpoint": state}))
        unfinished.rename(file)

    def deployment(self) -> dict[str, Any]:
        """The stack's last saved deployment; empty before the first update."""
        file = self.file
        return json.loads(file.read_text())["checkpoint"].get("latest") or {} if file is not None else {}

    def resources(self) -> list[dict[str, Any]]:
        return self.deployment().get("resources") or []

    def pending(self) -> list[dict[str, Any]]:
        """Operations that were started and whose outcome is not known."""
        return self.deployment().get("pending_operations") or []

    def protected(self) -> list[str]:
        """Names of the resources that refuse to be deleted."""
        return [resource["urn"].rsplit("::", 1)[-1] for resource in self.resources() if resource.get("protect")]

    def outputs(self) -> dict[str, Any]:
        """The stack's outputs without the secret ones."""
        given: list[dict[str, Any]] = [
            each.get("outputs") or {} for each in self.resources() if each["type"] == STACK_TYPE
        ]
        return {name: value for outputs in given for name, value in outputs.items() if not is_secret(value)}

    def config(self) -> dict[str, Any]:
        """The configuration of the newest update, by full key; empty before the first update.

        Format: pulumi/pkg 3.259, backend/diy/state.go (history files), and backend.UpdateInfo.
        """
        files = self.backend.glob(f".pulumi/history/*/{self.stack}/*.history.json")
        for file in sorted(files, key=lambda each: each.name, reverse=True):
            entry: dict[str, Any] = json.loads(file.read_text())
            if entry.get("kind") == "update":
                return dict(entry.get("config") or {})
        return {}

    def locks(self) -> list[dict[str, Any]]:
        """Locks of running or killed updates, each with `pid`, `username`, `hostname` and `timestamp`."""
        return [json.loads(file.read_text()) for file in self._lock_files()]

    def unlock(self) -> None:
        """Removes all locks, as `pulumi cancel` does."""
        for file in self._lock_files():
            file.unlink(missing_ok=True)

    def _lock_files(self) -> Iterator[Path]:
        return self.backend.glob(f".pulumi/locks/**/{self.stack}/*.json")

    def repair(self) -> None:
        """Removes the `.attrs` files that an engine with other settings has written beside the state files.

        The engine does not write an `.attrs` file atomically. It refuses a checkpoint whose `.attrs` file is damaged,
        and accepts a checkpoint that has no `.attrs` file.
        """
        for attributes in self.backend.rglob("*.attrs"):
            attributes.unlink()
