"""Write every dashboard that differs from the code."""

from __future__ import annotations

from docs.generator.dashboards.documents import stale
from physical_ai.repository import ROOT

for path, text in stale().items():
    path.write_text(text, encoding="utf-8")
    print(path.relative_to(ROOT))
