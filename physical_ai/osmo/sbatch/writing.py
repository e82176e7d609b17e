"""The file of a converted workflow."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import yaml

from physical_ai.settings.plans.osmo_service import Plain


class _Written(Plain):
    """Writes text of several lines as a block."""


def _text(dumper: _Written, value: str) -> yaml.Node:
    style = "|" if "\n" in value else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=style)  # pyright: ignore[reportUnknownMemberType]


_Written.add_representer(str, _text)  # pyright: ignore[reportUnknownMemberType]


def text(workflow: Mapping[str, Any], source: str) -> str:
    """A workflow as YAML, with the name of the script that it is from."""
    name = "".join(character for character in source if character.isprintable())
    body = yaml.dump(dict(workflow), Dumper=_Written, sort_keys=False, allow_unicode=True, width=120)
    return f"# From {name}: physai lint --from-sbatch\n{body}"
