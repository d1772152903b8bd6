"""Command lines: thin absl binaries, the only modules that know flags."""
