"""Pinned container images.

>>> image("library/ubuntu").at("example.azurecr.io/mirror")
'example.azurecr.io/mirror/library/ubuntu:22.04@sha256:4f838adc7181d9039ac795a7d0aba05a9bd9ecd480d294483169c5def983b64d'
"""

from __future__ import annotations

import datetime
from functools import lru_cache
from typing import Annotated

from pydantic import StringConstraints

from physical_ai.catalog.load import DATA, CatalogError, read_rows, row
from physical_ai.catalog.lookup import UnknownName, nearest
from physical_ai.catalog.rows import Row, Text

MICROSOFT = "mcr.microsoft.com"
"""Registry from which AKS itself pulls, so that every cluster can reach it (AKS docs,
outbound-rules-control-egress).
"""
PYTHON_IMAGE = "azurelinux/distroless/python"
"""Name of the image for programs of this project that need only Python's standard library."""


class Image(Row):
    """A container image, pinned to the digest of one of its versions."""

    name: Text
    """Repository path below a registry."""
    tag: Text
    """Tag of the image, for readers only: the digest determines which image is pulled."""
    digest: Annotated[str, StringConstraints(pattern=r"^sha256:[0-9a-f]{64}$")]
    source: Text
    date: datetime.date

    def at(self, registry: str) -> str:
        """Reference of the image in `registry`, which is the address of a registry or of a mirror."""
        return f"{registry.rstrip('/')}/{self.name}:{self.tag}@{self.digest}"


@lru_cache(maxsize=1)
def images() -> dict[str, Image]:
    """Pinned images by name."""
    rows = [row(Image, data, f"images.yaml: {data.get('name')}") for data in read_rows(DATA / "images.yaml")]
    found = {item.name: item for item in rows}
    if len(found) != len(rows):
        raise CatalogError("images.yaml: duplicate image")
    return found


def image(name: str) -> Image:
    """The pinned image of this name. Raises `UnknownName`."""
    found = images().get(name)
    if found is None:
        raise UnknownName("image", name, nearest(name, images()))
    return found
