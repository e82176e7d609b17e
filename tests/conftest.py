"""For all tests: how many examples Hypothesis tries, and which tests share a worker.

`pytest --hypothesis-profile deep` tries all examples, `--hypothesis-profile search` looks for new ones.
"""

from __future__ import annotations

import gc
from collections.abc import Generator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# The same examples in every run, and no limit of time for one.
settings.register_profile("search", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("deep", settings.get_profile("search"), derandomize=True)
settings.register_profile("few", settings.get_profile("deep"), max_examples=20)
settings.load_profile("few")

# As the command line does: tests make thousands of objects that live as long as their process.
gc.set_threshold(100_000, 50, 50)

LAYERS = ("simulator", "property", "host", "unit")
"""Folders in the order in which they run: the longest tests first, so that no worker ends with one of them."""

SHARED_FIXTURES = {"running": "running", "stack_name": "stacks"}
"""Expensive fixtures that a worker makes once; all tests that use one run on the same worker."""

SCATTERED = ("test_stack", "test_interrupted", "test_grid_scenarios", "test_gpu_scenarios", "test_faults", "test_kills")
"""Modules whose tests share nothing expensive, so that any worker may run each; other tests stay with their module.
They run in this order, the longest tests first, so that no worker is left with a long one at the end."""

FIRST = ("test_telemetry", "test_telemetry_objects", "test_year", "test_workflow_commands")
"""Modules with one test that takes minutes: the others of their layer run beside them."""


def group(item: pytest.Item) -> str:
    """Name of the tests that have to run on the worker that runs `item`; empty when any worker may."""
    fixtures = getattr(item, "fixturenames", ())
    shared = next((name for fixture, name in SHARED_FIXTURES.items() if fixture in fixtures), "")
    return shared or ("" if item.path.stem in SCATTERED else item.path.stem)


def rank(item: pytest.Item) -> tuple[int, bool, bool, int]:
    """Sorts tests by layer; in each, the longest and those of expensive fixtures come first, others last."""
    layer = item.path.relative_to(Path(__file__).parent).parts[0]
    found = group(item)
    return (
        LAYERS.index(layer) if layer in LAYERS else len(LAYERS),
        item.path.stem not in FIRST,
        found not in SHARED_FIXTURES.values(),
        -1 if found else SCATTERED.index(item.path.stem),
    )


_COLLECTED = pytest.StashKey[dict[Path, pytest.Collector | None]]()


@pytest.hookimpl(wrapper=True)
def pytest_collect_directory(
    path: Path, parent: pytest.Collector
) -> Generator[None, pytest.Collector | None, pytest.Collector | None]:
    """One node for a folder, also where the command line names files and folders in between.

    pytest 9.1 collects a folder again for a file that is named directly, and gives the fixtures of a conftest.py to the
    first node of its folder only: `pytest tests/unit/cli tests/test_imports.py tests/unit/docs` would not find them.
    """
    made = yield
    return parent.stash.setdefault(_COLLECTED, {}).setdefault(path, made)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """For pytest-xdist's `--dist loadgroup`, whose own hook reads the marks."""
    items.sort(key=rank)
    for item in items:
        if found := group(item):
            item.add_marker(pytest.mark.xdist_group(found))
