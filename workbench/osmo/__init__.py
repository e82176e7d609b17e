"""Checks of OSMO's workflows without OSMO: rendering, schema, the Pods that it would create, and findings on them.

The rules are those of OSMO 6.3.1, as recorded from its own functions (tests/fixtures/osmo).
"""

from __future__ import annotations
