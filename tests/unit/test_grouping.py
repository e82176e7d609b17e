"""Tests of one file run on one worker, which makes their fixtures once."""

from __future__ import annotations

import pytest


def test_pytest_xdist_reads_the_groups(request: pytest.FixtureRequest) -> None:
    """It appends a group to the ids of its tests; one that does not makes every fixture on every worker."""
    if request.config.getoption("loadgroup", default=False):
        assert request.node.nodeid.endswith("@test_grouping")
