"""Every picture is written, and none without figures."""

import numpy as np

from mimicik_ros.evaluation.contenders import Contender
from mimicik_ros.evaluation.rollout import Rollout
from mimicik_ros.evaluation.seeds import SPREAD_OF, spread_of
from mimicik_ros.evaluation.table import ALL, Table
from mimicik_ros.evaluation.table_plots import plot_table
from mimicik_ros.evaluation.trial import episode_of

HOME = np.array([0.0, -1.0, 1.2, 1.5708, -1.2, -1.5708])


def test_every_picture_is_written_and_none_without_figures(arm, trial, tmp_path):
    case = trial(HOME + np.linspace(0.0, 0.3, 40)[:, None], suite="singular", name="wrist_line_000")
    done = Rollout(case.reference + np.linspace(0.0, 0.01, 40)[:, None], np.ones(40), ["ok"] * 40, np.ones(40), 0.0)
    episodes = [episode_of(arm, case, done, None)]
    table = Table((), (Contender("servo", "tick", None), Contender("mip_seed0", "policy", None, "mip", 0)),
                  {"servo": episodes, "mip_seed0": episodes})
    spreads = [spread_of("mip", ALL, figure, [0.1, 0.2, 0.4]) for figure in SPREAD_OF]
    written = plot_table(table, spreads, arm, 0.05, tmp_path)
    names = {p.stem for p in written}
    assert names == {"error_by_condition", "velocity_amplification", "singularity", "ablation"}
    assert all(p.read_bytes().startswith(b"\x89PNG") for p in written)
    assert plot_table(Table((), (), {}), [], arm, 0.05, tmp_path) == []
