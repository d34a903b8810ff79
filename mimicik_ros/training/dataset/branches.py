"""The smoothest way of an arm through a whole stream of poses: all branches as a graph, the best path by dynamic programming.

Every row of the stream gets nodes: joint solutions inside the limits. They come from seeded random starts at some rows and are
followed forwards and backwards from there, row by row. An edge joins nodes of neighbouring rows that are no further apart than
the largest step. The path with the fewest breaks, and among those with the least sum of squared joint steps, is found exactly
over this graph (Bellman). So a branch that ends at a limit half-way is not taken where another one leads through.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from mimicik_ros.core.kinematics import Kinematics
from mimicik_ros.core.types import Array
from mimicik_ros.training.dataset.follow import follow

STARTS = 64  # random starts at a seeded row
SEED_EVERY, RETRY_EVERY = 40, 8  # rows between random starts, while there is a branch and while there is none
SEED_ITERATIONS, FOLLOW_ITERATIONS = 25, 12
SAME_RAD = 1e-3  # nodes nearer than this are one
MOST_NODES = 24  # per row; an arm with more than six joints has infinitely many
BREAK = 1e6  # cost of a break, rad^2: more than any path


@dataclass(frozen=True)
class Way:
    """Joints for every pose of a stream, and where the way is whole.

    Attributes:
        q: (k, n) rad; NaN where no solution was found.
        breaks: (k,) bool; True in a row to which no continuous step leads from the row before (and in the first).
    """

    q: Array
    breaks: np.ndarray

    @property
    def reachable(self) -> np.ndarray:
        """Rows (k,) bool that have a solution."""
        return np.isfinite(self.q[:, 0])

    def pieces(self, least: int) -> list[slice]:
        """Runs without a break of at least this many rows."""
        edges = [*np.flatnonzero(self.breaks | ~self.reachable), len(self.q)]
        runs = [slice(a, b) for a, b in pairwise(edges)]
        return [r for r in runs if self.reachable[r.start] and r.stop - r.start >= least]


def smoothest(kinematics: Kinematics, targets: Array, starts: list[Array], max_step_rad: float,
              rngs: list[np.random.Generator]) -> list[Way]:
    """The smoothest way through each of several streams of one length, which are followed side by side to save time.

    Args:
        kinematics: the robot.
        targets: (p, k, 4, 4) tool poses in the base frame, one a period.
        starts: per stream (s, n) rad, joints to try first at row 0.
        max_step_rad: largest step of any joint between rows.
        rngs: per stream, of its random starts; a stream's way does not depend on those beside it.
    """
    p, k = targets.shape[:2]
    within = np.linalg.norm(targets[..., :3, 3] - kinematics.table.placements[0][:3, 3], axis=-1) <= _reach_m(kinematics)
    nodes = [[np.zeros((0, kinematics.n)) for _ in range(k)] for _ in range(p)]
    last = np.zeros(p, dtype=int)
    for i in range(k):
        found = _stepped(kinematics, [n[i - 1] for n in nodes], targets[:, i], max_step_rad) if i else starts
        # New starts also soon after the last branch has ended: that is where another may begin.
        due = [s for s in range(p) if within[s, i] and (i == 0 or i - last[s] >= (SEED_EVERY if len(found[s]) else RETRY_EVERY))]
        seeds = [np.concatenate([found[s], rngs[s].uniform(kinematics.lower, kinematics.upper, (STARTS, kinematics.n))])
                 for s in due]
        for s, solved in zip(due, _solved(kinematics, seeds, targets[due, i], SEED_ITERATIONS), strict=True):
            found[s], last[s] = solved, i
        for s in range(p):
            nodes[s][i] = _distinct(found[s])
    for i in range(k - 2, -1, -1):
        orphans = [n[i + 1][~_linked(n[i], n[i + 1], max_step_rad).any(axis=0)] for n in nodes]
        for s, back in enumerate(_stepped(kinematics, orphans, targets[:, i], max_step_rad)):
            nodes[s][i] = _distinct(np.concatenate([nodes[s][i], back]))
    return [_shortest(n, max_step_rad) for n in nodes]


def _reach_m(kinematics: Kinematics) -> float:
    """No point of the tool is further from the first joint than this: the lengths of all links, and of all strokes."""
    links = np.linalg.norm(np.concatenate([kinematics.table.placements[1:, :3, 3], kinematics.table.tool[None, :3, 3]]), axis=1)
    strokes = np.maximum(np.abs(kinematics.lower), np.abs(kinematics.upper))[kinematics.table.prismatic]
    return float(links.sum() + strokes.sum()) + 1e-6


def _solved(kinematics: Kinematics, q: list[Array], targets: Array, iterations: int) -> list[Array]:
    """Per stream, its joints (m, n) brought to its target (4, 4); those that do not get there are left out."""
    return [there[reached] for there, reached, _ in _followed(kinematics, q, targets, iterations)]


def _stepped(kinematics: Kinematics, q: list[Array], targets: Array, max_step_rad: float) -> list[Array]:
    """Likewise, and those that get there by a larger step than allowed are left out."""
    return [there[reached & (np.abs(there - before).max(axis=1, initial=0.0) <= max_step_rad)]
            for there, reached, before in _followed(kinematics, q, targets, FOLLOW_ITERATIONS)]


def _followed(kinematics: Kinematics, q: list[Array], targets: Array, iterations: int) -> list[tuple[Array, np.ndarray, Array]]:
    """`follow` for several streams at once: per stream (joints, whether there, joints before)."""
    sizes = [len(x) for x in q]
    if not sum(sizes):
        return [(x, np.zeros(0, dtype=bool), x) for x in q]
    there, reached = follow(kinematics, np.concatenate(q), np.repeat(targets, sizes, axis=0), iterations)
    cuts = np.cumsum(sizes)[:-1]
    return list(zip(np.split(there, cuts), np.split(reached, cuts), q, strict=True))


def _distinct(q: Array) -> Array:
    """Nodes without those that are the same as one before; the first MOST_NODES."""
    kept: list[int] = []
    for i in range(len(q)):
        if all(np.abs(q[i] - q[j]).max() > SAME_RAD for j in kept):
            kept.append(i)
    return q[kept[:MOST_NODES]]


def _linked(before: Array, after: Array, max_step_rad: float) -> np.ndarray:
    return np.asarray(np.abs(before[:, None] - after[None]).max(axis=2, initial=0.0) <= max_step_rad)


def _shortest(nodes: list[Array], max_step_rad: float) -> Way:
    """Least cost over the layers: squared steps along edges, BREAK for going on without one."""
    k, n = len(nodes), nodes[0].shape[1]
    costs, parents, broken = [np.zeros(len(nodes[0]))], [np.full(len(nodes[0]), -1)], [np.ones(len(nodes[0]), dtype=bool)]
    reached, before = 0.0, 0.0  # least cost so far, and that of the latest row which has nodes
    for i in range(1, k):
        here = nodes[i]
        if len(costs[-1]):
            before = float(costs[-1].min())
        reached = before + BREAK
        cost, parent, cut = np.full(len(here), reached), np.full(len(here), -1), np.ones(len(here), dtype=bool)
        if len(nodes[i - 1]) and len(here):
            steps = ((nodes[i - 1][:, None] - here[None]) ** 2).sum(axis=2)
            steps[~_linked(nodes[i - 1], here, max_step_rad)] = np.inf
            through = costs[-1][:, None] + steps
            best = through.argmin(axis=0)
            value = through[best, np.arange(len(here))]
            cut = value >= reached
            cost = np.where(cut, reached, value)
            parent = np.where(cut, int(costs[-1].argmin()), best)
        costs.append(cost)
        parents.append(parent)
        broken.append(cut)
    q, breaks = np.full((k, n), np.nan), np.ones(k, dtype=bool)
    place = -1
    for i in range(k - 1, -1, -1):
        if not len(nodes[i]):
            place = -1
            continue
        if place < 0:
            place = int(costs[i].argmin())
        q[i], breaks[i] = nodes[i][place], broken[i][place]
        place = int(parents[i][place])
    return Way(q, breaks)
