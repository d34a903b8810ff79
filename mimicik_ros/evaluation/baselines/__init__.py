"""Classical solvers as baselines: each proposes a step inside the same tick as the model does."""
