"""Licences of container images.

>>> image_licence("nvcr.io/nvidia/driver:580.126.20").licence[:11]
'License for'
"""

from __future__ import annotations

import datetime
from functools import lru_cache

from physical_ai.catalog.load import DATA, CatalogError, read_all_rows, row
from physical_ai.catalog.rows import Row, Text


class ImageLicence(Row):
    """Licence of images whose references begin with one of the texts `images`."""

    images: tuple[Text, ...]
    licence: Text
    """SPDX identifier, or the publisher's name for its terms."""
    source: Text
    date: datetime.date


@lru_cache(maxsize=1)
def image_licences() -> dict[str, ImageLicence]:
    """Licences by the beginning of references. Raises CatalogError if two rows have the same beginning."""
    found: dict[str, ImageLicence] = {}
    for file, data in read_all_rows(DATA / "licences.yaml"):
        item = row(ImageLicence, data, f"{file}: {data.get('licence')}")
        for beginning in item.images:
            if beginning in found:
                raise CatalogError(f"{file}: {beginning} is a duplicate")
            found[beginning] = item
    return found


def image_licence(reference: str) -> ImageLicence | None:
    """Licence of an image by its reference, such as `nvcr.io/nvidia/driver:580.126.20`; None if it was not read."""
    known = image_licences()
    fitting = [beginning for beginning in known if reference.startswith(beginning)]
    return known[max(fitting, key=len)] if fitting else None
