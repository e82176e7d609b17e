"""The type check as a test, beside those that wait: in a new environment it takes one core for a minute."""

from __future__ import annotations

import subprocess

from physical_ai.repository import ROOT


def test_types() -> None:
    ran = subprocess.run(
        ["make", "--no-print-directory", "types"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
