"""A client of openpi policy servers: wire format, connection, observation out, actions in as poses. The node is in examples/."""

import importlib.util

from mimicik_ros.core.errors import MimicIKError

for _name in ("websockets", "msgpack", "PIL"):
    if importlib.util.find_spec(_name) is None:
        raise MimicIKError(f"the openpi client needs '{_name}'; pip install 'mimicik_ros[vla]'")
