"""The program as tests record it: with `cli.recorder`, from which `physai policy` has its resources too."""

from __future__ import annotations

from cli.recorder import ROOT, TODAY, Recording, record
from policies import Resource

__all__ = ["ROOT", "TODAY", "Recording", "Resource", "record"]
