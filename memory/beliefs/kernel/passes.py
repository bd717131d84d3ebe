"""The two passes over a junction tree, batch by batch.

Arrays have the number of runs in front and what is batched behind: `rows` (S, k, R), `columns` (S, k, k, N). Runs share
the plan and differ in values: several deletions at once, or a sum and a maximum side by side.

Invariants
- Upwards messages are logs; conditionals are linear. Downwards nothing is divided.
- Where a maximum is wanted it is a run beside the sums: it reads tables of the same shape and shares the sweep.

Source: Lauritzen and Spiegelhalter 1988; Dawid 1992 for the maximum.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from memory.beliefs.kernel.batching import Batch
from memory.beliefs.kernel.factored import Factored, factored_beliefs, factored_best, factored_sum
from memory.beliefs.kernel.groups import Floats
from memory.beliefs.kernel.merging import pair_columns
from memory.beliefs.kernel.planning import Plan
from memory.beliefs.kernel.sums import reduced

Conditional = Floats | list[Factored]

# Below it sums of finite logs may leave the range of a float, and are treated as what is impossible.
LEAST_LOG = -1e300


@dataclass(frozen=True, slots=True, eq=False)
class Upward:
    """log_z : (S,) of sums.   conditionals : per batch, (S, k, ..., B) or what is factored.
    roots : (S, roots) log of the sum at each of the last rows, so that what failed can be told.
    scores : (runs,) of the maxima.   choices : per batch their tables, (runs, k, ..., B), or both of what is factored.
    """

    log_z: Floats
    conditionals: Sequence[Conditional]
    roots: Floats
    scores: Floats
    choices: Sequence[tuple[Floats, ...]]


@dataclass(frozen=True, slots=True, eq=False)
class Beliefs:
    """Marginals of the variables, rows (S, k, R), and of the pairs within cliques, columns (S, k, k, N)."""

    rows: Floats
    columns: Floats


def loaded(plan: Plan, *, log_factors: Floats, log_priors: Floats) -> tuple[Floats, Floats]:
    """(rows, columns) of log values before any message. log_factors : (S, E, k).   log_priors : (n_priors, k), in the
    order of the plan's nodes with a prior."""
    group = plan.group
    values = pair_columns(group, pairs=plan.pairs, log_factors=log_factors)
    rows = values[:, :, plan.placed.outer.sources]
    if plan.prior_nodes:
        rows[:, :, plan.placed.row[list(plan.prior_nodes)]] += log_priors.T
    columns = values[:, :, plan.placed.inner.sources][:, group.relative]
    return rows, columns


def upward(plan: Plan, *, rows: Floats, columns: Floats, n_sums: int) -> Upward:
    """Eliminate every variable, by sums in the first runs and by maxima in the others. The arrays are consumed."""
    conditionals: list[Conditional] = []
    chosen: tuple[Floats, ...]
    choices: list[tuple[Floats, ...]] = []
    wide: list[Floats | None] = []
    message = np.zeros((len(rows), 0))
    is_hard = bool(min(rows.min(initial=0.0), columns.min(initial=0.0)) < LEAST_LOG)
    for batch in plan.batches:
        if batch.is_factored:
            message, kept, chosen = _factored_step(batch, rows, columns, n_sums=n_sums)
            conditionals.append(kept)
        else:
            table = _table(batch, rows, columns, wide=wide)
            flat = table.reshape(len(rows), plan.group.k, -1, batch.size)
            message = reduced(flat, n_sums=n_sums, is_hard=is_hard).reshape(len(rows), *table.shape[2:])
            conditionals.append(table[:n_sums])
            chosen = (table[n_sums:],)
        choices.append(chosen)
        wide.append(message if batch.n_scope > 2 else None)
        if batch.n_scope == 1:
            _add(rows, batch, message)
        elif batch.n_scope == 2:
            _add(columns, batch, message)
    # Roots stand in the last batch: they wait for nobody.
    totals = np.add.reduce(message, axis=1)
    return Upward(totals[:n_sums], conditionals, message[:n_sums], totals[n_sums:], choices)


def downward(plan: Plan, *, up: Upward, n_sums: int) -> Beliefs:
    """Marginals of variables and pairs. The conditionals are consumed."""
    k = plan.group.k
    rows = np.empty((n_sums, k, len(plan.placed.nodes)))
    columns = np.empty((n_sums, k, k, len(plan.placed.inner.sources)))
    tables: list[Floats | None] = [None] * len(plan.batches)
    for number in range(len(plan.batches) - 1, -1, -1):
        batch, conditional = plan.batches[number], up.conditionals[number]
        own = slice(batch.start, batch.stop)
        if isinstance(conditional, list):
            over = columns[..., batch.destination]
            for run, kept in enumerate(conditional):
                pairs = factored_beliefs(kept, over[run])
                columns[run, ..., batch.columns[0]], columns[run, ..., batch.columns[1]] = pairs
            rows[..., own] = np.add.reduce(columns[..., batch.columns[0]], axis=2)
            continue
        if batch.n_scope == 0:
            rows[..., own] = conditional
        elif batch.n_scope == 1:
            conditional *= rows[:, None, :, batch.destination]
            columns[..., batch.columns[0]] = conditional
            rows[..., own] = np.add.reduce(conditional, axis=2)
        else:
            conditional *= _over(batch, columns, tables)[:, None]
            _spread(batch, conditional, columns)
            rows[..., own] = np.add.reduce(columns[..., batch.columns[0]], axis=2)
        if batch.feeds_wide:
            tables[number] = conditional
    return Beliefs(rows, columns)


def _table(batch: Batch, rows: Floats, columns: Floats, *, wide: Sequence[Floats | None]) -> Floats:
    """The sum of all logs assigned to the cliques of the batch, (S, k, [k, ...,] B)."""
    own = rows[..., batch.start : batch.stop]
    if batch.n_scope == 0:
        return own.copy()
    n_runs, k, size = own.shape
    parts = [columns[..., column] for column in batch.columns]
    parts[0] = own[:, :, None] + parts[0]
    while len(parts) > 1:
        # Halves are joined with halves, so that the last and largest sum runs over long stretches.
        parts = [_joined(parts[at : at + 2]) for at in range(0, len(parts), 2)]
    table = parts[0].reshape(n_runs, *(k,) * (batch.n_scope + 1), size)
    for link in batch.incoming:
        message = wide[link.child]
        assert message is not None
        shape = [k if axis in link.kept else 1 for axis in range(batch.n_scope + 1)]
        table[..., link.theirs] += message[..., link.own].reshape(n_runs, *shape, link.size)
    return table


def _joined(parts: list[Floats]) -> Floats:
    """The sum of one or two tables (S, k, rest, B) over the states of both scopes."""
    if len(parts) == 1:
        return parts[0]
    left, right = parts
    n_runs, k, _, size = left.shape
    return (left[:, :, :, None] + right[:, :, None]).reshape(n_runs, k, -1, size)


def _factored_step(
    batch: Batch, rows: Floats, columns: Floats, *, n_sums: int
) -> tuple[Floats, list[Factored], tuple[Floats, Floats]]:
    """(message (S, k, k, B), what the sums keep, the two tables of the maxima)."""
    first = rows[:, :, None, batch.start : batch.stop] + columns[..., batch.columns[0]]
    second = columns[..., batch.columns[1]]
    kept = [factored_sum(first[run], second[run]) for run in range(n_sums)]
    highest = [factored_best(first[run], second[run]) for run in range(n_sums, len(rows))]
    message = np.stack([*(one.message for one in kept), *highest])
    return message, kept, (first[n_sums:], second[n_sums:])


def _add(onto: Floats, batch: Batch, message: Floats) -> None:
    scatter = batch.scatter
    assert scatter is not None
    if scatter.order is not None and scatter.starts is not None:
        message = np.add.reduceat(message[..., scatter.order], scatter.starts, axis=-1)
    onto[..., scatter.targets] += message


def _over(batch: Batch, columns: Floats, tables: Sequence[Floats | None]) -> Floats:
    """The belief of the scopes of a batch, (S, k, ..., B)."""
    if batch.n_scope == 2:
        return columns[..., batch.destination]
    n_runs, k = columns.shape[:2]
    found = np.empty((n_runs, *(k,) * batch.n_scope, batch.size))
    for link in batch.outgoing:
        above = tables[link.parent]
        assert above is not None
        dropped = tuple(axis + 1 for axis in range(above.ndim - 2) if axis not in link.kept)
        found[..., link.own] = np.add.reduce(above[..., link.theirs], axis=dropped)
    return found


def _spread(batch: Batch, table: Floats, columns: Floats) -> None:
    """Write the pair marginals of (variable, each of the scope): by halving, about two passes for all of them."""
    n_runs, k, size = len(table), table.shape[1], table.shape[-1]
    pending = [(table.reshape(n_runs, k, -1, size), 0, batch.n_scope)]
    while pending:
        part, low, high = pending.pop()
        if high - low == 1:
            columns[..., batch.columns[low]] = part
            continue
        middle = (low + high) // 2
        split = part.reshape(n_runs, k, k ** (middle - low), k ** (high - middle), size)
        pending.append((np.add.reduce(split, axis=3), low, middle))
        pending.append((np.add.reduce(split, axis=2), middle, high))
