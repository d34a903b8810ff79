"""The lifecycle node `mimicik`: parameters, topics, services and timers around the core's tick."""

from __future__ import annotations

import sys
from typing import Any

import rclpy
from rcl_interfaces.msg import SetParametersResult
from rclpy.clock import Clock, ClockType
from rclpy.executors import SingleThreadedExecutor
from rclpy.lifecycle import LifecycleNode, LifecycleState, TransitionCallbackReturn
from rclpy.parameter import Parameter
from rclpy.timer import Timer

from mimicik_ros.config import Config
from mimicik_ros.core.errors import ConfigError, MimicIKError
from mimicik_ros.core.servo import IKServo
from mimicik_ros.core.target_feed import TargetFeed
from mimicik_ros.ros import diagnostics, limits_log, parameters, process
from mimicik_ros.ros.command_stream import CommandStream
from mimicik_ros.ros.frames import Frames, TfBuffer
from mimicik_ros.ros.inbox import Inbox
from mimicik_ros.ros.inputs import Inputs
from mimicik_ros.ros.pacing import Pacing
from mimicik_ros.ros.ports import Ports
from mimicik_ros.ros.services import Services
from mimicik_ros.ros.session import Session
from mimicik_ros.ros.target_intake import TargetIntake
from mimicik_ros.ros.watch import PublisherWatch

SUCCESS, FAILURE = TransitionCallbackReturn.SUCCESS, TransitionCallbackReturn.FAILURE


class MimicIKNode(LifecycleNode):
    """Follows its targets with joint_command at a steady rate while active.

    Args:
        solver: servo as shipped, or model / dls alone (for comparisons).
        kwargs: passed to rclpy (namespace, parameter_overrides, context, ...).
    """

    def __init__(self, solver: str = "servo", **kwargs: Any) -> None:
        super().__init__("mimicik", **kwargs)
        self._solver = solver
        self._steady = Clock(clock_type=ClockType.STEADY_TIME)
        self._refused = parameters.declare(self)
        self.config: Config = parameters.current(self)
        self.failure: str | None = None  # why the last transition failed
        self.session: Session | None = None
        self.qos_errors: list[str] = []
        self._servo: IKServo | None = None
        self._ports: Ports | None = None
        self._inbox: Inbox | None = None
        self._frames: Frames | None = None
        self._inputs: Inputs | None = None
        self._requests: Services | None = None
        self._timers_active: list[Timer] = []
        self._mapping_logged = False
        self._candidate: tuple[Config, IKServo | None] | None = None
        self.add_on_set_parameters_callback(self._judge_parameters)
        self.add_post_set_parameters_callback(self._apply_parameters)

    # --- clocks -----------------------------------------------------------------------------------------------

    def steady_s(self) -> float:
        """Steady clock in seconds."""
        return self._steady.now().nanoseconds * 1e-9

    def ros_s(self) -> float:
        """ROS clock in seconds."""
        return self.get_clock().now().nanoseconds * 1e-9

    @property
    def configured(self) -> bool:
        """Whether robot, model and topics are there."""
        return self._servo is not None

    def make_tf_buffer(self) -> TfBuffer:
        """What looks tf transforms up. Raises ImportError without tf2_ros."""
        return TfBuffer(self)

    # --- lifecycle --------------------------------------------------------------------------------------------

    def autostart(self) -> bool:
        """Configure and activate. Returns whether the node is active; `failure` holds the reason if not."""
        return self.trigger_configure() == SUCCESS and self.trigger_activate() == SUCCESS

    def on_configure(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Load robot and model, create topics and services. FAILURE with one line on any set-up error."""
        try:
            if self._refused is not None:
                raise self._refused
            self.config = parameters.current(self)
            self._servo = IKServo.from_config(self.config, self._solver)
        except MimicIKError as error:
            return self._fail(str(error))
        self._ports = Ports(self, self.config, self._on_qos_error)
        topic = self.resolve_topic_name("joint_states")
        self._inbox = Inbox(self.config.driver_joint_names, self.steady_s, self.ros_s, lambda reason: self.get_logger().warning(
            f"{topic}: message rejected: {reason}", throttle_duration_sec=2.0), self.config.output.gripper_joint)
        self._frames = Frames(self.config.robot.base_frame_id, self.config.robot.tool_frame_id, self.make_tf_buffer)
        self._inputs = Inputs(self, self._inbox, self._on_qos_error)
        self._requests = Services(self, lambda: self.session)
        self._watch = PublisherWatch(self, self._ports.command.topic_name, self._inputs.target_topics,
                                     lambda line: self.get_logger().warning(line))
        if self._servo.home_refusal is not None:
            self.get_logger().warning(f"~/go_home is refused: {self._servo.home_refusal}")
        for line in (*limits_log.limit_lines(self.config, self._servo.kinematics), *Frames.missing()):
            self.get_logger().info(line)
        return super().on_configure(state)

    def on_activate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Start ticking, unless another node commands the arm."""
        assert self._servo is not None and self._ports is not None and self._inbox is not None and self._frames is not None
        if self._watch.look(self.config.output.other_publisher):
            return self._fail(self._watch.line())
        self._servo.reset()
        period_s = self.config.dt_s
        timer = self.create_timer(period_s, self._on_tick, clock=self._steady)
        due_s = self.steady_s() + timer.time_until_next_call() * 1e-9
        pacing = Pacing(due_s, period_s, self.config.node.deadline_s)
        targets = TargetIntake(TargetFeed(self.config), self._inbox, self._frames)
        self.session = Session(
            self._servo, self.config, self._inbox, targets, self._ports, pacing, self.steady_s, self.ros_s)
        self._stream = CommandStream(self, self.config, self._servo.kinematics, self._ports, due_s)
        self._timers_active = [timer, self.create_timer(1.0, self._on_second, clock=self._steady)]
        self.get_logger().info(f"active at {self.config.servo.rate_hz:g} Hz")
        return super().on_activate(state)

    def on_deactivate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Brake within the limits, send the held command, stop ticking."""
        self._stop()
        return super().on_deactivate(state)

    def on_cleanup(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Drop robot, model, topics and services."""
        self._release()
        return super().on_cleanup(state)

    def on_shutdown(self, state: LifecycleState) -> TransitionCallbackReturn:
        """As deactivate and cleanup."""
        self._stop()
        self._release()
        return super().on_shutdown(state)

    def _fail(self, line: str) -> TransitionCallbackReturn:
        self.failure = line
        self.get_logger().fatal(line)
        return FAILURE

    def _stop(self) -> None:
        for timer in self._timers_active:
            self.destroy_timer(timer)
        self._timers_active = []
        session, self.session = self.session, None
        if session is None or not self.context.ok():
            return
        session.request_hold()
        limits = self.config.robot
        longest_s = max(v / a for v, a in zip(limits.velocity_limits_rad_s, limits.acceleration_limits_rad_s2, strict=True))
        for _ in range(int(longest_s / self.config.dt_s) + 3):
            # The driver expects commands one period apart; a burst would exceed the limits in its eyes.
            self._stream.wait(self.config.dt_s)
            result = session.tick()
            if result.q_command is None or not session.moving:
                break
        self._stream.close()

    def _release(self) -> None:
        for made in (self._inputs, self._requests, self._ports):
            if made is not None:
                made.destroy()
        if self._frames is not None:
            self._frames.close()
        self._inputs = self._requests = self._frames = self._ports = self._inbox = self._servo = None

    # --- callbacks --------------------------------------------------------------------------------------------

    def _on_tick(self) -> None:
        if self.session is not None:
            self.session.tick()

    def _on_second(self) -> None:
        session = self.session
        if session is None:
            return
        blocked = self._watch.look(self.config.output.other_publisher)
        if blocked and not session.blocked:
            self.get_logger().error(self._watch.line())
            session.request_hold()
        session.blocked = blocked
        order = session.inbox.order
        if order is not None and not self._mapping_logged:
            self._mapping_logged = True
            topic = self.resolve_topic_name("joint_states")
            self.get_logger().info(limits_log.mapping_line(topic, self.config.driver_joint_names, order))
        policy = session.servo.policy
        session.report({
            "provider": policy.provider if policy is not None else "none", "solver": self._solver,
            "other_commanders": self._watch.commanders, "target_publishers": self._watch.targeters,
            "qos_errors": len(self.qos_errors), **diagnostics.card_values(policy.card if policy is not None else None),
        })

    def _on_qos_error(self, line: str) -> None:
        self.qos_errors.append(line)
        self.get_logger().error(line)

    # --- parameters -------------------------------------------------------------------------------------------

    def _judge_parameters(self, changes: list[Parameter]) -> SetParametersResult:
        try:
            config = parameters.with_changes(self, changes)
            servo = self._servo.with_config(config) if self._servo is not None else None
        except ConfigError as error:
            return SetParametersResult(successful=False, reason=f"{error}; nothing was changed")
        self._candidate = (config, servo)
        return SetParametersResult(successful=True)

    def _apply_parameters(self, changes: list[Parameter]) -> None:
        if self._candidate is None:
            return
        self.config, self._servo = self._candidate
        self._candidate = None
        if self.session is not None and self._servo is not None:
            self.session.reconfigure(self._servo, self.config)
        if self._ports is not None:
            self._ports.reconfigure(self.config)


def main(args: list[str] | None = None) -> int:
    """Run until SIGINT or SIGTERM: 0; 2 when it cannot configure, 1 when it cannot activate."""
    ending = process.Ending()
    if not process.init(args):
        return 2
    try:
        node = MimicIKNode()
        executor = SingleThreadedExecutor()
        executor.add_node(node)
        if node.config.node.autostart and not node.autostart():
            return 1 if node.configured else 2
        ending.spin(executor)
        node.trigger_shutdown()
        return 0
    finally:
        rclpy.try_shutdown()


if __name__ == "__main__":
    sys.exit(main())
