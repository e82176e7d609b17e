"""Simulation of GitHub's Actions Runner Controller, and of the part of GitHub that hands out jobs."""

from __future__ import annotations

from simulator.runners.live import RunnerController

__all__ = ["RunnerController"]
