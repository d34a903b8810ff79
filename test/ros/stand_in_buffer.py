"""What stands in for tf2_ros' buffer, which pip does not have: the same look-up, one known transform."""

import numpy as np
from geometry_msgs.msg import TransformStamped

QUARTER = np.array([0.0, 0.0, np.sin(np.pi / 4), np.cos(np.pi / 4)])  # a quarter turn about z


class NoSuchFrame(Exception):
    """As tf2's LookupException."""


class StandInBuffer:
    """Has tf2_ros.Buffer's lookup_transform and one transform: the camera stands at (1, 2, 3), a quarter turn about z."""

    def __init__(self, known=("camera",), quat=QUARTER):
        self.known, self.quat, self.asked, self.closed = set(known), quat, [], False

    def lookup_transform(self, target_frame, source_frame, time, timeout):
        self.asked.append((target_frame, source_frame, time.nanoseconds, timeout.nanoseconds))
        if source_frame not in self.known:
            raise NoSuchFrame(f'"{source_frame}" passed to lookupTransform argument source_frame does not exist.\nmore')
        out = TransformStamped()
        t, r = out.transform.translation, out.transform.rotation
        t.x, t.y, t.z = 1.0, 2.0, 3.0
        r.x, r.y, r.z, r.w = (float(v) for v in self.quat)
        return out

    def close(self):
        self.closed = True
