"""The errors and warnings of assignments over the dev stack."""

from __future__ import annotations

import pytest

from physical_ai.settings import Fault, Overlay, SettingsError, load


def faults_of(*assignments: str) -> list[Fault]:
    """The errors that these assignments over the dev stack cause."""
    with pytest.raises(SettingsError) as caught:
        load("dev-westus2", [Overlay.assign(assignments)])
    assert all(fault.file and fault.where and fault.is_error for fault in caught.value.faults)
    return caught.value.faults


def warned(*assignments: str) -> list[Fault]:
    """The warnings that these assignments over the dev stack cause."""
    loaded = load("dev-westus2", [Overlay.assign(assignments)])
    assert all(not fault.is_error for fault in loaded.warnings)
    return loaded.warnings


def paths(faults: list[Fault]) -> list[str]:
    return sorted(fault.where for fault in faults)


def expect(faults: list[Fault], path: str, problem: str, fix: str | None = None) -> None:
    """One of the faults is at the path in the overlay, says this, and advises that."""
    texts = [f"{fault.problem}  ->  {fault.fix}" for fault in faults if (fault.file, fault.where) == ("--set", path)]
    assert any(problem in text and (fix or "") in text.partition("->")[2] for text in texts), faults
