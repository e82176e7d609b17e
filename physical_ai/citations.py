"""Citations of pages and files of the platform in messages.

Messages cite a page as `docs/osmo.md#a-control-plane` and a file as `physical_ai/catalog/data/vm_sizes.yaml`, the paths
of a checkout. A team's own repository has neither. There, a citation names the command that prints the page, or the
installed platform that has the file.
"""

from __future__ import annotations

import re

from physical_ai.repository import DOCS, INSTALLED, IS_CHECKOUT, ROOT, installed_label

_PAGE = re.compile(r"(?<![\w/.-])docs/([\w/-]+)\.md(#[\w-]+)?")
_FILE = re.compile(r"(?<![\w/.-])(?:physical_ai|workbench|manifests|agents|values)/[\w/.-]*\.(?:yaml|md|py|json)\b")


def cited(text: str) -> str:
    """The text of a message with citations that fit the platform that prints it."""
    return text if IS_CHECKOUT else cited_from_installation(text)


def cited_from_installation(text: str) -> str:
    """The text of a message with citations for readers without a checkout.

    >>> cited_from_installation("See docs/osmo.md#a-control-plane, or ROCm/gpu-operator docs/metrics/health.md.")
    'See physai docs osmo#a-control-plane, or ROCm/gpu-operator docs/metrics/health.md.'
    """
    return _FILE.sub(_file, _PAGE.sub(_page, text))


def _page(found: re.Match[str]) -> str:
    known = (DOCS / f"{found[1]}.md").is_file()  # other projects have pages in a folder of this name too
    return f"physai docs {found[1]}{found[2] or ''}" if known else found[0]


def _file(found: re.Match[str]) -> str:
    known = any((folder / found[0]).is_file() for folder in (INSTALLED, ROOT))
    return f"{installed_label()}/{found[0]}" if known else found[0]
