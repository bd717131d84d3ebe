"""Bets against "this forecast is calibrated": factors whose mean is 1 while it is.

- A bet is fixed before its label is known: it may depend on the forecast and on nothing later.
- All are at least 0; those of change lie in [0.2, 1.8], so that one label never ruins a process.

Source: Waudby-Smith and Ramdas 2024 (betting); Vovk, Gammerman, Shafer 2005 (conformal martingales).
"""

from __future__ import annotations

import numpy as np

from memory.calibration.kernel.metrics import FLOOR, Labels
from memory.calibration.kernel.sums import Floats

EXPONENTS = np.array([0.3, 0.5, 0.7, 0.85, 1.2, 1.6])
"""Tempered forecasts: below 1 flatter than issued, above 1 sharper."""

BLENDS = np.array([0.05, 0.2, 0.5])
"""Shares of the uniform distribution mixed into the forecast."""

STAKES = np.array([-0.8, -0.4, -0.2, -0.1, -0.05, 0.05, 0.1, 0.2, 0.4, 0.8])

KAPPAS = np.array([0.15, 0.3, 0.5, 0.7, 0.9])

N_RATIOS = len(EXPONENTS) + len(BLENDS)
N_CHANGE = 4 * len(STAKES)
N_EVIDENCE = N_RATIOS + N_CHANGE
N_ORDER = len(KAPPAS)

EVIDENCE_SHARES = np.log(np.repeat([0.5 / N_RATIOS, 0.5 / N_CHANGE], [N_RATIOS, N_CHANGE]))
"""Log of what each bet gets of the wealth of evidence: half for each kind, so that neither drowns the other."""

ORDER_SHARES = np.log(np.full(N_ORDER, 1 / N_ORDER))


def evidence_bets(forecasts: Floats, truth: Labels) -> Floats:
    """All bets of evidence, those of change last. Arguments as of `ratio_bets`. Answers (n, N_EVIDENCE) in nats."""
    each = np.arange(len(forecasts))
    predicted = forecasts.argmax(axis=1)
    correct = (predicted == truth).astype(np.float64)
    return np.concatenate([ratio_bets(forecasts, truth), change_bets(forecasts[each, predicted], correct)], axis=1)


def ratio_bets(forecasts: Floats, truth: Labels) -> Floats:
    """Log likelihood ratios of altered forecasts against the issued one.

    forecasts : (n, S) rows that sum to 1.   truth : (n,) the labels.   Answers (n, N_RATIOS) in nats.
    """
    each = np.arange(len(forecasts))
    log_mass = np.log(np.maximum(forecasts, FLOOR))
    told = log_mass[each, truth]
    tempered = EXPONENTS[:, None, None] * log_mass
    top = tempered.max(axis=2)
    norm = top + np.log(np.exp(tempered - top[:, :, None]).sum(axis=2))
    ratios = EXPONENTS * told[:, None] - norm.T - told[:, None]
    blended = np.log((1 - BLENDS) + BLENDS / forecasts.shape[1] * np.exp(-told)[:, None])
    return np.concatenate([ratios, blended], axis=1)


def change_bets(confidence: Floats, correct: Floats) -> Floats:
    """Log of 1 + stake * (correct - confidence) * feature, for four features of the confidence.

    confidence : (n,) probability of the predicted label.   correct : (n,) 0 or 1.   Answers (n, N_CHANGE) in nats.
    """
    sure = (confidence >= 0.5).astype(np.float64)
    features = np.stack([np.ones_like(confidence), 2 * confidence - 1, sure, 1 - sure], axis=1)
    lean = features * (correct - confidence)[:, None]
    return np.asarray(np.log1p(lean[:, :, None] * STAKES).reshape(len(confidence), N_CHANGE))


def order_bets(ranks: Floats) -> Floats:
    """Log bets on small ranks. ranks : (n,) in (0, 1], uniform if the scores are exchangeable. Answers (n, N_ORDER)."""
    return np.asarray(np.log(KAPPAS) + (KAPPAS - 1) * np.log(np.maximum(ranks, FLOOR))[:, None])
