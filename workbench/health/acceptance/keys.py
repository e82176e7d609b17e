"""SSH key with which the Pods of one run over several nodes reach each other."""

from __future__ import annotations

from physical_ai.planning.acceptance_ranks import Key


def new_key() -> Key:
    """A new key pair. It is stored only in the Secret that belongs to the run's Job."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

    key = Ed25519PrivateKey.generate()
    private = key.private_bytes(Encoding.PEM, PrivateFormat.OpenSSH, NoEncryption())
    public = key.public_key().public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH)
    return Key(private.decode(), public.decode())
