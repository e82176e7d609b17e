"""OSMO's workflows, checked without OSMO: rendering, schema, the Pods it would create, and what is wrong with them.

The rules are those of OSMO 6.3.1, as recorded from its own functions (tests/fixtures/osmo).
"""

from __future__ import annotations
