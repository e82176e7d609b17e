"""A certificate authority of the control plane's own, created for every cluster."""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

LIFETIME = timedelta(days=365)
SERVICE_NAMES = ("localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc")

Key = ec.EllipticCurvePrivateKey


class Authority:
    """Authority that signs server and client certificates in one folder, with keys that only the user can read."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = _name("simulated-aks")
        certificate = _certificate(self._name, self._name, self._key, self._key, authority=True)
        (folder / "ca.crt").write_bytes(certificate.public_bytes(serialization.Encoding.PEM))

    def server(self, name: str, *addresses: str) -> None:
        """Writes `<name>.crt` and `<name>.key` for a server at these addresses and at the API server's usual names."""
        names: list[x509.GeneralName] = [x509.DNSName(host) for host in SERVICE_NAMES]
        names += [x509.IPAddress(ip_address(address)) for address in ("127.0.0.1", *addresses)]
        self._issue(name, _name(name), ExtendedKeyUsageOID.SERVER_AUTH, names)

    def client(self, name: str, user: str, *groups: str) -> None:
        """Writes `<name>.crt` and `<name>.key`, which log in as `user` with `groups`."""
        self._issue(name, _name(user, *groups), ExtendedKeyUsageOID.CLIENT_AUTH, [])

    def signing_key(self, name: str) -> None:
        """Writes the key pair `<name>.key` and `<name>.pub` for service account tokens."""
        key = ec.generate_private_key(ec.SECP256R1())
        _write_key(self.folder / f"{name}.key", key)
        public = key.public_key().public_bytes(
            serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
        )
        (self.folder / f"{name}.pub").write_bytes(public)

    def _issue(
        self, name: str, subject: x509.Name, usage: x509.ObjectIdentifier, names: list[x509.GeneralName]
    ) -> None:
        key = ec.generate_private_key(ec.SECP256R1())
        certificate = _certificate(subject, self._name, key, self._key, usage=usage, names=names)
        _write_key(self.folder / f"{name}.key", key)
        (self.folder / f"{name}.crt").write_bytes(certificate.public_bytes(serialization.Encoding.PEM))


def self_signed(certificate: Path, key_file: Path, address: str) -> None:
    """Writes a self-signed certificate for a server at an address, and its key."""
    key, name = ec.generate_private_key(ec.SECP256R1()), _name(certificate.stem)
    names: list[x509.GeneralName] = [x509.IPAddress(ip_address(address))]
    made = _certificate(name, name, key, key, authority=True, usage=ExtendedKeyUsageOID.SERVER_AUTH, names=names)
    _write_key(key_file, key)
    certificate.write_bytes(made.public_bytes(serialization.Encoding.PEM))


def _name(common: str, *organizations: str) -> x509.Name:
    parts = [x509.NameAttribute(NameOID.ORGANIZATION_NAME, group) for group in organizations]
    return x509.Name([*parts, x509.NameAttribute(NameOID.COMMON_NAME, common)])


def _certificate(
    subject: x509.Name,
    issuer: x509.Name,
    key: Key,
    signer: Key,
    *,
    authority: bool = False,
    usage: x509.ObjectIdentifier | None = None,
    names: list[x509.GeneralName] | None = None,
) -> x509.Certificate:
    now = datetime.now(UTC)
    builder = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(hours=1))
        .not_valid_after(now + LIFETIME)
        .add_extension(x509.BasicConstraints(ca=authority, path_length=None), critical=True)
    )
    if usage is not None:
        builder = builder.add_extension(x509.ExtendedKeyUsage([usage]), critical=False)
    if names:
        builder = builder.add_extension(x509.SubjectAlternativeName(names), critical=False)
    return builder.sign(signer, hashes.SHA256())


def _write_key(path: Path, key: Key) -> None:
    pem = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(pem)
