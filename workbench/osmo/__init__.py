"""Checks of OSMO workflows without OSMO: rendering, schema, the Pods that OSMO would create, and findings about them.

The checks follow OSMO 6.3.1. They are compared with results of OSMO's own functions, recorded in tests/fixtures/osmo.
"""

from __future__ import annotations
