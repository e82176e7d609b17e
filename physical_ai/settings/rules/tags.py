"""Rules about Azure tags, which follow those of Resource Manager (ARM docs, tag-resources)."""

from __future__ import annotations

from collections.abc import Iterator

from physical_ai.settings.models.tree import Settings
from physical_ai.settings.rules.finding import SettingFinding, Trust, error

MOST_TAGS = 50
LONGEST_NAME = 512
LONGEST_VALUE = 256
FORBIDDEN = "<>%&\\?/"
RESERVED_PREFIXES = ("microsoft", "azure", "windows")


def check_tags(settings: Settings, trust: Trust) -> Iterator[SettingFinding]:
    """Findings of all rules about tags."""
    if not trust(("tags",)):
        return
    if len(settings.tags) > MOST_TAGS:
        yield error(("tags",), f"{len(settings.tags)} tags; Azure accepts {MOST_TAGS}.", "Remove some.")
    seen: dict[str, str] = {}
    for name, value in settings.tags.items():
        path = ("tags", name)
        if strange := [character for character in FORBIDDEN if character in name]:
            fix = f"Such as '{''.join(c for c in name if c not in FORBIDDEN) or 'name'}'."
            yield error(path, f"A tag's name can't contain {' '.join(strange)}.", fix)
        if not name.strip() or len(name) > LONGEST_NAME:
            yield error(path, f"A tag's name has 1 to {LONGEST_NAME} characters.", "Use a short name.")
        if name.lower().startswith(RESERVED_PREFIXES):
            problem = f"Azure reserves tag names that begin with {', '.join(RESERVED_PREFIXES)}."
            yield error(path, problem, "Use another prefix.")
        if len(value) > LONGEST_VALUE:
            problem = f"A tag's value has at most {LONGEST_VALUE} characters, not {len(value)}."
            yield error(path, problem, "Shorten it.")
        if name.lower() in seen:
            problem = f"'{name}' and '{seen[name.lower()]}' are one tag: Azure ignores case in names."
            yield error(path, problem, "Keep one of them.")
        seen.setdefault(name.lower(), name)
