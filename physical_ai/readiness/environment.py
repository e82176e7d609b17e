"""The environment variables that change how a deployment waits, read once before it declares anything."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial

from physical_ai.readiness.azure_failures import RETRY_SECONDS_VARIABLE, base_seconds
from physical_ai.readiness.waiting import GATE_SECONDS_VARIABLE, GATES_VARIABLE, bound_seconds, gates_mode

_ANY_MINUTES = 1
"""Minutes of a wait with a time limit: the variable is read for no other."""
_READERS: Mapping[str, Callable[[Mapping[str, str]], object]] = {
    GATES_VARIABLE: gates_mode,
    GATE_SECONDS_VARIABLE: partial(bound_seconds, _ANY_MINUTES),
    RETRY_SECONDS_VARIABLE: base_seconds,
}


def unusable_variables(environment: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Each variable whose value cannot be used, and what is wrong with it."""
    for variable, read in _READERS.items():
        try:
            read(environment)
        except ValueError as problem:
            yield variable, str(problem)
