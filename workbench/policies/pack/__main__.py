#!/usr/bin/env python3
"""Server of the policy pack for Pulumi's engine: `pulumi preview --policy-pack workbench/policies/pack`.

The engine starts this file through its Python language host, as `PulumiPolicy.yaml` says. If the pack is given as
`workbench/policies/pack/__main__.py`, the engine starts the file directly; then the `python3` on PATH needs the
program's packages.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

from workbench.policies.pack.analyzer import serve

serve()
