"""A client of openpi policy servers: wire format, connection, observation out, actions in as poses. The node is in examples/."""
