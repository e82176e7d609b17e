"""What a genuine chart was seen to render: tests/fixtures/charts/<chart>-<version>.yaml."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

FOLDER = Path(__file__).parents[1] / "fixtures/charts"


def rendered_facts(chart: str, version: str) -> dict[str, Any]:
    """Objects and effects of a chart's version.

    Raises:
        FileNotFoundError: it was not rendered: render it outside the repository, and write down what it shows.
    """
    facts: dict[str, Any] = yaml.safe_load((FOLDER / f"{chart}-{version}.yaml").read_text())
    assert (facts["chart"], facts["version"]) == (chart, version)
    return facts


def keys_set(values: Mapping[str, Any], known: Mapping[str, Any]) -> Iterator[str]:
    """Dotted paths of the keys that values set; a map that is one key of `known` is not entered."""

    def below(given: Mapping[str, Any], path: str) -> Iterator[str]:
        for key, value in given.items():
            here = f"{path}.{key}" if path else key
            if isinstance(value, Mapping) and value and here not in known:
                yield from below(value, here)
            else:
                yield here

    yield from below(values, "")
