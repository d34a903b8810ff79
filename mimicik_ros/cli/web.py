"""`mimicik web`: the arm in a browser, with a handle to drag; with --fake-arm a whole graph of its own."""

from __future__ import annotations

import argparse
import contextlib
import sys
import tempfile
from pathlib import Path

from mimicik_ros.cli.demo_graph import ChildDied, DemoGraph, check_domain, node_parameters, private_domain
from mimicik_ros.cli.setup import add_config, config_of, robot_of
from mimicik_ros.config import Config
from mimicik_ros.core.errors import ConfigError
from mimicik_ros.core.kinematics import Kinematics


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = subparsers.add_parser("web", help="teleoperate from a browser (extra: web)")
    parser.add_argument("--host", default="localhost", help="address to listen on; any but this machine's own needs the token "
                        "of the printed URL (0.0.0.0: every network)")
    parser.add_argument("--port", type=int, default=8080, help="0: any that is free")
    parser.add_argument("--namespace", default="", help="of the arm, e.g. left")
    parser.add_argument("--node", default="mimicik", help="name of the servo node in it")
    parser.add_argument("--joint-states", default="joint_states", metavar="TOPIC", help="of the driver")
    parser.add_argument("--fake-arm", action="store_true", help="start node and fake arm too, on a graph of this machine")
    parser.add_argument("--domain", type=int, help="ROS_DOMAIN_ID with --fake-arm (default: one of this process)")
    add_config(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    import viser  # noqa: F401  a missing extra is said before anything starts

    if not 0 <= args.port <= 65535:
        raise ConfigError(f"--port: must lie in [0, 65535], got {args.port}")
    if args.domain is not None and not args.fake_arm:
        raise ConfigError("--domain: only with --fake-arm; else set ROS_DOMAIN_ID")
    check_domain(args.domain)
    if args.fake_arm and (args.namespace or args.node != "mimicik" or args.joint_states != "joint_states"):
        raise ConfigError("--fake-arm: has an arm of its own; leave --namespace, --node and --joint-states away")
    config = config_of(args)
    kinematics = robot_of(config)
    try:
        with contextlib.ExitStack() as stack:
            graph = None
            if args.fake_arm:
                private_domain(args.domain)
                folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="mimicik_web_")))
                graph = stack.enter_context(DemoGraph(folder, node_parameters(config, bool(args.config)), {}))
            return _serve(args, config, kinematics, graph)
    except ChildDied as error:
        print(f"error: {error}", file=sys.stderr)
        return 1


def _serve(args: argparse.Namespace, config: Config, kinematics: Kinematics, graph: DemoGraph | None) -> int:
    """Serve until a signal: 0; or until a process of the graph ends: ChildDied."""
    import rclpy
    from rclpy.exceptions import NameValidationException
    from rclpy.executors import SingleThreadedExecutor

    from mimicik_ros.ros import process
    from mimicik_ros.ros.web.link import WebLink
    from mimicik_ros.ros.web.page import Page

    ending = process.Ending()
    if not process.init(None):
        return 2
    try:
        try:
            link = WebLink(kinematics.joint_names, config.robot.base_frame, args.node, args.joint_states,
                           namespace=args.namespace)
        except NameValidationException as error:
            raise ConfigError(f"--namespace, --node, --joint-states: {str(error).splitlines()[0]}") from error
        executor = SingleThreadedExecutor()
        executor.add_node(link)
        if graph is not None:
            link.create_timer(1.0, graph.check)
        page = Page(link, kinematics, config, args.host, args.port)
        try:
            print(f"open {page.gate.url}", flush=True)
            if page.gate.token is not None:
                print("whoever has this address drives the arm; it is plain http, for a trusted network only")
            print("Ctrl-C ends it", flush=True)
            ending.spin(executor)
        finally:
            page.close()
        return 0
    finally:
        rclpy.try_shutdown()
