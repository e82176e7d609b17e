"""The program as tests record it: with `physical_ai.mocks`, as `physai policy` does."""

from __future__ import annotations

from physical_ai.mocks.recorder import ROOT, TODAY, Recording, record
from physical_ai.policies import Resource

__all__ = ["ROOT", "TODAY", "Recording", "Resource", "record"]
