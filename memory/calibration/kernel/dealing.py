"""Which forecasts bet, and in which stream: the repair for labels that come late.

A product over forecasts that were open together is no test: a shock they share counts many times. So a forecast is
dealt, when it is issued, to the first stream that has none open, and bets there when its label comes.

- Dealing looks at which labels have come and never at what they say.
- A forecast that finds MAX_STREAMS open is passed over. One without a label after EXPIRY later forecasts of its segment
  expires: its stream is free again and its label, should it come, is scored but bets nothing.

Source: Henzi and Ziegel 2022, correction for outcomes with a lag; the weights of streams are in `processes`.
"""

from __future__ import annotations

from dataclasses import dataclass, field

MAX_STREAMS = 64
EXPIRY = 1_000


@dataclass(slots=True)
class Dealer:
    """Who holds which stream. Places count the forecasts of a segment as they were issued, from 1; 0 is a free stream.

    `dealt` is the place of the last forecast that was dealt.
    """

    holders: list[int] = field(default_factory=list)
    dealt: int = 0
    n_passed_over: int = 0
    n_expired: int = 0

    def deal(self, n_issued: int) -> None:
        """Deal all forecasts up to that place, none of whose labels has come."""
        while self.dealt < n_issued:
            place = self.dealt + 1
            self._expire(place)
            stream = self._free()
            if stream is None:
                # Nothing comes free before the oldest expires.
                place = min(n_issued, min(self.holders) + EXPIRY)
                self.n_passed_over += place - self.dealt
            else:
                self.holders[stream] = place
            self.dealt = place

    def release(self, place: int) -> int | None:
        """The stream in which the forecast bets now that its label has come; None where it bets nothing."""
        if place not in self.holders:
            return None
        stream = self.holders.index(place)
        self.holders[stream] = 0
        return stream

    @property
    def n_open(self) -> int:
        """How many forecasts hold a stream."""
        return sum(1 for place in self.holders if place)

    def _expire(self, place: int) -> None:
        for stream, holder in enumerate(self.holders):
            if holder and place - holder > EXPIRY:
                self.holders[stream] = 0
                self.n_expired += 1

    def _free(self) -> int | None:
        if 0 in self.holders:
            return self.holders.index(0)
        if len(self.holders) == MAX_STREAMS:
            return None
        self.holders.append(0)
        return len(self.holders) - 1
