"""Reading of lists page by page: no answer is larger than a page, and no list is read without end."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from physical_ai.nested import at, is_mapping
from physical_ai.readiness.answers import Get, Unreachable
from physical_ai.servers.exchange import TooLarge

PAGE = 500
"""Objects per page, as in client-go."""
SMALLER = 10
"""Divisor of the page size: after an answer that was too large, the same page is requested with a tenth of the objects.
Helm's records, for example, may have 1 MiB each.
"""
MOST = 200_000
"""Maximum number of objects in a list. Kubernetes is designed for 150,000 Pods."""
MOST_PAGES, MOST_FIRST_PAGES = 10_000, 100
"""Largest number of pages of a whole list, and of a request for the first objects only.

The number has to be limited because a server may send pages with few objects or none.
"""
GONE = 410
"""HTTP status of a list that took so long that its next page no longer exists."""

Page = Callable[[Mapping[str, str]], Any]


def whole_list(page: Page, what: str) -> Any:
    """List with the items of all its pages.

    Args:
        page: Function that requests one page; its argument is the additional query parameters.
        what: Description of the listed objects, for messages.

    Raises:
        Unreachable: the list does not end. Exceptions of `page` are passed on.
    """
    size, again = PAGE, 1
    items: list[Any] = []
    following, seen = "", set[str]()
    first: Any = None
    while True:
        try:
            answer = page({"limit": str(size), **({"continue": following} if following else {})})
        except TooLarge:
            if size == 1:
                raise
            size = max(1, size // SMALLER)
            continue
        except Unreachable as refusal:
            if refusal.status != GONE or not again:
                raise
            items, following, again, first = [], "", 0, None
            continue
        if not is_mapping(answer) or not isinstance(answer.get("items"), list):
            return answer  # the answer is the only page, or not a list
        first = answer if first is None else first
        items += answer["items"]
        following = at(answer, "metadata.continue", "")
        if not isinstance(following, str) or not following:
            return {**first, "items": items}
        if following in seen or len(items) > MOST or len(seen) == MOST_PAGES:
            raise Unreachable(f"{what}: the list does not end; after {len(items):,} objects it goes on")
        seen.add(following)


def first_pages(get: Get, path: str, parameters: Mapping[str, str], most: int) -> tuple[list[Any], bool]:
    """The first objects of a list, and True if these are all. Raises the exceptions of `get`."""
    items: list[Any] = []
    following = ""
    for _ in range(MOST_FIRST_PAGES):
        more = {"continue": following} if following else {}
        answer = get(path, {**parameters, "limit": str(PAGE), **more})
        items += answer.get("items") or []
        following = str(at(answer, "metadata.continue", ""))
        if not following:
            return items, True
        if len(items) >= most:
            break
    return items, False
