"""The browser page of `mimicik web`: scene, handle, panel, the ROS side and the gate in front of it (docs/web.md)."""
