"""Under which profile a namespace is read and written: ours, or the peer's legacy rules.

The profile is a setting and its change an entry, so that a past answer is given under the profile of its own seq.
"""

from __future__ import annotations

from typing import cast, get_args

from memory.agents.queries import setting
from memory.base.errors import Invalid
from memory.beliefs.kernel.documents import Profile

__all__ = ["NAME", "PROFILES", "Profile", "profile_of"]

PROFILES: tuple[Profile, ...] = get_args(Profile)
NAME = "profile"


def profile_of(namespace: int, *, seq: int | None = None, asked: str | None = None) -> Profile:
    """What the call asks for, else what the namespace had chosen by entry `seq`.   Raises Invalid."""
    if asked:
        if asked not in PROFILES:
            raise Invalid.at("profile", expected=" or ".join(PROFILES), got=asked)
        return asked
    return cast(Profile, setting(namespace, NAME, "native", seq=seq))
