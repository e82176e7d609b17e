"""Bill of materials of a release, in CycloneDX: distributions, Python packages, Helm charts and container images."""

from __future__ import annotations

import datetime
import hashlib
import uuid
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from cyclonedx.contrib.license.factories import LicenseFactory
from cyclonedx.model import HashAlgorithm, bom, component, contact
from cyclonedx.model import HashType as _HashType
from cyclonedx.model.component import ComponentScope, ComponentType
from cyclonedx.output.json import JsonV1Dot6
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from packageurl import PackageURL

from docs.generator.release.building import DISTRIBUTIONS
from docs.generator.release.checkout import Commit
from docs.generator.release.problems import NotReleasable
from docs.generator.release.requirements import pins
from physical_ai.catalog.charts import Chart, pinned_charts
from physical_ai.catalog.images import images
from physical_ai.settings.facts.pinned_images import pinned_images

# The decorator of these classes hides their constructors and attributes from a type check.
Bom: Any = bom.Bom
Component: Any = component.Component
HashType: Any = _HashType
OrganizationalEntity: Any = contact.OrganizationalEntity

REQUIREMENTS = "requirements-deploy.txt"
"""File with all packages that an installation of the three distributions needs."""
LICENCE = "Apache-2.0"
NAMESPACE = uuid.UUID("6f5ab0cf-2a1c-5a0e-9d3e-3a0f8c1b7d52")
"""Namespace of the serial numbers, so that one commit has one number."""


def document(commit: Commit, root: Path, version: str, archives: Iterable[Path]) -> str:
    """Text of the bill of materials of a release, as CycloneDX 1.6 in JSON. It is the same for the same commit.

    Raises NotReleasable if the text does not keep CycloneDX's schema.
    """
    platform = Component(
        name="physical-ai-platform",
        version=version,
        type=ComponentType.PLATFORM,
        bom_ref="platform",
        licenses=[LicenseFactory().make_from_string(LICENCE)],
    )
    made = Bom(serial_number=uuid.uuid5(NAMESPACE, f"{version} {commit.sha}"))
    made.metadata.timestamp = datetime.datetime.fromtimestamp(commit.time, datetime.UTC)
    made.metadata.component = platform
    own = _distributions(version, archives)
    made.register_dependency(platform, own.values())
    _add_packages(made, root, own)
    for chart in newest_charts():
        needed = [*_images(chart)]
        made.components.update([_chart(chart), *needed])
        made.register_dependency(_chart(chart), needed)
    made.components.update(_own_images())
    text = JsonV1Dot6(made).output_as_string(indent=2)
    if problem := schema_problem(text):
        raise NotReleasable(f"the bill of materials\n  It does not keep CycloneDX's schema: {problem}")
    return f"{text}\n"


def schema_problem(text: str) -> str | None:
    """First difference of a document from CycloneDX's schema 1.6; None if it has none."""
    found: Any = JsonStrictValidator(SchemaVersion.V1_6).validate_str(text)
    return None if found is None else " ".join(str(found.data).split())[:300]


def newest_charts() -> list[Chart]:
    """The last pinned version of each chart, which a part installs unless a setting names another one."""
    return list({pin.name: pin for pin in pinned_charts().values()}.values())


def _distributions(version: str, archives: Iterable[Path]) -> dict[str, Any]:
    """Components of the distributions by name, each with the digest of its wheel."""
    wheels = {path.name.split("-")[0].replace("_", "-"): path for path in archives if path.suffix == ".whl"}
    return {
        name: Component(
            name=name,
            version=version,
            type=ComponentType.APPLICATION if name == "physical-ai-workbench" else ComponentType.LIBRARY,
            bom_ref=name,
            purl=PackageURL("pypi", None, name, version),
            hashes=[_sha256(hashlib.sha256(wheels[name].read_bytes()).hexdigest())],
            licenses=[LicenseFactory().make_from_string(LICENCE)],
        )
        for name in DISTRIBUTIONS
    }


def _add_packages(made: Any, root: Path, own: dict[str, Any]) -> None:
    """Adds the distributions and the pinned packages, and which of them needs which."""
    known = pins(root / REQUIREMENTS)
    found = own | {pin.name: _package(pin.name, pin.version) for pin in known if pin.name not in own}
    made.components.update(found.values())
    needs: dict[str, list[Any]] = {name: [] for name in found}
    for pin in known:
        for name in pin.needed_by:
            if name in needs and pin.name in found:
                needs[name].append(found[pin.name])
    # Every distribution but the program needs it, at its own version.
    for name in own:
        needs[name] += [own["physical-ai"]] if name != "physical-ai" else []
    for name, components in needs.items():
        made.register_dependency(found[name], components)


def _package(name: str, version: str) -> Any:
    return Component(
        name=name,
        version=version,
        type=ComponentType.LIBRARY,
        bom_ref=f"pypi:{name}",
        purl=PackageURL("pypi", None, name, version),
    )


def _chart(chart: Chart) -> Any:
    return Component(
        name=chart.name,
        version=chart.version,
        type=ComponentType.APPLICATION,
        bom_ref=f"chart:{chart.name}",
        description=f"Helm chart of {chart.repository}; a stack installs it if its settings ask for it",
        supplier=OrganizationalEntity(name=chart.organisation),
        scope=ComponentScope.OPTIONAL,
        hashes=[_sha256(chart.sha256)] if chart.sha256 else [],
        licenses=[LicenseFactory().make_from_string(chart.licence)],
    )


def _images(chart: Chart) -> Iterator[Any]:
    yield from (_image(*reference.partition("/")[::2]) for reference in pinned_images(chart))


def _own_images() -> Iterator[Any]:
    """Images of the program's own workloads, which have a digest; their registry is a setting or a default."""
    for image in images().values():
        yield Component(
            name=image.name,
            version=image.tag,
            type=ComponentType.CONTAINER,
            bom_ref=f"image:{image.name}@{image.digest}",
            purl=PackageURL("oci", None, image.name.rpartition("/")[2], image.digest, {"tag": image.tag}),
            scope=ComponentScope.OPTIONAL,
        )


def _image(registry: str, path: str) -> Any:
    """Component of an image of a chart; `path` ends with a tag or a digest, or has neither."""
    name, digest = path.partition("@")[::2]
    name, tag = name.partition(":")[::2]
    qualifiers = {"repository_url": f"{registry}/{name}", **({"tag": tag} if tag else {})}
    return Component(
        name=f"{registry}/{name}",
        version=digest or tag or None,
        type=ComponentType.CONTAINER,
        bom_ref=f"image:{registry}/{path}",
        purl=PackageURL("oci", None, name.rpartition("/")[2], digest or None, qualifiers),
        scope=ComponentScope.OPTIONAL,
    )


def _sha256(digest: str) -> Any:
    return HashType(alg=HashAlgorithm.SHA_256, content=digest)
