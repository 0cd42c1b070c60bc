"""New names for things: short, not to be guessed, safe in an address and in the text of the dice (§9.2)."""

from __future__ import annotations

import secrets
import string

_LETTERS = string.ascii_letters + string.digits
_TAG_LETTERS = "abcdefghjkmnpqrstuvwxyz23456789"  # none that looks like another


def new_id() -> str:
    """An id of a match or an account: 12 letters and digits, 71 bits."""
    return "".join(secrets.choice(_LETTERS) for _ in range(12))


def new_tag(length: int = 3) -> str:
    """A few letters that tell accounts of one name apart: `k3f`."""
    return "".join(secrets.choice(_TAG_LETTERS) for _ in range(length))
