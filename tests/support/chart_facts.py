"""Facts about genuine charts, read off what they rendered: tests/fixtures/charts/<chart>-<version>.yaml."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

FOLDER = Path(__file__).parents[1] / "fixtures/charts"


def rendered_facts(chart: str, version: str) -> dict[str, Any]:
    """Objects that a version of a chart renders, and effects of its values.

    Raises:
        FileNotFoundError: nobody has rendered this version yet. Render it outside the repository, and write the file.
    """
    facts: dict[str, Any] = yaml.safe_load((FOLDER / f"{chart}-{version}.yaml").read_text())
    assert (facts["chart"], facts["version"]) == (chart, version)
    return facts


def keys_set(values: Mapping[str, Any], known: Mapping[str, Any]) -> Iterator[str]:
    """Dotted paths of the keys that values set. The search does not go into a map that is one key of `known`."""

    def below(given: Mapping[str, Any], path: str) -> Iterator[str]:
        for key, value in given.items():
            here = f"{path}.{key}" if path else key
            if isinstance(value, Mapping) and value and here not in known:
                yield from below(value, here)
            else:
                yield here

    yield from below(values, "")
