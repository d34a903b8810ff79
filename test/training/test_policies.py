"""Every policy: its deployed computation and its losses against values by hand, and what the loop and the export ask of all."""

import contextlib
import dataclasses
import math

import numpy as np
import onnxruntime
import pytest
import torch
from torch import nn

from mimicik_ros.core.errors import ConfigError
from mimicik_ros.core.kinematics import JointTable, Kinematics
from mimicik_ros.core.policy import Policy
from mimicik_ros.training.export import export
from mimicik_ros.training.objective import Sample, normal
from mimicik_ros.training.policies import POLICIES, build_policy
from mimicik_ros.training.policies.flow import FlowPolicy
from mimicik_ros.training.policies.mip_published_fk import published_fk_loss
from mimicik_ros.training.policies.mlp import MLP
from mimicik_ros.training.policies.unet import UNetPolicy
from mimicik_ros.training.spec import PRESETS, TrainSpec, preset
from mimicik_ros.training.torch_fk import TorchFK

NAMES = tuple(POLICIES)
SMALL = {"width": 24, "blocks": 1}


class Always(nn.Module):
    """f(a, t, c) = value + slope * a; remembers the times that it was asked for."""

    def __init__(self, value, slope=0.0):
        super().__init__()
        self.n, self.value, self.slope, self.times = 6, value, slope, []

    def forward(self, action, t, observation):
        self.times.append(t)
        return self.value + self.slope * action


def untrained(kinematics, name, **changes):
    torch.manual_seed(0)
    return build_policy(kinematics, preset("tiny", policy=name, **SMALL, **changes), np.full(kinematics.n, 0.03))


def sample_of(batch, device="cpu"):
    def tensor(x):
        return torch.tensor(x, dtype=torch.float32, device=device)

    return Sample(tensor(batch.observation), tensor(batch.delta_q) / 0.03, tensor(batch.q), tensor(batch.T_target[:, :3, :3]),
                  tensor(batch.T_target[:, :3, 3]))


def parameters(policy):
    return sum(p.numel() for p in policy.parameters())


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("size", PRESETS)
def test_all_have_about_the_same_number_of_parameters(kinematics, name, size):
    ours, theirs = (parameters(build_policy(kinematics, preset(size, policy=x), np.ones(6))) for x in ("mip", name))
    assert abs(theirs / ours - 1.0) < 0.03


@pytest.mark.parametrize("name", NAMES)
def test_the_deployed_step_is_in_radians_and_the_same_each_time(kinematics, synthesis, name):
    policy = untrained(kinematics, name)
    observation = torch.from_numpy(synthesis.batch(7).observation)
    first = policy(observation)
    torch.rand(5)  # whatever else draws random numbers meanwhile
    assert first.shape == (7, 6)
    torch.testing.assert_close(policy(observation), first, rtol=0.0, atol=0.0)
    policy.action_scale *= 2.0
    torch.testing.assert_close(policy(observation), 2.0 * first)


@pytest.mark.parametrize("name", NAMES)
def test_every_weight_is_trained(kinematics, synthesis, name):
    policy = untrained(kinematics, name)
    spec = preset("tiny", policy=name)
    losses = policy.loss(sample_of(synthesis.batch(32)), TorchFK(kinematics.table), spec, torch.Generator().manual_seed(0))
    losses.total.backward()
    assert not [key for key, p in policy.named_parameters() if p.grad is None or not p.grad.abs().sum() > 0]


@pytest.mark.parametrize("name", NAMES)
def test_no_part_of_the_loss_stays_behind_on_the_cpu(kinematics, synthesis, name, monkeypatch):
    # The meta device refuses to mix with tensors of the CPU, as a GPU would; autocast is not for it.
    monkeypatch.setattr(torch, "autocast", lambda *args, **kwargs: contextlib.nullcontext())
    policy, fk = untrained(kinematics, name).to("meta"), TorchFK(kinematics.table).to("meta")
    losses = policy.loss(sample_of(synthesis.batch(8), "meta"), fk, preset("tiny"), torch.Generator())
    losses.total.backward()
    assert {x.device.type for x in (losses.total, losses.flow, losses.fk)} == {"meta"}
    assert policy(torch.zeros(2, 12, device="meta")).device.type == "meta"


@pytest.mark.parametrize("name", NAMES)
def test_in_low_precision_the_blocks_alone_compute_in_bfloat16(kinematics, synthesis, name):
    policy, seen = untrained(kinematics, name), []
    policy.network.low_precision = True
    for module in policy.network.modules():
        if isinstance(module, nn.Linear):
            module.register_forward_hook(lambda module, inputs, output: seen.append((module, output.dtype)))
    fk, reads = TorchFK(kinematics.table), []
    fk.register_forward_hook(lambda module, inputs, output: reads.append(inputs[0].dtype))
    losses = policy.loss(sample_of(synthesis.batch(8)), fk, preset("tiny"), torch.Generator())
    inside = {m for m in policy.network.blocks.modules() if isinstance(m, nn.Linear)}
    assert {dtype for module, dtype in seen if module in inside} == {torch.bfloat16}
    assert {dtype for module, dtype in seen if module not in inside} == {torch.float32}
    assert {*reads, losses.total.dtype, losses.flow.dtype, losses.fk.dtype} == {torch.float32}


@pytest.mark.parametrize("name", NAMES)
def test_without_fk_weight_the_loss_is_the_flow_loss_alone(kinematics, synthesis, name):
    policy = untrained(kinematics, name)
    spec = preset("tiny", policy=name, fk_weight=0.0)
    losses = policy.loss(sample_of(synthesis.batch(16)), TorchFK(kinematics.table), spec, torch.Generator())
    assert losses.total.item() == pytest.approx(spec.flow_weight * losses.flow.item()) and losses.fk.item() > 0.0


def test_the_mlp_asks_once_at_time_zero_and_loses_the_squared_error(kinematics, synthesis):
    policy = MLP(Always(torch.tensor(0.5)), torch.full((6,), 0.03))
    sample = sample_of(synthesis.batch(16))
    losses = policy.loss(sample, TorchFK(kinematics.table), TrainSpec(), torch.Generator())
    assert policy.network.times == [0.0]
    assert losses.flow.item() == pytest.approx(((0.5 - sample.action) ** 2).mean().item())
    torch.testing.assert_close(policy(sample.observation), torch.full((16, 6), 0.015))


def test_euler_steps_add_up_to_the_closed_form_of_a_linear_velocity():
    # a' = 1 + a from 0: four Euler steps of 1/4 give (1 + 1/4)^4 - 1.
    policy = FlowPolicy(Always(1.0, slope=1.0), torch.ones(6), steps=4)
    torch.testing.assert_close(policy(torch.zeros(2, 12)), torch.full((2, 6), 1.25**4 - 1.0))
    assert policy.network.times == [0.0, 0.25, 0.5, 0.75]


def test_the_flow_loss_is_that_of_a_straight_path(kinematics, synthesis):
    sample = sample_of(synthesis.batch(16))
    policy = FlowPolicy(Always(torch.tensor(0.3)), torch.full((6,), 0.03), steps=4)
    losses = policy.loss(sample, TorchFK(kinematics.table), TrainSpec(), torch.Generator().manual_seed(5))
    generator = torch.Generator().manual_seed(5)
    t, noise = torch.rand(16, 1, generator=generator), torch.randn(16, 6, generator=generator)
    torch.testing.assert_close(policy.network.times[0], t)
    assert losses.flow.item() == pytest.approx(((0.3 - (sample.action - noise)) ** 2).mean().item(), rel=1e-5)


@pytest.mark.parametrize("steps", [1, 3, 10])
def test_ddim_ends_on_the_clean_action_of_a_perfect_network(steps):
    torch.testing.assert_close(UNetPolicy(Always(0.7), torch.ones(6), steps)(torch.zeros(2, 12)), torch.full((2, 6), 0.7))


def test_two_ddim_steps_by_hand():
    # t = 1: all noise, none of it known: a = cos(45 deg) f(0). t = 1/2: the answer is f of that. So 1 + cos(45 deg) for 1 + a.
    policy = UNetPolicy(Always(1.0, slope=1.0), torch.ones(6), 2)
    torch.testing.assert_close(policy(torch.zeros(1, 12)), torch.full((1, 6), 1.0 + math.sqrt(0.5)))
    assert [float(t[0, 0]) for t in policy.network.times] == [1.0, 0.5]


def test_the_unet_takes_an_odd_number_of_joints(kinematics):
    five = Kinematics(kinematics.origin, "base_link", "link5", kinematics.joint_names[:5])
    assert untrained(five, "unet")(torch.zeros(3, 11)).shape == (3, 5)


def test_the_published_fk_loss_adds_square_metres_to_radians():
    slide = JointTable(np.eye(4)[None], np.array([[0.0, 0.0, 1.0]]), np.array([True]), np.eye(4))
    turn = JointTable(np.eye(4)[None], np.array([[0.0, 0.0, 1.0]]), np.array([False]), np.eye(4))
    sample = Sample(torch.zeros(1, 7), torch.zeros(1, 1), torch.zeros(1, 1), torch.eye(3)[None], torch.zeros(1, 3))
    assert published_fk_loss(TorchFK(slide), sample, torch.tensor([[0.1]])).item() == pytest.approx(0.01, abs=2e-3)  # acos is cut
    assert published_fk_loss(TorchFK(turn), sample, torch.tensor([[0.2]])).item() == pytest.approx(0.2, rel=1e-4)


def test_the_published_fk_loss_looks_at_two_random_times_in_order(kinematics, synthesis):
    policy = untrained(kinematics, "mip-published-fk")
    policy.network = Always(torch.zeros(16, 6))
    policy.loss(sample_of(synthesis.batch(16)), TorchFK(kinematics.table), TrainSpec(), torch.Generator().manual_seed(1))
    deployed, others = policy.network.times[:2], policy.network.times[2:]
    assert deployed == [0.0, 0.9] and len(others) == 2
    assert (others[0] < others[1]).all() and len(others[0].unique()) == 16


def test_the_noise_of_two_processes_is_the_noise_of_one():
    def noise(rank, processes, rows):
        nothing = torch.zeros(rows, 6)
        return normal(Sample(nothing, nothing, nothing, nothing, nothing, (rank, processes)), torch.Generator().manual_seed(3))

    whole, even, odd = noise(0, 1, 8), noise(0, 2, 4), noise(1, 2, 4)
    assert torch.equal(whole[0::2], even) and torch.equal(whole[1::2], odd)


@pytest.mark.parametrize("name", NAMES)
def test_a_run_lowers_the_loss_on_steps_that_it_never_saw(kinematics, synthesis, policy_runs, name):
    def loss(policy):
        sample, generator = sample_of(synthesis.batch(1000, step=10**6)), torch.Generator().manual_seed(0)
        scaled = dataclasses.replace(sample, action=sample.action * 0.03 / policy.action_scale)
        with torch.no_grad():
            return float(policy.loss(scaled, TorchFK(kinematics.table), policy_runs[name].spec, generator).total)

    trained = policy_runs[name].policy
    torch.manual_seed(0)
    before = build_policy(kinematics, policy_runs[name].spec, trained.action_scale.numpy())
    assert loss(trained) < 0.93 * loss(before)


@pytest.mark.parametrize("name", NAMES)
def test_an_export_computes_what_torch_computes_and_names_its_policy(kinematics, synthesis, policy_runs, tmp_path, name):
    trained = policy_runs[name]
    card = export(trained, kinematics, synthesis, 0.05, "test arm", tmp_path / "p.onnx")
    session = onnxruntime.InferenceSession(str(tmp_path / "p.onnx"), providers=["CPUExecutionProvider"])
    for size in (1, 5):
        observation = synthesis.batch(size, step=9).observation
        with torch.no_grad():
            expected = trained.policy(torch.from_numpy(observation)).numpy()
        np.testing.assert_allclose(session.run(["delta_q"], {"observation": observation})[0], expected, atol=3e-6)
    assert (card.data["policy"], card.data["seed"]) == (name, trained.spec.seed)
    assert card.data["parameters"] == parameters(trained.policy)
    Policy.load(tmp_path / "p.onnx", "cpu").card.check_against(kinematics, 20.0, "p.onnx")


def test_an_unknown_policy_lists_the_known_ones(kinematics):
    with pytest.raises(ConfigError, match=r"--policy: unknown 'magic'; one of mip, mip-plain, mip-published-fk, mlp, unet, flow"):
        build_policy(kinematics, TrainSpec(policy="magic"), np.ones(6))
