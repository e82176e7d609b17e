"""Levels of acceptance in options."""

from __future__ import annotations

from typing import get_args

from physical_ai.catalog import acceptance
from workbench.cli import acceptance_levels


def test_the_levels_of_options_are_those_of_the_catalogue() -> None:
    assert acceptance_levels.LEVELS == acceptance.LEVELS
    assert get_args(acceptance_levels.AcceptanceLevel) == get_args(acceptance.AcceptanceLevel)
