"""docs/reference/licences.md, generated from the catalogue and from the metadata of the installed packages."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from importlib import metadata

from docs.generator.markdown import code, codes, or_dash, table
from docs.generator.release.bom import newest_charts
from docs.generator.release.requirements import Pin, pins
from physical_ai.catalog.images import images
from physical_ai.catalog.licences import image_licence
from physical_ai.repository import DOCS, ROOT
from physical_ai.settings.facts.pinned_images import pinned_images

FILE = DOCS / "reference" / "licences.md"
REQUIREMENTS = "requirements-deploy.txt"
NOT_READ = "not read"
_CLASSIFIER = "License :: OSI Approved :: "
_HEAD = """\
# Licences of what is installed

Generated from `physical_ai/catalog/data/licences.yaml`, the pins of charts and the metadata of Python packages by
`python -m docs.generator`. This platform itself is under [Apache 2.0](../../LICENSE). A release has the same list as a
bill of materials, `physical-ai.cdx.json`. It is no legal advice: an image contains more than its own program.
"""


def document() -> str:
    """Text of the complete page."""
    return "\n".join(
        [_HEAD, "## Helm charts\n", _charts(), "## Container images\n", _images(), "## Python packages\n", _packages()]
    )


def _charts() -> str:
    rows = ((code(each.name), each.organisation, each.licence) for each in newest_charts())
    return table(("chart", "published by", "licence"), rows)


def _images() -> str:
    """Table of the images of the newest charts and of the program, each licence once."""
    references = {each for chart in newest_charts() for each in pinned_images(chart)}
    names = {each.partition("@")[0].rpartition(":")[0] or each for each in references} | set(images())
    of_licence: dict[tuple[str, str], list[str]] = defaultdict(list)
    for name in sorted(names):
        found = image_licence(name)
        of_licence[(found.licence, f"{found.source} ({found.date})") if found else (NOT_READ, "")].append(name)
    rows = ((licence, codes(names), or_dash(source)) for (licence, source), names in sorted(of_licence.items()))
    return table(("licence", "images", "source"), rows)


def _packages() -> str:
    """Table of the packages that the three distributions need, each licence once."""
    of_licence: dict[str, list[str]] = defaultdict(list)
    for pin in pins(ROOT / REQUIREMENTS):
        of_licence[package_licence(pin)].append(pin.name)
    rows = ((licence, codes(names)) for licence, names in sorted(of_licence.items()))
    return table(("licence, as the package states it", "packages"), rows)


def package_licence(pin: Pin) -> str:
    """Licence of a pinned package as its metadata states it; for a package that only Windows needs, a text that says
    so.
    """
    if "win32" in pin.marker:
        return f"{NOT_READ}: on Windows alone"
    fields = metadata.metadata(pin.name)
    if stated := fields["License-Expression"]:
        return stated
    short = (fields["License"] or "").strip()
    if short and "\n" not in short and len(short) < 60:
        return short
    return ", ".join(_classified(fields.get_all("Classifier") or [])) or NOT_READ


def _classified(classifiers: list[str]) -> Iterator[str]:
    yield from (each.removeprefix(_CLASSIFIER) for each in classifiers if each.startswith(_CLASSIFIER))
