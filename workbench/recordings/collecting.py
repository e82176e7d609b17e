"""Collection of the names in a recording that identify a person, a subscription or a machine."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, cast

from physical_ai.kubernetes.objects import at
from workbench.recordings import addresses, hosts, interfaces, users
from workbench.recordings.form import Entry

GUID = re.compile(r"(?<![0-9a-fA-F])[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}(?![0-9a-fA-F])")
DASHLESS = re.compile(r"(?<![0-9a-zA-Z-])[0-9a-fA-F]{32}(?![0-9a-zA-Z-])")
"""Pattern of 32 hexadecimal digits, which may be a GUID without its dashes, a checksum, or another id."""
KEPT_GUID = re.compile(r"^0{8}-0000-[04]000-[08]000-[0-9a-fA-F]{12}$")
"""Pattern of GUIDs that identify nothing and are kept: placeholders, and replacements by this program."""
MAIL = re.compile(r"(?<![\w.+#-])[\w.+#-]{1,128}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}")
AKS_NODE = re.compile(r"^(aks-[a-z0-9]+-)(\d{8})(-vmss[0-9a-z]{6})$")
AKS_HASH = re.compile(r"(?<=-)(\d{8})(?=-vmss)")
_ROLE = re.compile(r"(?<=/roleDefinitions/)" + GUID.pattern.removeprefix(r"(?<![0-9a-fA-F])"), re.IGNORECASE)
UNIQUE_TYPES = ("storageAccounts", "vaults", "registries", "flexibleServers", "redisEnterprise", "grafana", "accounts")
"""ARM types whose names are unique in the world, mostly because they are DNS names; such a name identifies
its owner.
"""
_UNIQUE = re.compile(
    rf"/providers/microsoft\.[a-z.]{{1,64}}/(?:{'|'.join(UNIQUE_TYPES)})/([A-Za-z0-9-]{{1,128}})", re.IGNORECASE
)
_MACHINE_KEY = re.compile(r"(?:^|[./_-])(?:machine-?id|serial-?number)$", re.IGNORECASE)
_REPLACED = re.compile(r"(?:host-|user-|name|h|1000)\d{4,}(?:[.@][\w.-]+)?")
_KEY = "\0"
"""Marker that `_texts` returns as the key of a text that is itself a key of the document."""
_NAMED = ("/namespaces", "/deployments", "/daemonsets", "/statefulsets", "/serviceaccounts")
_ALSO_NAMED = ("/pods", "/services", "/jobs", "/cronjobs", "/replicasets")
"""Ends of the API paths of lists. The names of the objects in these lists are not taken for names of hosts."""


class Found:
    """Names in a recording that identify somebody or something, by kind. Names of each kind are in the order in which
    they occur.
    """

    def __init__(self) -> None:
        self.guids: dict[str, None] = {}
        self.mails: dict[str, None] = {}
        self.hashes: dict[str, None] = {}
        self.nodes: dict[str, None] = {}
        self.users: dict[str, None] = {}
        self.phrases: dict[str, None] = {}
        """Users' names of several words, or with a domain or login provider before the name."""
        self.short_users: dict[str, None] = {}
        self.names: dict[str, None] = {}
        self.hosts: dict[str, None] = {}
        self.texts: set[str] = set()
        """Words of the recording that already look like a replacement, such as `user-0001`."""
        self.platform: set[str] = set()
        """Names of namespaces and workloads, the parts of these names, and all keys. A user whose name is in this set
        is not replaced, because a text does not show whether it means the user or the namespace, workload or key.
        """
        self.kept: set[str] = set()
        """Names that are not host names: names of other Kubernetes objects, and the domains in keys and API versions,
        such as `nvidia.com` in `nvidia.com/gpu`.
        """
        self.addresses: set[tuple[str, int]] = set()
        self.interfaces: list[str] = []
        """Texts of the recording that may contain an IPv6 or MAC address."""
        self._seen: set[str] = set()

    def collect(self, entry: Entry) -> None:
        if entry["kind"] == "list" and entry["path"].endswith("/nodes"):
            for node in entry["items"]:
                self._node(node)
        if entry["kind"] == "list" and entry["path"].endswith((*_NAMED, *_ALSO_NAMED)):
            names = {str(at(each, "metadata.name", "")) for each in entry["items"]}
            self.kept |= names | {str(at(each, "spec.hostname", "")) for each in entry["items"]}
            if entry["path"].endswith(_NAMED):
                self.platform |= names | {part for each in names for part in each.split("-")}
        is_schema = entry["kind"] == "discovery" or str(entry.get("path", "")).endswith("/customresourcedefinitions")
        for key, text in _texts(entry, ""):
            if key == _KEY:
                self.platform.add(text)
                self._domain(text)
            elif not is_schema:
                self._value(key, text)
            if text not in self._seen:
                self._seen.add(text)
                self._text(text)

    def finish(self) -> None:
        """Removes candidates that are no hosts, and adds further hosts of the same domains. Must be called after the
        last entry, since only then all names that are not host names are known.
        """
        is_kept = {*self.platform, *self.kept, *self.nodes}
        for each in list(self.hosts):
            if each in is_kept or AKS_NODE.match(each):
                del self.hosts[each]
        domains = hosts.domains((*self.hosts, *(each for each in self.nodes if hosts.identifies(each))), self.kept)
        if (pattern := hosts.below(domains)) is not None:
            for text in self._seen:
                if "." in text:
                    self.hosts |= dict.fromkeys(
                        each for each in pattern.findall(text) if each not in is_kept and hosts.identifies(each)
                    )

    def short_names(self) -> Iterator[tuple[str, str]]:
        """First labels of host and node names, each with the whole name. Labels that are too common to identify the
        host are left out.
        """
        is_kept = {*self.platform, *self.kept}
        for each in self.nodes:
            first = each.split(".")[0]
            if first != each and len(first) > 3 and first not in is_kept:
                yield first, each
        for each in self.hosts:
            first = hosts.short_name(each)
            if first is not None and first not in is_kept:
                yield first, each

    def _node(self, node: Mapping[str, Any]) -> None:
        node_names = [
            str(at(node, "metadata.name", "")),
            str(at(node, "metadata.labels", {}).get("kubernetes.io/hostname", "")),
        ]
        node_names += [
            str(each.get("address", ""))
            for each in at(node, "status.addresses", [])
            if "IP" not in str(each.get("type"))
        ]
        for each in node_names:
            if not each or AKS_NODE.match(each):
                continue
            self.nodes[each] = None

    def _domain(self, key: str) -> None:
        """Adds the domain of a label key, the part before the slash, to `kept`, and all parts of the key to `platform`.
        A key without a slash is ignored.
        """
        before, slash, _ = key.partition("/")
        if slash:
            self.kept.add(before.lower())
            self.platform |= {part for part in re.split(r"[/._-]", key) if part}

    def _value(self, key: str, text: str) -> None:
        if key == "apiVersion" and "/" in text:
            self._domain(text)
        elif users.is_user(key, text) and not GUID.fullmatch(text):
            self._user(text)
        elif _MACHINE_KEY.search(key) and DASHLESS.fullmatch(text):
            self._id(dashed(text))
        else:
            for host in hosts.of_value(key, text):
                self._host(host)

    def _user(self, text: str) -> None:
        if users.is_plain(text):
            self.users[text] = None
        elif users.is_short(text):
            self.short_users[text] = None
        elif users.is_phrase(text) and not MAIL.search(text):
            self.phrases[text] = None
            if (last := users.last_part(text)) is not None:
                self.users[last] = None

    def _host(self, host: str) -> None:
        if hosts.identifies(host):
            self.hosts[host] = None

    def _id(self, id_: str) -> None:
        if not KEPT_GUID.match(id_):
            self.guids[id_.lower()] = None

    def _text(self, text: str) -> None:
        for each in hosts.of_text(text):
            self._host(each)
        for each in GUID.findall(_ROLE.sub("", text)):
            self._id(each)
        for each in MAIL.findall(text):
            if not each.endswith("@example.com"):
                self.mails[each] = None
        for each in AKS_HASH.findall(text):
            self.hashes[each] = None
        for each in _UNIQUE.findall(text):
            self.names[each] = None
        if interfaces.may_have(text):
            self.interfaces.append(text)
        self.addresses.update(addresses.addresses_in(text))
        self.texts.update(_REPLACED.findall(text))
        self.texts.update(each.lower() for each in GUID.findall(text) if KEPT_GUID.match(each))


def dashed(text: str) -> str:
    """An id of 32 digits as a GUID.

    >>> dashed("0123456789abcdef0123456789abcdef")
    '01234567-89ab-cdef-0123-456789abcdef'
    """
    return "-".join((text[:8], text[8:12], text[12:16], text[16:20], text[20:]))


def _texts(value: Any, key: str) -> Iterator[tuple[str, str]]:
    """Keys and texts of a document: each text with the key under which the document has it, and each key of the
    document with `_KEY` as its key.
    """
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
