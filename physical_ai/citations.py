"""Citations of pages and files of the platform in messages.

Messages cite a page as `docs/osmo.md#a-control-plane` and a file as `physical_ai/catalog/data/vm_sizes.yaml`, the paths
of a checkout. A team's own repository has neither. There, a citation names the command that prints the page, or the
installed platform that has the file; a sample workflow has its real path, because it is an argument of commands.
"""

from __future__ import annotations

import re

from physical_ai.repository import DOCS, INSTALLED, IS_CHECKOUT, PROJECT, ROOT, installed_label

_PAGE = re.compile(r"(?<![\w/.-])docs/([\w/-]+)\.md(#[\w-]+)?")
_FILE = re.compile(
    r"(?<![\w/.-])(?:physical_ai|workbench|simulator|components|manifests|agents|values|parts|tests)/[\w/-]*"
    r"(?:\.(?:yaml|md|py|json|mod)\b|(?<=/)|(?<=\w))(?![\w*<{‹])"
)
"""Path of a file or folder of a checkout. Not the beginning of a pattern or of a path with a placeholder."""
SAMPLES = "workbench/osmo/samples"
FIXTURES = "tests/fixtures/"
"""Folder that no installation has. Rules cite it as the source of what was compared."""
FILES_OF_THE_PLATFORM = "docs/own-repository.md#files-of-the-platform"


def cited(text: str) -> str:
    """The text of a message with citations that fit the platform that prints it."""
    return text if IS_CHECKOUT else cited_from_installation(text)


def cited_from_installation(text: str) -> str:
    """The text of a message with citations for readers without a checkout.

    >>> cited_from_installation("See docs/osmo.md#a-control-plane, or ROCm/gpu-operator docs/metrics/health.md.")
    'See physai docs osmo#a-control-plane, or ROCm/gpu-operator docs/metrics/health.md.'
    """
    return _FILE.sub(_file, _PAGE.sub(_page, text))


def changed_in(file: str) -> str:
    """Citation of a platform's file in which the reader has to change something. A team cannot change it: in an
    installation, the page follows that says how such files change.
    """
    return file if IS_CHECKOUT else f"{file}, a file of the platform ({FILES_OF_THE_PLATFORM})"


def _page(found: re.Match[str]) -> str:
    known = (DOCS / f"{found[1]}.md").is_file()  # other projects have pages in a folder of this name too
    return f"physai docs {found[1]}{found[2] or ''}" if known else found[0]


def _file(found: re.Match[str]) -> str:
    path = found[0]
    if path.rstrip("/") == SAMPLES or path.startswith(f"{SAMPLES}/"):
        return str(ROOT / path) if (ROOT / path).exists() else path
    if path.endswith(".md") and (INSTALLED / path).is_file():
        return f"physai docs {path.removesuffix('.md')}"
    if "/" not in path.rstrip("/") or _is_of_the_reader(path):
        return path
    known = any((folder / path).exists() for folder in (INSTALLED, ROOT))
    return f"{installed_label()}/{path}" if known or path.startswith(FIXTURES) else path


def _is_of_the_reader(path: str) -> bool:
    """True for values files, which a team writes under the platform's names, and for all that a team's project has."""
    if path.startswith("values/") or path.endswith("-values.yaml"):
        return True
    return PROJECT != INSTALLED and (PROJECT / path).exists()
