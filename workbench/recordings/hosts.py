"""Search for host names in texts, and selection of the host names that identify their owner. Pure functions."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping

from workbench.recordings import addresses

OF_AZURE = (".azmk8s.io", ".azure.net", ".azure.com", ".windows.net", ".azurecr.io", ".azure-api.net", ".cloudapp.net",
            ".azurewebsites.net", ".onmicrosoft.com")  # fmt: skip
_AZURE_HOST = re.compile(
    r"(?<![\w.-])(?:[A-Za-z0-9-]{1,63}\.){1,8}(?:azmk8s\.io|azurecr\.io|onmicrosoft\.com|azurewebsites\.net|azure-api\.net"
    r"|(?:blob|file|queue|table|dfs)\.core\.windows\.net|(?:database|servicebus|redis\.cache)\.windows\.net"
    r"|(?:vault|redis|redisenterprise\.cache)\.azure\.net|cloudapp\.net"
    r"|(?:database|grafana|openai|documents|cloudapp|prometheus\.monitor)\.azure\.com)(?![\w-]|\.\w)",
    re.IGNORECASE,
)
"""Pattern of the host names of a customer's own Azure resources, anywhere in a text."""
_SHARED = frozenset({
    "privatelink", "blob", "file", "queue", "table", "dfs", "core", "vault", "database", "postgres", "portal", "dev",
    "graph", "login", "management", "monitor", "redis", "redisenterprise", "www",
})  # fmt: skip
"""First labels of Azure host names and DNS zones that are the same for every customer, and are kept."""
PUBLIC = ("kubernetes.io", "k8s.io", "nvidia.com", "nvcr.io", "ghcr.io", "quay.io", "docker.io", "microsoft.com",
          "github.com", "githubusercontent.com", "pulumi.com", "cluster.local", "example.com", "letsencrypt.org",
          "prometheus.io", "grafana.com", "run.ai", "amd.com", "management.azure.com", "microsoftonline.com", "gcr.io",
          "pkg.dev", "amazonaws.com", "ecr.aws", "googleapis.com", "docker.elastic.co", "fluentbit.io", "upbound.io",
          "huggingface.co", "anaconda.com", "ubuntu.com", "debian.org", "redhat.com", "redhat.io", "w3.org",
          "helm.sh", "cert-manager.io", "python.org", "invalid", "localhost")  # fmt: skip
"""Domains whose host names are kept, because every cluster names them."""
_LABELS = r"[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63}){1,8}"
_DOTTED = re.compile(_LABELS)
_IN_ADDRESS = re.compile(rf"(?<=://)(?:[^/\s@]*@)?({_LABELS})")
_NAMED = re.compile(
    rf"(?:(?<=lookup )|(?<=git@)|(?<=\\\\)|(?<=such host: ))({_LABELS})"
    rf"|(?<![\w./@-])([A-Za-z0-9-]{{1,63}}(?:\.[A-Za-z0-9-]{{1,63}}){{2,8}})(?=:[0-9]{{2,5}}(?![\w.]))"
)
"""Pattern of a host name that follows text such as `lookup ` or `git@`, or that has at least three labels and is
followed by a port.
"""
_KEY = re.compile(r"(^|[./_-])(fqdn|host|hostname|hostnames|hosts|dnsName|dnsNames|commonName|domain|serverName"
                  r"|azurePortalFQDN|privateFQDN|fullyQualifiedDomainName|loginServer|hostName)$")  # fmt: skip
_ZONE_KEY = re.compile(r"(?:^|[./_-])(?:zone|zoneName|dnsZone|privateDnsZone|hostedZoneName)$")
_ZONE_ID = re.compile(r"/providers/microsoft\.network/(?:private)?dnszones/([A-Za-z0-9.-]{1,253})", re.IGNORECASE)
"""DNS zone in the id of a resource of Azure."""
_RULE_KEY = re.compile(r"^(?:targetFqdns|destinationFqdns|targetUrls)$")
"""Pattern of the keys of names in rules of an Azure Firewall, which are hosts or `*.` and a domain."""
_IMAGE_KEY = re.compile(r"^(?:image|imageID|repository|names|registry)$")
_REGISTRY = re.compile(rf"^(?:docker-pullable://)?({_LABELS})(?=/|:[0-9]{{2,5}}/)")
_VERSION = re.compile(r"v?[0-9]+(?:\.[0-9]+)*[a-z]{0,5}[0-9]{0,2}")
_SINGLE = re.compile(r"(?=[A-Za-z-]{0,63}[0-9]|[A-Za-z0-9]{1,62}-)[A-Za-z0-9][A-Za-z0-9-]{2,61}[A-Za-z0-9]")
"""Pattern of a host name of one label with a digit or a hyphen. Without either, the label could be an ordinary word."""


def suffix(host: str, known: Mapping[str, str]) -> str:
    """Ending for a host's replacement: the replacement of the nearest domain around the host in `known`, else a domain
    of Azure if the host is in that domain, `.example.com` for any other host with a domain, and empty for a host of one
    label.
    """
    if "." not in host:
        return ""
    for domain in _domains_around(host):
        if domain in known:
            return f".{known[domain]}"
    return next((each for each in OF_AZURE if host.endswith(each)), ".example.com")


def _domains_around(host: str) -> Iterator[str]:
    labels = host.split(".")
    yield from (".".join(labels[start:]) for start in range(1, len(labels) - 1))


def of_value(key: str, text: str) -> Iterator[str]:
    """Host in the value `text` of the field `key`: the whole value if the field is for hosts or DNS zones, or the
    image's registry if the field is for images; nothing for any other field. A host of one label counts only if it has
    a digit or a hyphen.
    """
    is_name = (_DOTTED.fullmatch(text) or _SINGLE.fullmatch(text)) and not _VERSION.fullmatch(text)
    if (_KEY.search(key) and is_name) or (_ZONE_KEY.search(key) and _is_zone(text)):
        yield text
    elif _RULE_KEY.search(key):
        host = text.removeprefix("*.").partition("/")[0]
        # Of Azure's own domains, `of_text` finds what is a customer's.
        if _DOTTED.fullmatch(host) and not f".{host}".endswith(OF_AZURE):
            yield host
    elif _IMAGE_KEY.search(key) and (registry := _REGISTRY.match(text)) is not None:
        yield registry[1]


def of_text(text: str) -> Iterator[str]:
    """Hosts in a text. Hosts are recognized by the words and punctuation around them, or by a domain of Azure."""
    if "." not in text:
        return
    yield from (each for each in _IN_ADDRESS.findall(text) if not each[-1].isdigit())
    for groups in _NAMED.findall(text):
        yield from (each for each in groups if each and not each[-1].isdigit())
    yield from (each for each in _AZURE_HOST.findall(text) if each.split(".")[0].lower() not in _SHARED)
    yield from (each for each in _ZONE_ID.findall(text) if _is_zone(each))


def _is_zone(text: str) -> bool:
    """True for the name of a DNS zone that is none of Azure's own, such as privatelink.blob.core.windows.net."""
    return bool(_DOTTED.fullmatch(text)) and not text[-1].isdigit() and not f".{text.lower()}".endswith(OF_AZURE)


def identifies(host: str) -> bool:
    """True for a host whose name identifies its owner: it is no IP address, no Service of the cluster, and in no domain
    of `PUBLIC`.
    """
    known = any(host == each or host.endswith(f".{each}") for each in PUBLIC)
    return not (known or addresses.V4.fullmatch(host) or host.endswith(".svc") or ".svc." in host)


def below(domains: Collection[str]) -> re.Pattern[str] | None:
    """Pattern of any host below one of the domains; None without a domain."""
    if not domains:
        return None
    named = "|".join(map(re.escape, sorted(domains, key=len, reverse=True)))
    return re.compile(rf"(?<![\w.-])(?:[A-Za-z0-9-]{{1,63}}\.){{1,8}}(?:{named})(?![\w-]|\.\w)", re.IGNORECASE)


def domains(given: Iterable[str], kept: Collection[str]) -> set[str]:
    """Domains of the given hosts, without Azure's domains, and without each domain to which a name in `kept` belongs,
    such as the prefix of a label key.
    """
    found: set[str] = set()
    for host in given:
        labels = host.lower().split(".")
        if len(labels) < 3 or host.lower().endswith(OF_AZURE) or labels[-1].isdigit():
            continue
        size = 3 if len(labels[-2]) <= 3 and len(labels[-1]) == 2 else 2
        domain = ".".join(labels[-size:])
        if len(labels) > size and not any(each == domain or each.endswith(f".{domain}") for each in kept):
            found.add(domain)
    return found


def short_name(host: str) -> str | None:
    """The first label of a host if it is unusual enough to identify the host; None for a label that may be a word.

    >>> short_name("contosopg.postgres.database.azure.com"), short_name("db01.contoso.com"), short_name("osmo.acme.com")
    ('contosopg', None, None)
    """
    first = host.partition(".")[0]
    if first == host or first.lower() in _SHARED:
        return None
    if host.lower().endswith(OF_AZURE):
        return first if len(first) >= 6 else None
    return first if len(first) >= 6 and any(each.isdigit() for each in first) else None
