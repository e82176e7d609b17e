"""The troubleshooting page says what the diagnosis says."""

from __future__ import annotations

import pytest

from physical_ai.readiness.causes import causes
from physical_ai.readiness.document import BEGIN, FILE, renewed


def test_the_page_is_fresh() -> None:
    text = FILE.read_text()
    assert text == renewed(text), "run python -m physical_ai.readiness.document"
    assert all(f"`{cause}`" in text for cause in causes())


def test_a_page_without_marks_is_not_overwritten() -> None:
    with pytest.raises(ValueError, match="has no"):
        renewed(FILE.read_text().replace(BEGIN, ""))
