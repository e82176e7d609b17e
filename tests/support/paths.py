"""Folders of the checkout that only tests use."""

from physical_ai.repository import ROOT

SAMPLES = ROOT / "workbench" / "osmo" / "samples"
