"""For all tests: how many examples Hypothesis tries, and which tests share a worker.

`pytest --hypothesis-profile deep` tries all examples, `--hypothesis-profile search` looks for new ones.
"""

from __future__ import annotations

import gc
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

SHARED_FIXTURES = {"running": "running", "api_server": "api_server", "stack_name": "stacks"}
"""Expensive fixtures that a worker makes once; all tests that use one run on the same worker, one after the other."""

SCATTERED = ("test_stack", "test_interrupted", "test_faults", "test_kills")
"""Modules whose tests share nothing expensive, so that any worker may run each; other tests stay with their module.
They run in this order, the longest tests first, so that no worker is left with a long one at the end."""

FIRST = (
    "test_year",
    "test_telemetry",
    "api_server",
    "running",
    "test_workflow_commands",
    "test_osmo",
    "test_telemetry_objects",
    "test_addresses",
    "test_pull_request",
    "test_autoscaling",
    "test_tutorial",
    "test_osmo_charts",
)
"""Groups in the order in which they begin, by the processor time that they take: the others run beside them. One that
makes the snapshot of the default stack is first, and those that do not need it are next."""


def group(item: pytest.Item) -> str:
    """Name of the tests that have to run on the worker that runs `item`; empty when any worker may."""
    fixtures = getattr(item, "fixturenames", ())
    shared = next((name for fixture, name in SHARED_FIXTURES.items() if fixture in fixtures), "")
    return shared or ("" if item.path.stem in SCATTERED else item.path.stem)


def rank(item: pytest.Item) -> tuple[int, int, bool, str, int]:
    """Sorts tests by layer; in each, the longest groups and those of expensive fixtures come first, others last."""
    layer = item.path.relative_to(Path(__file__).parent).parts[0]
    found = group(item)
    shared = found in SHARED_FIXTURES.values()
    return (
        LAYERS.index(layer) if layer in LAYERS else len(LAYERS),
        FIRST.index(found) if found in FIRST else len(FIRST),
        not shared,
        found if shared else "",
        -1 if found else SCATTERED.index(item.path.stem),
    )


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """For pytest-xdist's `--dist loadgroup`, whose own hook reads the marks."""
    items.sort(key=rank)
    for item in items:
        if found := group(item):
            item.add_marker(pytest.mark.xdist_group(found))
