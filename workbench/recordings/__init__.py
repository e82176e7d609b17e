"""Recordings of a subscription and a cluster in one file: written with reading rights, read without any access."""

from __future__ import annotations
