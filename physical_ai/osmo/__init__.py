"""OSMO's workflows, read and judged without OSMO: rendering, schema, the Pod it would make, and what is wrong with it.

The rules are those of OSMO 6.3.1, as its own functions were seen to behave (tests/fixtures/osmo).
"""

from __future__ import annotations
