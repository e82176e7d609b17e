"""Releases of the platform as data: what each changes for a team that upgrades, and who may deploy whose stacks."""

from __future__ import annotations

from physical_ai.releases.notes import Release, notes, notes_in
from physical_ai.releases.versions import NotAVersion, Version, installed, pinned_version

__all__ = ["NotAVersion", "Release", "Version", "installed", "notes", "notes_in", "pinned_version"]
