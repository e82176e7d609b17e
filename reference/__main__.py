"""Writes every made page: `python -m reference`."""

from __future__ import annotations

from reference.pages import ROOT, write

for path in write():
    print(path.relative_to(ROOT))
