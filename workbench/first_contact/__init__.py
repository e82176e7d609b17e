"""First contact of a stack with a real subscription: its stages, the verdict on each, and the progress so far."""

from __future__ import annotations
