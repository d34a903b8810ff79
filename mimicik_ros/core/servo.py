"""One tick, from inputs to a checked command. This file reads like the list in docs/architecture.md."""

from __future__ import annotations

import dataclasses
import time

import numpy as np

from mimicik_ros.config import Config
from mimicik_ros.core import dls, engage, freshness, home, limits, target_motion
from mimicik_ros.core.engage import Engagement
from mimicik_ros.core.errors import ConfigError
from mimicik_ros.core.freshness import Judgement
from mimicik_ros.core.governor import Governor, stoppable
from mimicik_ros.core.kinematics import Kinematics, residual
from mimicik_ros.core.limits import JointLimits
from mimicik_ros.core.policy import Policy
from mimicik_ros.core.solve_tick import Guarded, Solution, Solver, TickSolver
from mimicik_ros.core.status import Mode, Status
from mimicik_ros.core.types import Array, LimitedStep, Residual, ServoState, TickInput, TickResult, Timings
from mimicik_ros.share import share_path

SOLVERS = ("servo", "model", "dls")
IMPROVEMENT = 1e-6  # relative reduction of the error that a best-effort step must bring


class IKServo:
    """Follows target poses with joint commands, one tick at a time; without ROS.

    Attributes:
        kinematics: the robot.
        policy: the loaded model; None with solver="dls" or an object.
        solver: a name of SOLVERS, or an object that solves in its place, inside the same tick.
        state: what the last tick left behind.
        home_refusal: why this arm cannot go home; None where it can.
    """

    def __init__(self, kinematics: Kinematics, policy: Policy | None, config: Config, solver: str | Solver = "servo") -> None:
        if isinstance(solver, str) and solver not in SOLVERS:
            raise ConfigError(f"solver: unknown '{solver}'; one of {', '.join(SOLVERS)}")
        self.kinematics, self.policy, self.config, self.solver = kinematics, policy, config, solver
        self._limits = JointLimits.from_config(config, kinematics)
        self.home_refusal = home.refusal(config, self._limits)
        self._governor = Governor.from_config(config)
        self._solver: Solver = (TickSolver(kinematics, policy, config.servo, solver) if isinstance(solver, str)
                                else Guarded(solver, config.servo))
        self.state = ServoState()

    @classmethod
    def from_config(cls, config: Config, solver: str = "servo") -> IKServo:
        """Load robot and model and check them against each other.

        Raises:
            MimicIKError: a file is missing or broken, a name does not exist, or the model is of another robot.
        """
        robot = config.robot
        kinematics = Kinematics(share_path(robot.urdf), robot.base_frame, robot.tool_frame, robot.joint_names)
        policy = None
        if solver != "dls":
            path = share_path(config.policy.model)
            policy = Policy.load(path, config.policy.provider, config.policy.threads)
            policy.card.check_against(kinematics, config.servo.rate_hz, str(path))
        return cls(kinematics, policy, config, solver)

    def with_config(self, config: Config) -> IKServo:
        """A servo with other settings, the same robot and model, and this one's state.

        Raises:
            ConfigError: the change touches what is fixed at set-up.
        """
        old, new = self.config, config
        fixed = {
            "robot.urdf": (old.robot.urdf, new.robot.urdf), "robot.base_frame": (old.robot.base_frame, new.robot.base_frame),
            "robot.tool_frame": (old.robot.tool_frame, new.robot.tool_frame),
            "robot.joint_names": (old.robot.joint_names, new.robot.joint_names),
            "policy": (old.policy, new.policy), "servo.rate_hz": (old.servo.rate_hz, new.servo.rate_hz),
        }
        for name, (before, after) in fixed.items():
            if before != after:
                raise ConfigError(f"{name} is fixed at set-up; configure the node again to change it")
        servo = IKServo(self.kinematics, self.policy, config, self.solver)
        servo.state = self.state
        return servo

    def reset(self) -> None:
        """Forget everything: the next command is anchored on the measured joints."""
        self.state = ServoState()

    def tick(self, tick_input: TickInput) -> TickResult:
        """One tick from this servo's state, which is replaced by the result's."""
        result = self.step(self.state, tick_input)
        self.state = result.state
        return result

    def step(self, state: ServoState, tick_input: TickInput) -> TickResult:
        """One tick: a function of state and input alone, but for the timings. Never raises."""
        start = time.perf_counter()
        try:
            result = self._step(state, tick_input)
        except Exception as error:  # an exception here would end the loop that holds the arm
            result = self._after_exception(state, tick_input, error)
        total = 1e3 * (time.perf_counter() - start)
        return dataclasses.replace(result, timings=dataclasses.replace(result.timings, total_ms=total))

    def _step(self, state: ServoState, tick_input: TickInput) -> TickResult:
        judgement = freshness.judge(
            tick_input, self.config.freshness, self.kinematics, self.config.robot.base_frame_id)
        engagement = engage.step(state, tick_input, judgement, lambda q: self._gap(q, judgement), self._limits,
                                 self.config.engage)
        if engagement.stop is Status.HOMING:
            return self._go_home(engagement, tick_input, judgement)
        if engagement.stop is not None:
            return self._hold(engagement.state, engagement.stop, judgement)
        return self._move(engagement, tick_input, judgement)

    def _gap(self, q: Array, judgement: Judgement) -> Residual:
        assert judgement.T_base_target is not None
        return residual(self.kinematics.fk(q), judgement.T_base_target)

    def _move(self, engagement: Engagement, tick_input: TickInput, judgement: Judgement) -> TickResult:
        state, T_target, target = engagement.state, judgement.T_base_target, tick_input.target
        assert state.q_ref is not None and state.velocity_rad_s is not None and T_target is not None and target is not None
        q_ref, velocity = state.q_ref, state.velocity_rad_s
        motion = target_motion.observe(state.target_motion, target, T_target, self.config.freshness.target_timeout_s)
        engagement = dataclasses.replace(engagement, state=dataclasses.replace(state, target_motion=motion))
        T_ref = self.kinematics.fk(q_ref)
        most = stoppable(self.kinematics, q_ref, velocity, T_target, motion.velocity, self._limits)
        T_governed = self._governor.govern(T_ref, T_target, engagement.speed_scale, most)
        low, high = self._box(q_ref, velocity, tick_input.joints.q, engagement.anchored)
        solution = self._solver.solve(q_ref, T_ref, T_governed, low, high)
        delta_q = solution.proposal.delta_q
        if engagement.anchored:
            delta_q = np.clip(delta_q, low - q_ref, high - q_ref)
        limited = limits.step(q_ref, velocity, delta_q, self._limits)
        return self._checked(engagement, judgement, T_governed, solution, limited)

    def _box(self, q_ref: Array, velocity: Array, q_measured: Array, anchored: bool) -> tuple[Array, Array]:
        """Commands (n,) rad, lowest and highest, that the limits, the lead and the first step allow."""
        slowest, fastest = limits.velocity_interval(q_ref, velocity, self._limits)
        low, high = q_ref + slowest * self._limits.dt_s, q_ref + fastest * self._limits.dt_s
        lead = self.config.servo.max_lead_rad or np.inf
        if anchored:
            lead = min(lead, self.config.engage.max_first_step_rad)
        jump = self.config.servo.max_joint_step_rad
        near_low, near_high = np.maximum(q_measured - lead, q_ref - jump), np.minimum(q_measured + lead, q_ref + jump)
        # Where the limits leave no way back into the lead, they win.
        return np.minimum(np.maximum(low, near_low), high), np.maximum(np.minimum(high, near_high), low)

    def _checked(self, engagement: Engagement, judgement: Judgement, T_governed: Array, solution: Solution,
                 limited: LimitedStep) -> TickResult:
        """FK of the command that leaves, what it says, and braking where it would only make things worse."""
        state, T_target = engagement.state, judgement.T_base_target
        assert state.q_ref is not None and state.velocity_rad_s is not None and T_target is not None
        T_command = self.kinematics.fk(limited.q_command)
        error, gap = residual(T_command, T_governed), residual(T_command, T_target)
        status = self._status(error, gap, solution, limited)
        source = solution.proposal.source
        if status in (Status.NOT_CONVERGED, Status.LIMITED, Status.NON_FINITE, Status.BRANCH_JUMP):
            braked = limits.brake(state.q_ref, state.velocity_rad_s, self._limits)
            stay = dls.weighted_error(self.kinematics, braked.q_command, T_governed)
            go = dls.weighted_error(self.kinematics, limited.q_command, T_governed)
            if go >= stay * (1.0 - IMPROVEMENT):
                limited, source = braked, "none"
                T_command = self.kinematics.fk(limited.q_command)
                error, gap = residual(T_command, T_governed), residual(T_command, T_target)
                status = solution.refused or Status.NO_IMPROVEMENT
        failed = status in (Status.NOT_CONVERGED, Status.NO_IMPROVEMENT, Status.BRANCH_JUMP, Status.NON_FINITE)
        failures = state.consecutive_failures + 1 if failed else 0
        after = dataclasses.replace(state, q_ref=limited.q_command, velocity_rad_s=limited.velocity_rad_s,
                                    consecutive_failures=failures)
        if status in (Status.OK, Status.REACHED, Status.LIMITED) and state.mode is Mode.ENGAGING:
            status = Status.ENGAGING
        return TickResult(
            status, state.mode, after, limited.q_command, limited.velocity_rad_s, T_command, T_governed, error,
            solution.model_residual, gap, source, solution.refine_steps, limited.scale,
            self.kinematics.sigma_min(limited.q_command), solution.observation_score, failures, judgement.ages,
            Timings(0.0, solution.policy_ms, solution.refine_ms),
            f"proposal refused: {solution.refused.text}" if solution.refused else "")

    def _status(self, error: Residual, gap: Residual, solution: Solution, limited: LimitedStep) -> Status:
        if self._strict(gap):
            return Status.REACHED
        if self._strict(error):
            return Status.OK
        if solution.refused is not None:
            return solution.refused
        at_speed = np.abs(limited.velocity_rad_s) >= 0.999 * self._limits.velocity
        return Status.LIMITED if limited.scale < 1.0 or at_speed.any() else Status.NOT_CONVERGED

    def _strict(self, error: Residual) -> bool:
        servo = self.config.servo
        return error.position_m <= servo.strict_position_m and error.rotation_rad <= servo.strict_rotation_rad

    def _hold(self, state: ServoState, status: Status, judgement: Judgement) -> TickResult:
        """No motion towards the target: brake, then keep the last command; a fault leads to the joints measured then."""
        detail = judgement.detail
        if state.q_ref is None or state.velocity_rad_s is None:
            return TickResult(status, state.mode, state, ages=judgement.ages, detail=detail)
        if state.mode is Mode.FAULT and state.q_hold is not None:
            limited = limits.towards(state.q_ref, state.velocity_rad_s, state.q_hold, self._limits)
        else:
            limited = limits.brake(state.q_ref, state.velocity_rad_s, self._limits)
        after = dataclasses.replace(state, q_ref=limited.q_command, velocity_rad_s=limited.velocity_rad_s)
        T_command = self.kinematics.fk(limited.q_command)
        gap = residual(T_command, judgement.T_base_target) if judgement.T_base_target is not None else None
        timed_out = status in (Status.STALE_JOINTS, Status.STALE_TARGET)
        if timed_out and self.config.freshness.on_timeout == "stop_publishing" and not limited.velocity_rad_s.any():
            silent = engage.without_anchor(state)  # nobody is told where to stay, so the arm may be moved
            return TickResult(status, silent.mode, silent, ages=judgement.ages, detail=detail)
        return TickResult(
            status, state.mode, after, limited.q_command, limited.velocity_rad_s, T_command,
            target_residual=gap, scale=0.0, sigma_min=self.kinematics.sigma_min(limited.q_command),
            consecutive_failures=state.consecutive_failures, ages=judgement.ages, detail=detail)

    def _go_home(self, engagement: Engagement, tick_input: TickInput, judgement: Judgement) -> TickResult:
        state = engagement.state
        assert state.q_ref is not None and state.velocity_rad_s is not None
        low, high = self._box(state.q_ref, state.velocity_rad_s, tick_input.joints.q, engagement.anchored)
        limited = home.step(state.q_ref, state.velocity_rad_s, low, high, self.config.home, self._limits)
        there = home.arrived(limited, self.config.home)
        status, mode = (Status.AT_HOME, Mode.HOLDING) if there else (Status.HOMING, Mode.HOMING)
        after = dataclasses.replace(state, mode=mode, hold_status=status, q_ref=limited.q_command,
                                    velocity_rad_s=limited.velocity_rad_s, consecutive_failures=0)
        return TickResult(
            status, mode, after, limited.q_command, limited.velocity_rad_s, self.kinematics.fk(limited.q_command),
            source="home", scale=limited.scale, sigma_min=self.kinematics.sigma_min(limited.q_command), ages=judgement.ages,
            detail=judgement.detail)

    def _after_exception(self, state: ServoState, tick_input: TickInput, error: Exception) -> TickResult:
        state = engage.after_pause(state, tick_input.steady_s, self.config.engage.max_pause_s)
        state = dataclasses.replace(state, consecutive_failures=state.consecutive_failures + 1)
        detail = f"{type(error).__name__}: {error}"
        if state.q_ref is None or state.velocity_rad_s is None:
            return TickResult(Status.INTERNAL_ERROR, state.mode, state, detail=detail)
        limited = limits.brake(state.q_ref, state.velocity_rad_s, self._limits)
        after = dataclasses.replace(state, q_ref=limited.q_command, velocity_rad_s=limited.velocity_rad_s)
        return TickResult(Status.INTERNAL_ERROR, state.mode, after, limited.q_command, limited.velocity_rad_s, scale=0.0,
                          consecutive_failures=state.consecutive_failures, detail=detail)
