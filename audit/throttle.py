"""Counters of failures, so that nobody guesses their way in.

Invariants
- A window begins with its first failure and ends after its length, whatever comes in between.
- What is counted is kept as a keyed hash: the cache holds no address and no account.
"""

import math
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.core.cache import cache
from django.utils.crypto import salted_hmac

from memory.base import clock
from memory.base.errors import RateLimited

MOST_FAILURES = 10
WINDOW = timedelta(minutes=15)


@dataclass(frozen=True, slots=True)
class Counter:
    """Failures of one kind by one subject (an address, an account)."""

    kind: str
    subject: str

    @property
    def key(self) -> str:
        return f"throttle/{self.kind}/{salted_hmac('audit.throttle', self.subject, algorithm='sha256').hexdigest()}"


def require_room(*counters: Counter) -> None:
    """Raise RateLimited, with the seconds to wait, when any of the counters is full."""
    now = clock.now()
    waits = [ends_at - now for counter in counters for n, ends_at in [_read(counter, now)] if n >= MOST_FAILURES]
    if waits:
        seconds = math.ceil(max(waits).total_seconds())
        raise RateLimited(f"Too many attempts. Try again in {_minutes(seconds)}.", retry_after=seconds)


def count_failure(*counters: Counter) -> None:
    now = clock.now()
    for counter in counters:
        n, ends_at = _read(counter, now)
        cache.set(counter.key, (n + 1, ends_at), timeout=math.ceil((ends_at - now).total_seconds()))


def forget_failures(*counters: Counter) -> None:
    cache.delete_many([counter.key for counter in counters])


def _read(counter: Counter, now: datetime) -> tuple[int, datetime]:
    found: tuple[int, datetime] | None = cache.get(counter.key)
    if found is None or found[1] <= now:
        return 0, now + WINDOW
    return found


def _minutes(seconds: int) -> str:
    n = math.ceil(seconds / 60)
    return f"{n} minute{'' if n == 1 else 's'}"
