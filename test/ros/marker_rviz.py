"""The smallest honest stand-ins for interactive_markers' server and for RViz' side of it, both on real topics.

What they do is read from their sources: the server sends each pose that feedback brings back to RViz, and RViz keeps a
pose that arrives during a drag and applies it when the mouse button is released.
"""

from rclpy.qos import QoSProfile
from std_msgs.msg import Header
from visualization_msgs.msg import InteractiveMarkerFeedback, InteractiveMarkerPose, InteractiveMarkerUpdate

Feedback = InteractiveMarkerFeedback


class StandInServer:
    """insert, setPose, applyChanges, setCallback, erase and shutdown of the standard server."""

    def __init__(self, node, namespace):
        self._node = node
        self._markers, self._callbacks = {}, {}
        self._full, self._poses, self._erased = {}, {}, set()
        self._updates = node.create_publisher(InteractiveMarkerUpdate, f"{namespace}/update", QoSProfile(depth=100))
        self._feedback = node.create_subscription(
            Feedback, f"{namespace}/feedback", self._take, QoSProfile(depth=100))

    def insert(self, marker, *, feedback_callback=None):
        self._full[marker.name] = marker
        if feedback_callback is not None:
            self.setCallback(marker.name, feedback_callback)

    def setCallback(self, name, feedback_callback):
        if name not in self._markers and name not in self._full:
            return False
        self._callbacks[name] = feedback_callback
        return True

    def setPose(self, name, pose, header=None):
        if name in self._full or name not in self._markers:
            return False
        self._poses[name] = (header or self._markers[name].header, pose)
        return True

    def erase(self, name):
        self._erased.add(name)
        return name in self._markers

    def applyChanges(self):
        update = InteractiveMarkerUpdate(type=InteractiveMarkerUpdate.UPDATE)
        for name, marker in self._full.items():
            self._markers[name] = marker
            update.markers.append(marker)
        for name, (header, pose) in self._poses.items():
            if name not in self._full:
                self._markers[name].pose, self._markers[name].header = pose, header
                update.poses.append(InteractiveMarkerPose(name=name, header=header, pose=pose))
        for name in self._erased & set(self._markers):
            del self._markers[name]
            update.erases.append(name)
        self._full, self._poses, self._erased = {}, {}, set()
        if update.markers or update.poses or update.erases:
            self._updates.publish(update)

    def shutdown(self):
        for name in list(self._markers):
            self.erase(name)
        self.applyChanges()

    def _take(self, message):
        if message.marker_name not in self._markers:
            return
        if message.event_type == Feedback.POSE_UPDATE:
            self._poses[message.marker_name] = (self._markers[message.marker_name].header, message.pose)
        self._callbacks[message.marker_name](message)
        self.applyChanges()


class Mouse:
    """RViz with one person at it: sees the handle, drags it, chooses from its menu."""

    def __init__(self, node, namespace, client="rviz"):
        self._node, self._client = node, client
        self._publisher = node.create_publisher(Feedback, f"{namespace}/feedback", QoSProfile(depth=100))
        self._subscription = node.create_subscription(
            InteractiveMarkerUpdate, f"{namespace}/update", self._take, QoSProfile(depth=100))
        self.marker, self.shown = None, None
        self.foreign_in_drag, self._sent = 0, []  # what came during a drag and was no echo of its own pose
        self.dragging, self._requested = False, None

    def connected(self):
        return self._publisher.get_subscription_count() > 0 and self.marker is not None

    def colour(self):
        colour = next(c for c in self.marker.controls if c.name == "free").markers[0].color
        return tuple(round(v, 3) for v in (colour.r, colour.g, colour.b))

    def _take(self, update):
        for marker in update.markers:
            self.marker, self.shown = marker, marker.pose
            self.foreign_in_drag += self.dragging
        for pose in update.poses:
            self.foreign_in_drag += self.dragging and pose.pose not in self._sent
            if self.dragging:
                self._requested = pose.pose
            else:
                self.shown = pose.pose
        if update.erases:
            self.marker = None

    def send(self, event, pose=None, frame=None, entry=0):
        self._sent.append(self.shown if pose is None else pose)
        self._publisher.publish(Feedback(
            header=Header(frame_id=self.marker.header.frame_id if frame is None else frame), client_id=self._client,
            marker_name=self.marker.name, control_name="free", event_type=event, menu_entry_id=entry,
            pose=self.shown if pose is None else pose))

    def press(self):
        self.send(Feedback.POSE_UPDATE)
        self.send(Feedback.MOUSE_DOWN)
        self.dragging = True

    def move(self, pose, **kwargs):
        self.shown = pose
        self.send(Feedback.POSE_UPDATE, **kwargs)

    def release(self):
        self.send(Feedback.POSE_UPDATE)
        self.send(Feedback.MOUSE_UP)
        self.dragging = False
        if self._requested is not None:
            self.shown, self._requested = self._requested, None

    def choose(self, entry):
        self.send(Feedback.MENU_SELECT, entry=entry.number)
