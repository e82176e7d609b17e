"""Write every generated file: `python -m docs.generator`."""

from __future__ import annotations

from docs.generator.pages import ROOT, write

for path in write():
    print(path.relative_to(ROOT))
