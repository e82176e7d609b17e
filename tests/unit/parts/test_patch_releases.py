"""A patch release of a part's chart: a row in its `charts.yaml` is all that its plan and images need."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

import pytest

from parts.registry import PARTS
from physical_ai.catalog import charts
from physical_ai.catalog.charts import Chart, KeysRead, newest_chart, pinned_charts
from physical_ai.planning.plan import make_plan
from physical_ai.settings.facts.pinned_images import pinned_images
from tests.support.covering_stacks import covering

FOLLOWING = sorted({chart for part in PARTS for chart in part.charts} - {"network-operator"})
"""Charts for which a row of the pin is all: a release of the network operator also needs the driver that it was tested
with.
"""


def patched(pin: Chart) -> Chart:
    """The next patch release, whose keys were not read."""
    version = re.sub(r"\d+$", lambda found: str(int(found[0]) + 1), pin.version)
    keys = pin.keys or KeysRead(version=pin.version, reason="the tag could not be read")
    return pin.model_copy(update={"version": version, "keys": keys, "sha256": None})


@pytest.fixture
def released(monkeypatch: pytest.MonkeyPatch) -> Iterator[Mapping[str, Chart]]:
    """A patch release of each of these charts, added to its pins; no other test gets stacks with it."""
    added = {name: patched(newest_chart(name)) for name in FOLLOWING}
    every = {**pinned_charts(), **{(pin.name, pin.version): pin for pin in added.values()}}
    monkeypatch.setattr(charts, "pinned_charts", lambda: every)
    covering.cache_clear()
    yield added
    covering.cache_clear()


def test_a_patch_release_is_installed_once_its_row_is_there(released: Mapping[str, Chart]) -> None:
    versions: dict[str, set[str]] = {}
    for settings in covering():
        for pin in make_plan(settings).charts:
            versions.setdefault(pin.name, set()).add(pin.version)
    assert {name: versions[name] for name in FOLLOWING} == {name: {pin.version} for name, pin in released.items()}


def test_images_with_the_version_of_the_chart_follow_it(released: Mapping[str, Chart]) -> None:
    for name in ("slurm-operator", "gpu-operator-charts", "nvsentinel"):
        assert any(image.endswith(f":{released[name].version}") for image in pinned_images(released[name])), name
