"""The distributions of the repository as the environment of development has them."""

from __future__ import annotations

from importlib import metadata

import pytest

DISTRIBUTIONS = {"physical-ai": ".", "physical-ai-workbench": "workbench", "physical-ai-simulator": "simulator"}
"""Folder of each distribution, whose pyproject.toml says what it installs."""


@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_editable_installation_copies_no_module(name: str) -> None:
    """A copy would come before the checkout, so that a command would not follow what is edited or pulled."""
    copied = [path for path in metadata.files(name) or () if path.suffix == ".py"]
    assert not copied, (
        f"{name} is installed as a copy of {len(copied)} modules; see {DISTRIBUTIONS[name]}/pyproject.toml"
    )
