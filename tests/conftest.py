"""For all tests: how many examples Hypothesis tries, and which tests share a worker.

`pytest --hypothesis-profile deep` tries all examples, `--hypothesis-profile search` looks for new ones.
"""

from __future__ import annotations

import gc
from functools import cache
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings, strategies
from xdist.remote import Producer
from xdist.scheduler.loadgroup import LoadGroupScheduling

# The same examples in every run, and no limit of time for one.
settings.register_profile("search", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("deep", settings.get_profile("search"), derandomize=True)
settings.register_profile("few", settings.get_profile("deep"), max_examples=6)
settings.load_profile("few")

# As the command line does: tests make thousands of objects that live as long as their process.
gc.set_threshold(100_000, 50, 50)

PHASES = (("test_types", "simulator"), ("host", "property", "unit"))
"""Folders and modules in the order in which they run. The longest tests come first, so that no worker ends with one of
them; those that mostly wait (host) take turns with those that compute (unit)."""

SHARED_FIXTURES = {"running": "running", "api_server": "api_server", "simulate": "recordings", "stack_name": "stacks"}
"""Expensive fixtures that a worker makes once; all tests that use one run on the same worker, one after the other."""

READERS = {
    "test_folder_tables": "checkout",
    "test_packages": "checkout",
    "test_imports": "checkout",
    "test_reference": "checkout",
}
"""Modules that read all source files, and the name of their group: a worker reads them once, which takes seconds."""

ENDING = "running_to_the_end"
"""A fixture of tests that end what their group shares, and come behind its other tests."""

SCATTERED = ("test_stack", "test_interrupted", "test_faults", "test_kills")
"""Modules whose tests share nothing expensive, so that any worker may run each; other tests stay with their module.
They run in this order, the longest tests first, so that no worker is left with a long one at the end."""

FIRST = ("test_types", "running", "api_server", "test_autoscaling")
"""Groups in the order in which they begin, by the processor time that they take: the others run beside them. The one
that makes the snapshot of the default stack is the first of the simulator, and those that do not need it are next."""


@cache
def group(item: pytest.Item) -> str:
    """Name of the tests that have to run on the worker that runs `item`; empty when any worker may."""
    fixtures = getattr(item, "fixturenames", ())
    shared = next((name for fixture, name in SHARED_FIXTURES.items() if fixture in fixtures), "")
    return shared or ("" if item.path.stem in SCATTERED else READERS.get(item.path.stem, item.path.stem))


@cache
def layer(module: Path) -> str:
    """Name of its folder below `tests`; of itself, where it is in none."""
    return module.relative_to(Path(__file__).parent).parts[0].removesuffix(".py")


def rank(item: pytest.Item) -> tuple[int, bool, str, int, bool]:
    """Sorts the tests of a layer: the longest groups and those of expensive fixtures come first, others last."""
    found = group(item)
    shared = found in SHARED_FIXTURES.values()
    return (
        FIRST.index(found) if found in FIRST else len(FIRST),
        not shared,
        found if shared else "",
        -1 if found else SCATTERED.index(item.path.stem),
        ENDING in getattr(item, "fixturenames", ()),
    )


def in_turns(items: list[pytest.Item]) -> list[pytest.Item]:
    """The tests of layers that run beside each other, each layer spread evenly over the whole time.

    Tests of one group stay together: they have the place of the first.
    """
    layers: dict[str, dict[str, list[pytest.Item]]] = {}
    for item in items:
        layers.setdefault(layer(item.path), {}).setdefault(group(item) or item.nodeid, []).append(item)
    placed = [(place / len(groups), tests) for groups in layers.values() for place, tests in enumerate(groups.values())]
    return [item for _, tests in sorted(placed, key=lambda each: each[0]) for item in tests]


def phase(item: pytest.Item) -> int:
    own = layer(item.path)
    return next((place for place, layers in enumerate(PHASES) if own in layers), len(PHASES))


def pytest_configure(config: pytest.Config) -> None:
    """Puts the files of a folder next to each other. Given `a/x.py y.py a/z.py`, pytest 9.1.1 collects the folder `a`
    twice, and the second time without the fixtures of its conftest.py (pytest-dev/pytest#14635)."""
    config.args.sort()


@given(strategies.none())
def nothing(_: None) -> None:
    """A test of nothing."""


@pytest.hookimpl(trylast=True)
def pytest_sessionstart() -> None:
    """With a process's first example, Hypothesis searches all of its objects: of those there are few now."""
    nothing()


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish() -> None:
    """Pytest collects garbage five times when it ends, through millions of objects that end with their process."""
    gc.freeze()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """For pytest-xdist's `--dist loadgroup`, whose own hook reads the marks."""
    phases: list[list[pytest.Item]] = [[] for _ in range(len(PHASES) + 1)]
    for item in sorted(items, key=rank):
        phases[phase(item)].append(item)
    items[:] = [item for each in phases for item in in_turns(each)]
    for item in items:
        if found := group(item):
            item.add_marker(pytest.mark.xdist_group(found))


class Scheduling(LoadGroupScheduling):
    """As `--dist loadgroup`, which counts all tests of a worker again after each of its ten thousand."""

    def _pending_of(self, workload: dict[str, dict[str, bool]]) -> int:
        # A worker runs its groups in the order in which it got them.
        pending = 0
        for tests in reversed(workload.values()):
            left = sum(not done for done in tests.values())
            if not left:
                break
            pending += left
        return pending


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> Scheduling | None:
    return Scheduling(config, log) if config.getvalue("dist") == "loadgroup" else None
