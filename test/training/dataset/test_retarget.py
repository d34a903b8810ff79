"""Streams become demonstrations on the smoothest branch; what the arm cannot follow is cut out and counted."""

import numpy as np
import pytest
from lagging_arm import HOME, PERIOD_S

from mimicik_ros.core import se3
from mimicik_ros.core.errors import DataError
from mimicik_ros.training.dataset.branches import Way, _shortest, smoothest
from mimicik_ros.training.dataset.follow import error_and_jacobian, follow
from mimicik_ros.training.dataset.retarget import Account, Placing, episodes_of, retarget
from mimicik_ros.training.dataset.streams import files_below, placed, read

HEADER = "t,x,y,z,qx,qy,qz,qw\n"
AS_IS = Placing(0, (1.0, 1.0), PERIOD_S, 0.15, 20.0, 0)
NO_START = [np.zeros((0, 6))]


def joint_path(rows, amplitude=0.5):
    """A smooth known path (rows, 6) rad around the good home: sines of half to one and a half rad/s."""
    t = PERIOD_S * np.arange(rows)
    rate, phase = np.array([0.5, 0.7, 0.9, 1.1, 1.3, 1.5]), np.arange(6)
    return HOME + amplitude * (np.sin(np.outer(t, rate) + phase) - np.sin(phase))


def way_through(kinematics, targets, max_step_rad=0.15, seed=0):
    return smoothest(kinematics, targets[None], NO_START, max_step_rad, [np.random.default_rng(seed)])[0]


def effort(q):
    return (np.diff(q, axis=0) ** 2).sum()


def write_stream(path, t, T):
    quat = se3.quat_from_rotation(T[:, :3, :3])
    rows = np.column_stack([t, T[:, :3, 3], quat])
    path.write_text(HEADER + "\n".join(",".join(f"{v:.9f}" for v in row) for row in rows) + "\n")
    return path


def inside(kinematics, q):
    return (q >= kinematics.lower).all() and (q <= kinematics.upper).all()


@pytest.mark.parametrize("seed", [0, 1])
def test_a_known_smooth_path_is_recovered_or_a_smoother_one_found(kinematics, seed):
    known = joint_path(120)
    targets = kinematics.fk_batch(known)
    way = way_through(kinematics, targets, seed=seed)
    assert way.reachable.all() and way.breaks.tolist() == [True] + [False] * 119
    np.testing.assert_allclose(kinematics.fk_batch(way.q), targets, atol=1e-4)
    assert inside(kinematics, way.q)
    assert np.abs(way.q - known).max() < 1e-3 or effort(way.q) < effort(known)
    assert effort(way.q) <= effort(known) * (1 + 1e-3)


def test_a_branch_that_runs_into_a_limit_is_left_for_one_that_leads_through(kinematics):
    # A spherical wrist reaches a pose in two ways: (q4, q5, q6) and (q4 + pi, -q5, q6 + pi). Joint 4 turns upwards, so that the
    # second way, where a follower is started, soon ends at its limit; the first has room all along.
    known = joint_path(120, 0.2)
    known[:, 3] = np.linspace(-0.2, 2.9, 120)
    targets = kinematics.fk_batch(known)
    flipped = known[0] * [1, 1, 1, 1, -1, 1] + [0, 0, 0, np.pi, 0, np.pi]
    start, there = follow(kinematics, np.clip(flipped, kinematics.lower, kinematics.upper)[None], targets[:1], 50)
    assert there.all() and np.abs(start[0] - known[0]).max() > 1.0
    q, alive = start, 0
    for T in targets[1:]:
        q_next, ok = follow(kinematics, q, T[None], 12)
        if not ok[0] or np.abs(q_next - q).max() > 0.15:
            break
        q, alive = q_next, alive + 1
    assert alive < 119  # this start alone does not lead through
    way = smoothest(kinematics, targets[None], [start], 0.15, [np.random.default_rng(0)])[0]
    assert not way.breaks[1:].any() and inside(kinematics, way.q)


def test_an_unreachable_middle_part_is_cut_and_both_ends_are_kept(kinematics, tmp_path):
    T = kinematics.fk_batch(joint_path(120))
    T[50:70, :3, 3] += [0.0, 0.0, 2.0]
    done, = retarget(kinematics, [write_stream(tmp_path / "s.csv", PERIOD_S * np.arange(120), T)], AS_IS, 1)
    assert (done.rows, done.unreachable, done.lost, done.kept) == (120, 20, 0, 100)
    assert [len(e) for e in done.episodes] == [49, 49]
    assert [round(e.t_s[0], 6) for e in done.episodes] == [0.0, 3.5]
    for episode, rows in zip(done.episodes, (slice(1, 50), slice(71, 120)), strict=True):
        np.testing.assert_allclose(episode.position_m, T[rows, :3, 3], atol=1e-6)
        np.testing.assert_allclose(kinematics.fk_batch(episode.q_command)[:, :3, 3], episode.position_m, atol=1e-4)
        np.testing.assert_array_equal(episode.q[1:], episode.q_command[:-1])
        assert inside(kinematics, episode.q) and np.abs(episode.q_command - episode.q).max() <= 0.15


def test_a_stream_too_fast_for_the_arm_is_broken_where_it_is(kinematics):
    path = joint_path(60)
    path[30:, 0] += 0.8  # turning the base is the only way to follow this within a period
    way = way_through(kinematics, kinematics.fk_batch(path))
    assert np.flatnonzero(way.breaks).tolist() == [0, 30] and way.reachable.all()


def test_the_path_with_fewest_breaks_then_least_squared_steps_is_found():
    # Rows of one joint; the largest step is 1. From 0 both branches go on; only the lower one leads through without a break.
    nodes = [np.array(x, dtype=float).reshape(-1, 1) for x in ([0, 5], [0.1, 0.9], [0.2, 1.0], [1.1, 3.0], [1.2, 3.1])]
    way = _shortest(nodes, 1.0)
    assert way.q[:, 0].tolist() == [0.0, 0.1, 0.2, 1.1, 1.2] or effort(way.q) == pytest.approx(0.9**2 + 0.1**2 + 0.1**2 + 0.1**2)
    least = min(effort(np.array([0, a, b, 1.1, 1.2])[:, None]) for a in (0.1, 0.9) for b in (0.2, 1.0))
    assert effort(way.q) == pytest.approx(least) and way.breaks.tolist() == [True, False, False, False, False]


def test_rows_without_a_solution_end_a_piece():
    nodes = [np.array(x, dtype=float).reshape(-1, 1) for x in ([0], [0.1], [], [0.3], [5.0], [5.1])]
    way = _shortest(nodes, 1.0)
    assert way.reachable.tolist() == [True, True, False, True, True, True]
    assert [(p.start, p.stop) for p in way.pieces(1)] == [(0, 2), (3, 4), (4, 6)]
    assert [(p.start, p.stop) for p in way.pieces(2)] == [(0, 2), (4, 6)]


def test_streams_side_by_side_are_led_as_each_alone(kinematics):
    T = np.stack([kinematics.fk_batch(joint_path(60, a)) for a in (0.2, 0.5)])
    together = smoothest(kinematics, T, NO_START * 2, 0.15, [np.random.default_rng(s) for s in (1, 2)])
    for s, way in zip((1, 2), together, strict=True):
        np.testing.assert_allclose(way.q, way_through(kinematics, T[s - 1], seed=s).q, atol=1e-9)


def test_the_result_does_not_depend_on_the_number_of_workers(kinematics, tmp_path):
    T = kinematics.fk_batch(joint_path(60, 0.2))
    files = [write_stream(tmp_path / f"{name}.csv", PERIOD_S * np.arange(60), T) for name in "ab"]
    placing = Placing(2, (0.5, 1.0), PERIOD_S, 0.15, 20.0, 4)
    first, second = (list(retarget(kinematics, files, placing, workers)) for workers in (1, 2))
    assert [r.rows for r in first] == [120, 120]
    for a, b in zip(first, second, strict=True):
        assert a.kept == b.kept
        for x, y in zip(a.episodes, b.episodes, strict=True):
            np.testing.assert_array_equal(x.q, y.q)
    assert not np.array_equal(first[0].episodes[0].q[0], first[1].episodes[0].q[0])  # a placement of its own for every file


def test_placing_scales_and_turns_the_motion_and_begins_at_the_arm(kinematics):
    poses = kinematics.fk_batch(joint_path(40))
    targets, q = placed(kinematics, poses, (0.5, 0.5), np.random.default_rng(0))
    np.testing.assert_allclose(targets[0], kinematics.fk(q), atol=1e-12)
    assert inside(kinematics, q)
    moved, original = (np.linalg.norm(x[:, :3, 3] - x[0, :3, 3], axis=1) for x in (targets, poses))
    np.testing.assert_allclose(moved, 0.5 * original, atol=1e-12)
    turned, original = (se3.rotation_angle(x[:1, :3, :3].swapaxes(1, 2) @ x[:, :3, :3]) for x in (targets, poses))
    np.testing.assert_allclose(turned, original, atol=1e-9)


def test_bad_rows_of_a_stream_are_left_out_and_gaps_cut_it(kinematics, tmp_path):
    T = kinematics.fk_batch(joint_path(100, 0.2))
    t = PERIOD_S * np.arange(100)
    t[60:] += 2.0
    path = write_stream(tmp_path / "s.csv", t, T)
    lines = path.read_text().splitlines()
    lines[11] = lines[11].replace(lines[11].split(",")[1], "nan")
    lines[21] = ",".join([*lines[21].split(",")[:4], "0,0,0,0"])
    lines[31] = ",".join([lines[30].split(",")[0], *lines[31].split(",")[1:]])
    path.write_text("\n".join(lines)[:-25])
    stream = read(path, PERIOD_S, 20.0)
    assert [kind for kind, _ in stream.faults] == ["non-finite", "quaternion", "stamps", "gap"]
    assert [len(run) for run in stream.runs] == [60, 39] and stream.rows == 100
    np.testing.assert_allclose(stream.runs[0][40], T[40], atol=1e-6)


def test_a_long_stream_is_cut_into_equal_parts_that_meet(kinematics, tmp_path):
    path = write_stream(tmp_path / "s.csv", PERIOD_S * np.arange(121), kinematics.fk_batch(joint_path(121, 0.2)))
    runs = read(path, PERIOD_S, 2.0).runs  # 6 s
    assert [len(run) for run in runs] == [41, 41, 41]
    np.testing.assert_allclose(runs[0][-1], runs[1][0], atol=1e-6)


@pytest.mark.parametrize(("text", "kind"), [("", "columns"), ("t,x\n0,1\n", "columns"), (HEADER, "short"),
                                            (HEADER + "0,a,0,0,0,0,0,1\n1,0,0,0,0,0,0,1\n", "short")])
def test_a_file_that_is_no_stream_is_named_and_the_others_are_kept(kinematics, tmp_path, text, kind):
    (tmp_path / "bad.csv").write_text(text)
    write_stream(tmp_path / "good.csv", PERIOD_S * np.arange(40), kinematics.fk_batch(joint_path(40, 0.2)))
    account = Account()
    for done in retarget(kinematics, files_below([tmp_path]), AS_IS, 1):
        account.add(done)
    assert (account.files, account.dropped, account.episodes) == (2, 1, 1)
    assert "dropped" in account.lines[0] and "bad.csv" in account.lines[0] and f"{kind}: " in account.lines[0]
    assert "2 files, 1 dropped; 40 of 40 rows kept (100.0 %)" in account.text()


def test_a_folder_without_streams_is_refused(tmp_path):
    with pytest.raises(DataError, match="no CSV file"):
        files_below([tmp_path])


def test_following_reaches_a_near_target_exactly_and_says_so_of_a_far_one(kinematics):
    q = np.repeat(HOME[None], 2, axis=0)
    goals = kinematics.fk_batch(q + 0.02)
    goals[1, 0, 3] = 3.0
    reached, there = follow(kinematics, q, goals, 12)
    assert there.tolist() == [True, False]
    np.testing.assert_allclose(reached[0], q[0] + 0.02, atol=1e-5)
    assert inside(kinematics, reached)


def test_the_jacobian_is_the_finite_difference_of_fk(kinematics):
    q = joint_path(1)[0]
    _, J = error_and_jacobian(kinematics, q[None], kinematics.fk(q)[None])
    for i, step in enumerate(1e-6 * np.eye(6)):
        error, _ = error_and_jacobian(kinematics, (q - step)[None], kinematics.fk(q + step)[None])
        np.testing.assert_allclose(J[0, :, i], error[0] / 2e-6, atol=1e-5)


def test_episodes_shorter_than_half_a_second_are_not_made(kinematics):
    q = joint_path(30)
    breaks = np.zeros(30, dtype=bool)
    breaks[[0, 11, 23]] = True
    assert [len(e) for e in episodes_of(Way(q, breaks), kinematics.fk_batch(q), PERIOD_S)] == [11]  # 0.5 s from first to last


@pytest.mark.parametrize(("stamps", "columns", "kind"), [
    (1e3 * np.arange(40), HEADER, "stamps"), (1.7e18 + 5e7 * np.arange(40), HEADER, "stamps"),
    (0.05 * np.arange(40), HEADER.strip().replace("z", "x", 1) + "\n", "columns"),
])
def test_another_unit_of_time_and_a_column_that_stands_twice_are_named(tmp_path, stamps, columns, kind):
    path = tmp_path / "s.csv"
    path.write_text(columns + "".join(f"{t!r},0,0,0,0,0,0,1\n" for t in stamps.tolist()))
    found = read(path, 0.05, 20.0)
    assert not found.runs and [k for k, _ in found.faults] == [kind]
