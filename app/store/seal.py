"""The server's seeds are never in clear in the database (§9.4)."""

from __future__ import annotations

import secrets

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

_FORMAT = b"\x01"
_NONCE = 12  # bytes


class WrongSecret(Exception):
    """What is stored was encrypted under another secret key, or for another match."""

    def __init__(self) -> None:
        super().__init__("SECRET_KEY is not the one that this database was written with.")


class Seal:
    """Encrypts seeds under a key derived from the secret key; each is bound to its match (AES-256-GCM)."""

    def __init__(self, secret: str) -> None:
        key = HKDF(algorithm=SHA256(), length=32, salt=None, info=b"nardy server seed/1")
        self._cipher = AESGCM(key.derive(secret.encode()))

    def close(self, match_id: str, seed: bytes) -> bytes:
        """The seed as it is stored."""
        nonce = secrets.token_bytes(_NONCE)
        return _FORMAT + nonce + self._cipher.encrypt(nonce, seed, match_id.encode())

    def open(self, match_id: str, stored: bytes) -> bytes:
        """The seed of a stored match. Raises WrongSecret."""
        if stored[:1] != _FORMAT:
            raise WrongSecret
        nonce, text = stored[1 : 1 + _NONCE], stored[1 + _NONCE :]
        try:
            return self._cipher.decrypt(nonce, text, match_id.encode())
        except InvalidTag:
            raise WrongSecret from None
