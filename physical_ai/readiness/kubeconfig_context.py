"""A context of a kubeconfig file, and advice where it does not lead to its cluster.

Every message names the file, the context, the problem, and what to write or run.
"""

from __future__ import annotations

import base64
import binascii
import datetime
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, cast

import yaml

from physical_ai import safe_yaml
from physical_ai.nested import at
from physical_ai.readiness.kubeconfig import one_context
from physical_ai.readiness.reader import Unusable

DEFAULT_FILE = "~/.kube/config"
_FILES = {"cluster": ("certificate-authority",), "user": ("client-certificate", "client-key", "tokenFile")}
"""Fields that contain a path. A relative path starts at the kubeconfig's folder (client-go, clientcmd/loader.go)."""
_VERSION, _UTC_TIME = 0xA0, 0x17
"""DER tags of two fields in an X.509 certificate: the certificate's version, and a time of type UTCTime."""


def kubeconfig_file(named: str | None, environment: Mapping[str, str]) -> str:
    """Path of the kubeconfig: `named`, which comes from the settings; if it is empty, the file in the environment
    variable KUBECONFIG; if that is not set, the default file.
    """
    return named or environment.get("KUBECONFIG") or DEFAULT_FILE


def read_context(file: str, context: str, today: datetime.datetime | None = None) -> str:
    """Kubeconfig with the given context only, whichever context is selected in the file. Raises Unusable."""
    if os.pathsep in file:
        raise Unusable(f"KUBECONFIG names several files: {file}. Write the one to use to target.kubeconfig.")
    path = Path(file).expanduser()
    try:
        text = one_context(path.read_text(encoding="utf-8"), context)
    except OSError as problem:
        fix = "Write the path of the file to target.kubeconfig, or set KUBECONFIG."
        raise Unusable(f"The kubeconfig {path} cannot be read: {problem.strerror}. {fix}") from None
    except ValueError as problem:
        fix = "Write a context that it has to target.context, or the file that has it to target.kubeconfig."
        raise Unusable(f"The kubeconfig {path} cannot be used for the context {context}: {problem}. {fix}") from None
    document = _with_whole_paths(safe_yaml.load(text), path.absolute().parent)
    if not at(document["clusters"][0], "cluster.server"):
        raise Unusable(f"The kubeconfig {path} has no server for the cluster of the context {context}.")
    now = today or datetime.datetime.now(datetime.UTC)
    if (end := _expiry(at(document["users"][0], "user", {}))) is not None and end < now:
        problem = f"the client certificate of its user expired on {end:%Y-%m-%d %H:%M} UTC"
        fix = "Get a new file from whoever installed the cluster (with kubeadm: kubeadm certs renew admin.conf)."
        raise Unusable(f"The kubeconfig {path} cannot be used for the context {context}: {problem}. {fix}")
    return yaml.safe_dump(document, sort_keys=False)


def explained(file: str, context: str, kubeconfig: str, problem: Exception) -> str:
    """Message, for people, that says why the cluster of the kubeconfig context did not answer and what to do.

    `kubeconfig` is the return value of `read_context`; `problem` is the exception that reading the cluster raised.
    """
    document: Any = safe_yaml.load(kubeconfig)
    user, text = at(document["users"][0], "user", {}), str(problem).rstrip(".")
    server = str(at(document["clusters"][0], "cluster.server", ""))
    what = f"The cluster of the context {context} in {Path(file).expanduser()} cannot be read: {text}."
    if isinstance(problem, Unusable):
        return f"{what} {_unusable(user)}"
    if text.startswith("the login"):
        return f"{what} Run {at(user, 'exec.command', 'it')} yourself, and log in again."
    return f"{what} {_unanswered(text, server, user)}"


def _unusable(user: Mapping[str, Any]) -> str:
    if command := at(user, "exec.command"):
        return f"Install {command}, which the user of the context logs in with."
    return "Get a new file: this one refers to, or contains, data that cannot be read."


def _unanswered(text: str, server: str, user: Mapping[str, Any]) -> str:
    if text.startswith("401"):
        return _refused(user)
    if text.startswith("403"):
        return "Give the user the right to read nodes, namespaces and the GPU Operator's kinds."
    if "CERTIFICATE_VERIFY_FAILED" in text:
        return (
            f"The certificate authority in the file is not that of {server}: the file is of another installation. Get a"
            " new one."
        )
    return f"Check that this machine reaches {server} (VPN, firewall, proxy), and that the server is current."


def _refused(user: Mapping[str, Any]) -> str:
    if command := at(user, "exec.command"):
        return f"The login of {command} has expired, or is of another cluster: log in again with it."
    if "client-certificate" in user or "client-certificate-data" in user:
        return "The client certificate is of another cluster, or has expired there: get a new file."
    if "token" in user or "tokenFile" in user:
        return "The token has expired, or was revoked: write a new one to the file, or use a login that renews itself."
    return "The user of the context has no login: add one, or name another context in target.context."


def _with_whole_paths(document: Any, folder: Path) -> dict[str, Any]:
    """The kubeconfig with absolute paths, since it is then used without its file: relative paths start at the file's
    folder.
    """
    for section, fields in _FILES.items():
        entry: dict[str, Any] = document[f"{section}s"][0].get(section) or {}
        for field in fields:
            if entry.get(field):
                entry[field] = str(folder / str(entry[field]))
        command = at(entry, "exec.command")
        if command and os.sep in str(command):  # a command without a separator is looked up on PATH
            entry["exec"]["command"] = str(folder / str(command))
    return cast("dict[str, Any]", document)


def _expiry(user: Mapping[str, Any]) -> datetime.datetime | None:
    """Expiry time of the user's client certificate; None if the user has no client certificate, or one that cannot be
    read.
    """
    try:
        if data := user.get("client-certificate-data"):
            pem = base64.b64decode(str(data)).decode()
        elif file := user.get("client-certificate"):
            pem = Path(str(file)).read_text(encoding="utf-8")
        else:
            return None
        body = pem.partition("-----BEGIN CERTIFICATE-----")[2].partition("-----END CERTIFICATE-----")[0]
        return _not_after(base64.b64decode(body))
    except (OSError, ValueError, binascii.Error, IndexError, StopIteration):
        return None


def _not_after(certificate: bytes) -> datetime.datetime:
    """Time at which a certificate in DER expires: its field `validity.notAfter` (RFC 5280, 4.1). The field is parsed
    here because no library that the program depends on parses certificates.
    """
    outer = next(_parts(certificate))[1]
    fields = [each for each in _parts(next(_parts(outer))[1]) if each[0] != _VERSION]
    validity = fields[3][1]  # the validity follows the serial number, the algorithm and the issuer
    tag, value = list(_parts(validity))[1]
    form = "%y%m%d%H%M%SZ" if tag == _UTC_TIME else "%Y%m%d%H%M%SZ"
    return datetime.datetime.strptime(value.decode(), form).replace(tzinfo=datetime.UTC)


def _parts(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Tag and content of each DER element in the data."""
    while data:
        tag, length, start = data[0], data[1], 2
        if length & 0x80:
            start += length & 0x7F
            length = int.from_bytes(data[2:start], "big")
        yield tag, data[start : start + length]
        data = data[start + length :]
