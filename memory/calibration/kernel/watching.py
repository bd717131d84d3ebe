"""The watch over one segment: what every label does to evidence, change and order, and when one of them crosses.

- A function of the forecasts as issued, the labels as they came and the restarts, in their common order: replaying
  these gives the same state to the last bit.
- The first label of a forecast bets; a correction never does.
- A correction after an alarm is noted once, and the processes go on; the epoch after it counts one further.
- Evidence crosses once in an epoch. Change crosses whenever its sum reaches the threshold, and starts again.
- Order (are the scores exchangeable?) is shown and raises no alarm: data may become harder while forecasts stay true.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, field, replace

import numpy as np

from memory.calibration.kernel import bets, processes
from memory.calibration.kernel.dealing import Dealer
from memory.calibration.kernel.metrics import FLOOR, Labels
from memory.calibration.kernel.processes import NEVER
from memory.calibration.kernel.sums import Floats

ALPHA = 0.01
"""The probability of ever alarming on calibrated forecasts, over all epochs of a segment."""

RUN_LENGTH = 20_000
"""The mean number of labels between false alarms of change that a watched segment is given."""

ORDER_BURN_IN = 100
"""Labels whose ranks are only collected."""

SCORE_CELLS = 256
_WORST = -float(np.log(FLOOR))
_HEAD = struct.Struct("<10q")


@dataclass(frozen=True, slots=True)
class Step:
    """The logs after a label and what they are held against; which of the two processes crossed with it.

    n_bets, bets_per_lane : of this epoch, as the watch has them.
    """

    log_evidence: float
    log_change: float
    log_order: float
    evidence_threshold: float
    change_threshold: float
    n_bets: int = 0
    bets_per_lane: float = 0.0
    is_miscalibrated: bool = False
    is_changed: bool = False


@dataclass(slots=True)
class Watch:
    """The state of a segment. Logs: evidence (streams, N_EVIDENCE), change (streams, N_CHANGE), order (N_ORDER).

    `has_crossed`: evidence has, in this epoch; `has_alarmed`: either has; `is_noted`: a correction after that is.
    """

    dealer: Dealer = field(default_factory=Dealer)
    epoch: int = 1
    has_crossed: bool = False
    has_alarmed: bool = False
    is_noted: bool = False
    n_bets: int = 0
    steps: Labels = field(default_factory=lambda: np.zeros(0, np.int64))
    evidence: Floats = field(default_factory=lambda: np.zeros((0, bets.N_EVIDENCE)))
    change: Floats = field(default_factory=lambda: np.zeros((0, bets.N_CHANGE)))
    order: Floats = field(default_factory=lambda: np.full(bets.N_ORDER, NEVER))
    n_ranked: int = 0
    scores: Labels = field(default_factory=lambda: np.zeros(SCORE_CELLS, np.int64))

    @property
    def log_evidence(self) -> float:
        """The log e-value of this epoch."""
        each = processes.log_evidence(self.evidence, steps=self.steps, shares=bets.EVIDENCE_SHARES)
        return float(processes.combined_evidence(each))

    @property
    def log_change(self) -> float:
        """The log of the sum of the streams' detectors: over streams they share one run length."""
        return float(processes.log_sum(processes.log_change(self.change))) if len(self.change) else NEVER

    @property
    def log_order(self) -> float:
        """The log of the martingale against exchangeable scores."""
        ranked = self.n_ranked - ORDER_BURN_IN
        if ranked <= 0:
            return 0.0
        return float(processes.log_evidence(self.order, steps=ranked, shares=bets.ORDER_SHARES))

    @property
    def evidence_threshold(self) -> float:
        """The log that evidence must reach in this epoch."""
        return -float(np.log(processes.level_of(ALPHA, self.epoch)))

    @property
    def bets_per_lane(self) -> float:
        """How many bets of this epoch the stream of a bet has, in the mean over bets; 0 before one.

        Each stream must find by itself what is wrong, so this and not the number of labels is what power rests on.
        """
        n_bets = int(self.steps.sum())
        return float((self.steps**2).sum()) / n_bets if n_bets else 0.0

    def label(self, forecast: Floats, truth: int, *, place: int, n_issued: int, chance: float, n_segments: int) -> Step:
        """Take the first label of a forecast.

        forecast : (S,) as it was issued, the `place`-th of the segment.   n_issued : forecasts issued by now.
        chance : in (0, 1), breaks ties of the score's rank; any number that does not depend on the label.
        n_segments : how many segments are watched together.
        """
        self.dealer.deal(n_issued)
        self._rank(float(forecast[truth]), chance)
        stream = self.dealer.release(place)
        if stream is None:
            return self._step(n_segments)
        self._open(stream)
        self._bet(stream, forecast, truth)
        step = self._step(n_segments)
        step = replace(
            step,
            is_miscalibrated=not self.has_crossed and step.log_evidence >= step.evidence_threshold,
            is_changed=step.log_change >= step.change_threshold,
        )
        self.has_crossed |= step.is_miscalibrated
        self.has_alarmed |= step.is_miscalibrated or step.is_changed
        if step.is_changed:
            self.change[:] = NEVER
        return step

    def pass_over(self, *, place: int, n_issued: int, n_segments: int) -> Step:
        """Take the label of a forecast that is erased: its stream comes free, and nothing is bet."""
        self.dealer.deal(n_issued)
        self.dealer.release(place)
        return self._step(n_segments)

    def _step(self, n_segments: int) -> Step:
        return Step(
            self.log_evidence, self.log_change, self.log_order, self.evidence_threshold, change_threshold(n_segments),
            int(self.steps.sum()), self.bets_per_lane,
        )  # fmt: skip

    def note_correction(self) -> int | None:
        """A first label is corrected: the number of the epoch that is set apart for it, once after an alarm.

        Nothing begins again, and what the processes hold stays. None where no alarm was told, or one is noted.
        """
        if not self.has_alarmed or self.is_noted:
            return None
        self.is_noted = True
        return self.epoch + 1

    def restart(self) -> None:
        """Begin the next epoch: both processes start again, evidence with a smaller share of its level."""
        self.epoch += 2 if self.is_noted else 1
        self.has_crossed = self.has_alarmed = self.is_noted = False
        self.steps[:] = 0
        self.evidence[:] = NEVER
        self.change[:] = NEVER

    def _open(self, stream: int) -> None:
        missing = stream + 1 - len(self.steps)
        if missing > 0:
            self.steps = np.concatenate([self.steps, np.zeros(missing, np.int64)])
            self.evidence = np.concatenate([self.evidence, np.full((missing, bets.N_EVIDENCE), NEVER)])
            self.change = np.concatenate([self.change, np.full((missing, bets.N_CHANGE), NEVER)])

    def _bet(self, stream: int, forecast: Floats, truth: int) -> None:
        log_bets = bets.evidence_bets(forecast[None], np.array([truth]))[0]
        self.n_bets += 1
        self.steps[stream] += 1
        step = int(self.steps[stream])
        self.evidence[stream] = processes.step_evidence(self.evidence[stream], log_bets, step=step)
        self.change[stream] = processes.step_change(self.change[stream], log_bets[bets.N_RATIOS :])

    def _rank(self, true_mass: float, chance: float) -> None:
        """Bet on the rank of the score among those before it; equal cells are in an order that chance decides."""
        worse = -float(np.log(max(true_mass, FLOOR))) / _WORST
        cell = min(int(worse * SCORE_CELLS), SCORE_CELLS - 1)
        self.n_ranked += 1
        self.scores[cell] += 1
        if self.n_ranked > ORDER_BURN_IN:
            above = float(self.scores[cell + 1 :].sum())
            rank = (above + chance * float(self.scores[cell])) / self.n_ranked
            step = self.n_ranked - ORDER_BURN_IN
            self.order = processes.step_evidence(self.order, bets.order_bets(np.array([rank]))[0], step=step)

    @property
    def packed(self) -> bytes:
        """The state as bytes."""
        dealer = self.dealer
        head = _HEAD.pack(
            len(dealer.holders), len(self.steps), self.epoch, self.has_crossed,
            self.has_alarmed + 2 * self.is_noted, self.n_bets, self.n_ranked, dealer.dealt, dealer.n_passed_over,
            dealer.n_expired,
        )  # fmt: skip
        held = np.array(dealer.holders, np.int64)
        return head + b"".join(
            array.tobytes() for array in (held, self.steps, self.scores, self.order, self.evidence, self.change)
        )

    @classmethod
    def unpacked(cls, packed: bytes) -> Watch:
        """The inverse of `packed`; the state of a segment without labels for no bytes."""
        if not packed:
            return cls()
        n_holders, n_steps, epoch, crossed, alarmed, n_bets, n_ranked, dealt, passed, expired = _HEAD.unpack_from(
            packed
        )
        n_whole = n_holders + n_steps + SCORE_CELLS
        whole = np.frombuffer(packed, np.int64, n_whole, _HEAD.size)
        logs = np.frombuffer(packed, np.float64, offset=_HEAD.size + 8 * n_whole).copy()
        order, evidence, change = np.split(logs, [bets.N_ORDER, bets.N_ORDER + n_steps * bets.N_EVIDENCE])
        return cls(
            Dealer(whole[:n_holders].tolist(), dealt, passed, expired), epoch, bool(crossed), bool(alarmed & 1),
            bool(alarmed & 2), n_bets, whole[n_holders : n_holders + n_steps].copy(),
            evidence.reshape(n_steps, bets.N_EVIDENCE),
            change.reshape(n_steps, bets.N_CHANGE), order, n_ranked, whole[n_holders + n_steps :].copy(),
        )  # fmt: skip


def change_threshold(n_segments: int) -> float:
    """The log that a change detector must reach, so that all watched segments together alarm at the stated rate."""
    return float(np.log(RUN_LENGTH * max(n_segments, 1)))
