"""First contact of a stack with a real subscription, in stages: what each does, whether it passed, where it goes on."""

from __future__ import annotations
