"""Consistent replacement of names and ids that identify a person, a subscription or a machine. Pure functions.

A name has the same replacement everywhere in a recording, also within texts. A text that already looks like a
replacement is kept, and is not used as the replacement of another name, so a second replacement changes nothing.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping
from itertools import chain, count
from typing import Any, cast

from physical_ai.kubernetes.objects import at
from workbench.recordings import addresses, interfaces
from workbench.recordings.form import Entry
from workbench.recordings.interfaces import Interfaces

GUID = re.compile(r"(?<![0-9a-fA-F])[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}(?![0-9a-fA-F])")
KEPT_GUID = re.compile(r"^0{8}-0000-[04]000-[08]000-[0-9a-fA-F]{12}$")
"""GUIDs that are placeholders, or replacements that this program has written: they identify nothing, and are kept."""
MAIL = re.compile(r"(?<![\w.+#-])[\w.+#-]{1,128}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}")
AKS_NODE = re.compile(r"^(aks-[a-z0-9]+-)(\d{8})(-vmss[0-9a-z]{6})$")
AKS_HASH = re.compile(r"(?<=-)(\d{8})(?=-vmss)")
WORD = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9_.-]*[A-Za-z0-9])?")
URL_HOST = re.compile(r"(?<=://)(?:[^/\s@]*@)?([A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+)")
ROLE = re.compile(r"(?<=/roleDefinitions/)" + GUID.pattern.removeprefix(r"(?<![0-9a-fA-F])"), re.IGNORECASE)
OF_AZURE = (".azmk8s.io", ".azure.net", ".azure.com", ".windows.net", ".azurecr.io", ".azure-api.net", ".cloudapp.net",
            ".azurewebsites.net", ".onmicrosoft.com")  # fmt: skip
AZURE_HOST = re.compile(
    r"(?<![\w.-])(?:[A-Za-z0-9-]{1,63}\.){1,8}(?:azmk8s\.io|azurecr\.io|onmicrosoft\.com|azurewebsites\.net|azure-api\.net"
    r"|(?:blob|file|queue|table|dfs)\.core\.windows\.net|(?:database|servicebus|redis\.cache)\.windows\.net"
    r"|(?:vault|redis|redisenterprise\.cache)\.azure\.net|cloudapp\.net"
    r"|(?:database|grafana|openai|documents|cloudapp|prometheus\.monitor)\.azure\.com)(?![\w-]|\.\w)",
    re.IGNORECASE,
)
"""Host names of a customer's own Azure resources, anywhere in a text."""
_SHARED = frozenset({
    "privatelink", "blob", "file", "queue", "table", "dfs", "core", "vault", "database", "postgres", "portal", "dev",
    "graph", "login", "management", "monitor", "redis", "redisenterprise", "www",
})  # fmt: skip
"""First labels of Azure host names and DNS zones that are the same for every customer, and are kept."""
PUBLIC_HOSTS = ("kubernetes.io", "k8s.io", "nvidia.com", "nvcr.io", "ghcr.io", "quay.io", "docker.io", "microsoft.com",
                "github.com", "githubusercontent.com", "pulumi.com", "cluster.local", "example.com", "letsencrypt.org",
                "prometheus.io", "grafana.com", "run.ai", "amd.com", "management.azure.com", "microsoftonline.com",
                "helm.sh", "cert-manager.io", "python.org", "invalid", "localhost")  # fmt: skip
"""Domains whose host names are kept, because every cluster names them."""
UNIQUE_TYPES = ("storageAccounts", "vaults", "registries", "flexibleServers", "redisEnterprise", "grafana", "accounts")
"""ARM types whose names are unique in the world, mostly because they are DNS names; such a name identifies
its owner.
"""
_UNIQUE = re.compile(rf"/(?:{'|'.join(UNIQUE_TYPES)})/([^/\s\"]+)", re.IGNORECASE)
_USER_KEY = re.compile(r"(^|[./_-])(user|username|user[-_]?name|owner|author|created[-_]?by|submitted[-_]?by|submitter"
                       r"|requester|email|upn)$", re.IGNORECASE)  # fmt: skip
_HOST_KEY = re.compile(r"(^|[./_-])(fqdn|host|hostname|hostnames|hosts|dnsName|dnsNames|commonName|domain|serverName"
                       r"|azurePortalFQDN|privateFQDN|fullyQualifiedDomainName|loginServer|hostName)$")  # fmt: skip
_NO_USER = ("system:", "aks", "true", "false", "root", "default", "physical-ai", "admin", "clusterAdmin", "helm")
_MOST_PARTS = 64
"""Largest number of parts of a word, separators included, that are compared with one name."""
_KEY = "\0"
"""Marker in place of a key, for a text that is itself a key of a document (`_texts`)."""
_PLATFORM = ("/namespaces", "/deployments", "/daemonsets", "/statefulsets", "/serviceaccounts")
KINDS = ("ids", "addresses", "hosts", "nodes", "names", "users", "mail")


class Replacer:
    """Replacer of names in one recording. It collects the names from all entries, and then replaces them in
    each value.
    """

    def __init__(self, entries: Iterable[Entry]) -> None:
        self._guids: dict[str, str] = {}
        self._words: dict[str, str] = {}
        self._hashes: dict[str, str] = {}
        self._mails: dict[str, str] = {}
        self.counts: Counter[str] = Counter()
        found = _Found()
        for entry in entries:
            found.collect(entry)
        self._addresses = addresses.Addresses(found.addresses)
        self._interfaces = Interfaces(found.interfaces)
        self.counts["addresses"] = self._addresses.replaced + self._interfaces.replaced
        self._fill(self._guids, found.guids, found.texts, "00000000-0000-4000-8000-{:012d}", "ids")
        self._fill(self._mails, found.mails, found.texts, "user-{:04d}@example.com", "mail")
        self._fill(self._hashes, found.hashes, found.texts, "1000{:04d}", "nodes")
        self._fill(self._words, found.nodes, found.texts, "host-{:04d}", "nodes")
        users = [each for each in found.users if each not in found.platform]
        self._fill(self._words, users, found.texts, "user-{:04d}", "users")
        self._fill(self._words, found.names, found.texts, "name{:04d}", "names")
        for host in found.hosts:
            self._fill(self._words, {host: None}, found.texts, f"h{{:04d}}{_suffix(host)}", "hosts")
        for each, given in list(self._words.items()):
            self._words.setdefault(each.lower(), given)
        self._firsts = {each.split("-")[0].split(".")[0] for each in self._words}
        self._memo: dict[str, str] = {}

    def _fill(self, into: dict[str, str], found: Iterable[str], texts: Iterable[str], form: str, kind: str) -> None:
        head, _, tail = form.partition("{")
        tail = tail.partition("}")[2]
        own = re.compile(rf"{re.escape(head)}\d{{4,}}{re.escape(tail)}")
        taken = {each for each in texts if own.fullmatch(each)}
        number = 0
        used = set(into.values()) | taken
        for each in found:
            if each in into or own.fullmatch(each):
                continue
            number += 1
            while form.format(number) in used:
                number += 1
            into[each] = form.format(number)
            self.counts[kind] += 1

    def __call__(self, value: Any) -> Any:
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, list):
            return [self(each) for each in cast("list[Any]", value)]
        if isinstance(value, dict):
            found: dict[str, Any] = {}
            for key, each in cast("dict[str, Any]", value).items():
                found[numbered(self.text(key), found)] = self(each)
            return found
        return value

    def text(self, value: str) -> str:
        found = self._memo.get(value)
        if found is None:
            found = self._memo[value] = self._replaced(value)
        return found

    def _replaced(self, value: str) -> str:
        text = MAIL.sub(lambda each: self._mails.get(each[0], each[0]), value)
        text = GUID.sub(lambda each: self._guids.get(each[0].lower(), each[0]), text)
        text = AKS_HASH.sub(lambda each: self._hashes.get(each[0], each[0]), text)
        if self._words:
            text = WORD.sub(self._word, text)
        return self._interfaces.text(self._addresses.text(text))

    def _given(self, word: str) -> str | None:
        return self._words.get(word) or self._words.get(word.lower())

    def _word(self, found: re.Match[str]) -> str:
        word = found[0]
        if (given := self._given(word)) is not None:
            return given
        parts = re.split(r"([-.])", word)
        if self._firsts.isdisjoint({*parts[::2], *(each.lower() for each in parts[::2])}):
            return word
        out: list[str] = []
        at_ = 0
        while at_ < len(parts):
            if parts[at_] in self._firsts or parts[at_].lower() in self._firsts:
                for end in range(min(len(parts), at_ + _MOST_PARTS), at_, -2):
                    given = self._given("".join(parts[at_:end]))
                    if given is not None:
                        out.append(given)
                        at_ = end
                        break
                else:
                    out.append(parts[at_])
                    at_ += 1
            else:
                out.append(parts[at_])
                at_ += 1
            if at_ < len(parts) and at_ % 2:
                out.append(parts[at_])
                at_ += 1
        return "".join(out)


def numbered(name: str, taken: Container[str]) -> str:
    """The name itself, or the name with the lowest number from 2 with which it is not in `taken`."""
    return next(each for each in chain([name], (f"{name}-{number}" for number in count(2))) if each not in taken)


def _suffix(host: str) -> str:
    return next((each for each in OF_AZURE if host.endswith(each)), ".example.com")


class _Found:
    """Names in a recording, each kind in the order of occurrence."""

    def __init__(self) -> None:
        self.guids: dict[str, None] = {}
        self.mails: dict[str, None] = {}
        self.hashes: dict[str, None] = {}
        self.nodes: dict[str, None] = {}
        self.users: dict[str, None] = {}
        self.names: dict[str, None] = {}
        self.hosts: dict[str, None] = {}
        self.texts: set[str] = set()
        """Words of the recording that have the form of a replacement."""
        self.platform: set[str] = set()
        """Names of namespaces and workloads, the parts of these names, and all keys. A user of such a name is not
        replaced, because the two could not be told apart.
        """
        self.addresses: set[tuple[str, int]] = set()
        self.interfaces: list[str] = []
        """Texts that may contain an IPv6 or MAC address."""
        self._seen: set[str] = set()

    def collect(self, entry: Entry) -> None:
        if entry["kind"] == "list" and entry["path"].endswith("/nodes"):
            for node in entry["items"]:
                self._node(node)
        if entry["kind"] == "list" and entry["path"].endswith(_PLATFORM):
            self.platform |= {part for each in entry["items"] for part in str(at(each, "metadata.name", "")).split("-")}
            self.platform |= {str(at(each, "metadata.name", "")) for each in entry["items"]}
        is_schema = entry["kind"] == "discovery" or str(entry.get("path", "")).endswith("/customresourcedefinitions")
        for key, text in _texts(entry, ""):
            if key == _KEY:
                self.platform.add(text)
            elif not is_schema:
                self._key(key, text)
            if text not in self._seen:
                self._seen.add(text)
                self._text(text)

    def _node(self, node: Mapping[str, Any]) -> None:
        given = [
            str(at(node, "metadata.name", "")),
            str(at(node, "metadata.labels", {}).get("kubernetes.io/hostname", "")),
        ]
        given += [
            str(each.get("address", ""))
            for each in at(node, "status.addresses", [])
            if "IP" not in str(each.get("type"))
        ]
        for each in given:
            if not each or AKS_NODE.match(each):
                continue
            self.nodes[each] = None

    def _key(self, key: str, text: str) -> None:
        if _USER_KEY.search(key) and not text.startswith(_NO_USER) and re.fullmatch(r"[\w.-]{3,64}", text):
            if GUID.fullmatch(text) or text.isdigit():
                return  # an id, or a number of the machine
            self.users[text] = None
        elif _HOST_KEY.search(key) and re.fullmatch(r"[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)+", text):
            self._host(text)

    def _host(self, host: str) -> None:
        is_address = addresses.V4.fullmatch(host)
        known = any(host == each or host.endswith(f".{each}") for each in PUBLIC_HOSTS)
        inside = host.endswith(".svc") or ".svc." in host
        if not is_address and not known and not inside and not host[-1].isdigit():
            self.hosts[host] = None

    def _text_hosts(self, text: str) -> None:
        for each in URL_HOST.findall(text):
            self._host(each)
        for each in AZURE_HOST.findall(text):
            if each.split(".")[0].lower() not in _SHARED:
                self._host(each)

    def _text(self, text: str) -> None:
        self._text_hosts(text)
        for each in GUID.findall(ROLE.sub("", text)):
            if not KEPT_GUID.match(each):
                self.guids[each.lower()] = None
        for each in MAIL.findall(text):
            if not each.endswith("@example.com"):
                self.mails[each] = None
        for each in AKS_HASH.findall(text):
            self.hashes[each] = None
        for each in _UNIQUE.findall(text):
            self.names[each] = None
        if interfaces.may_have(text):
            self.interfaces.append(text)
        for found in addresses.V4.finditer(text):
            if (key := addresses.parsed(found)) is not None:
                self.addresses.add(key)
        for each in re.findall(r"(?:host-|user-|name|h|1000)\d{4,}(?:[.@][\w.-]+)?", text):
            self.texts.add(each)
        self.texts.update(each.lower() for each in GUID.findall(text) if KEPT_GUID.match(each))


def _texts(value: Any, key: str) -> Iterator[tuple[str, str]]:
    """Each text in a document, with the key that it is a value of. Keys are texts too, with `_KEY` as their key."""
    if isinstance(value, str):
        yield key, value
    elif isinstance(value, list):
        for each in cast("list[Any]", value):
            yield from _texts(each, key)
    elif isinstance(value, dict):
        given = cast("dict[str, Any]", value)
        if given.get("kind") in ("User", "Group") and isinstance(given.get("name"), str):
            yield "user", given["name"]
        for name, each in given.items():
            yield _KEY, name
            yield from _texts(each, name)
