"""Simulation of GitHub's Actions Runner Controller, and of GitHub as far as it hands out jobs."""

from __future__ import annotations

from simulator.runners.live import RunnerController

__all__ = ["RunnerController"]
