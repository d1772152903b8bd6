"""Speed measurements: every goal is a ratio of two things measured in the same run."""
