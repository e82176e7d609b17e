"""Client of Azure Resource Manager for a deployment. It authenticates with a token only, the token of the deployment's
Pulumi provider.
"""

from __future__ import annotations

import os
import ssl
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote, urlencode, urlsplit
from urllib.request import getproxies, proxy_bypass

import urllib3

from physical_ai.servers.bounds import Bounds
from physical_ai.servers.deadline import bounded
from physical_ai.servers.documents import NotADocument, decoded
from physical_ai.servers.exchange import NoAnswer, Request, exchange
from physical_ai.subscription.answers import NotThere, Unanswered
from physical_ai.subscription.rest import ARM, Get

BOUNDS = Bounds(seconds=60, idle=45, size=64 << 20, tries=3, patience=20)
"""Limits on one answer. They are large, since the lists of sizes and of providers are long, and Azure is slow to return
them.
"""


def connected(token: str, address: str = ARM) -> Get:
    """Returns a thread-safe function that sends GET requests to ARM with the token `token`, and follows no redirects.

    Args:
        address: Base URL of ARM. In a simulation, this is the URL of the simulated ARM.
    """
    pools = bounded(_pools(address))
    headers = {"Authorization": f"Bearer {token}", "Accept": "application/json"}

    def get(path: str, parameters: Mapping[str, str]) -> Any:
        place = f"/{path.removeprefix(ARM).lstrip('/')}"
        asked = urlencode(parameters, quote_via=quote)
        url = f"{address}{place}{'?' if asked else ''}{asked}"
        short = place.partition("?")[0]
        try:
            answer = exchange(pools, Request("GET", url, headers), BOUNDS)
            if answer.status in {401, 403}:
                raise Unanswered(f"{short}: the login may not read it ({answer.status})")
            if answer.status == 404:
                raise NotThere(f"{short}: Azure answered 404")
            if answer.status != 200:
                raise Unanswered(f"{short}: Azure answered {answer.status}")
            return decoded(answer.body)
        except NoAnswer as problem:
            raise Unanswered(str(problem)) from None
        except NotADocument as problem:
            raise Unanswered(f"{short}: the answer is {problem}") from None

    return get


def _pools(address: str) -> urllib3.PoolManager:
    """Pool of connections to the address: through a proxy, if the environment names a proxy for the address."""
    parts = urlsplit(address)
    proxy = "" if proxy_bypass(parts.hostname or "") else getproxies().get(parts.scheme, "")
    trusted = ssl.create_default_context(cafile=os.environ.get("REQUESTS_CA_BUNDLE") or None)
    return urllib3.ProxyManager(proxy, ssl_context=trusted) if proxy else urllib3.PoolManager(ssl_context=trusted)
