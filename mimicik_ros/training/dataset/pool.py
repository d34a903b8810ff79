"""Work in parallel, results in order: what comes out does not depend on the number of workers, nor does memory grow."""

from __future__ import annotations

import multiprocessing
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from typing import Any, TypeVar

from mimicik_ros.core.kinematics import Kinematics

T = TypeVar("T")
R = TypeVar("R")
AHEAD = 4  # tasks in the queue for every worker

_context: Any = None


def ordered(context: tuple[type, tuple[Any, ...]], work: Callable[[Any, T], R], tasks: Iterable[T], workers: int) -> Iterator[R]:
    """work(context, task) for each task, in order.

    Args:
        context: (callable, arguments) that makes what the work needs; made once in every worker.
        work: function of a module.
        tasks: their arguments.
        workers: processes; 1 works in this one.
    """
    if workers == 1:
        mine = context[0](*context[1])
        yield from (work(mine, task) for task in tasks)
        return
    with ProcessPoolExecutor(workers, multiprocessing.get_context("spawn"), _prepare, context) as pool:
        waiting: deque[Future[R]] = deque()
        for task in tasks:
            waiting.append(pool.submit(_call, work, task))
            if len(waiting) >= AHEAD * workers:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


def _prepare(make: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
    global _context  # noqa: PLW0603 (a process of a pool has no other place)
    _context = make(*arguments)


def _call(work: Callable[[Any, T], R], task: T) -> R:
    return work(_context, task)


def robot_arguments(kinematics: Kinematics) -> tuple[str, str, str, tuple[str, ...]]:
    """Arguments that make the same Kinematics in another process."""
    return kinematics.origin, kinematics.base_frame, kinematics.tool_frame, kinematics.joint_names
