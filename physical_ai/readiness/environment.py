"""Environment variables that change how a deployment waits. They are read once, before anything is declared."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial

from physical_ai.readiness.azure_failures import RETRY_SECONDS_VARIABLE, base_seconds
from physical_ai.readiness.waiting import GATE_SECONDS_VARIABLE, GATES_VARIABLE, bound_seconds, gates_mode

_ANY_MINUTES = 1
"""Time limit in minutes with which GATE_SECONDS_VARIABLE is checked. Any value above 0 would do; with 0, the variable
would not be read.
"""
_READERS: Mapping[str, Callable[[Mapping[str, str]], object]] = {
    GATES_VARIABLE: gates_mode,
    GATE_SECONDS_VARIABLE: partial(bound_seconds, _ANY_MINUTES),
    RETRY_SECONDS_VARIABLE: base_seconds,
}


def unusable_variables(environment: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Name of each variable whose value cannot be used, with the problem."""
    for variable, read in _READERS.items():
        try:
            read(environment)
        except ValueError as problem:
            yield variable, str(problem)
