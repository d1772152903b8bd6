"""The flags that say how to search, shared by all binaries that do."""

from typing import Any

from absl import flags

_SOLVER = flags.DEFINE_enum(
  "solver",
  None,
  ["bestfs", "astar", "greedy", "beam"],
  "The search; by default the one recommended for the model.",
)
_BUDGET = flags.DEFINE_integer("budget", None, "Nodes to create for an instance (bestfs, astar).")
_ALPHA = flags.DEFINE_string(
  "alpha",
  None,
  "Weight of the depth in A*, in units of the model's distance; 'auto' takes both in steps.",
)
_WEIGHT = flags.DEFINE_float(
  "weight", None, "Of the distance against the depth, with --alpha=auto; more is greedier."
)
_TOP_K = flags.DEFINE_integer("top_k", None, "Children kept of a node (bestfs, astar); 0 for all.")
_EXPAND_BATCH = flags.DEFINE_integer(
  "expand_batch", None, "Nodes of an instance expanded at once (bestfs, astar); 1 is the paper's."
)
_BEAM_WIDTH = flags.DEFINE_integer("beam_width", None, "States of a layer (beam).")
_MAX_STEPS = flags.DEFINE_integer("max_steps", None, "Moves of a walk (greedy), layers (beam).")
_SYMMETRIES = flags.DEFINE_integer(
  "symmetries", None, "Turned and mirrored views that a distance is averaged over; 1 for none."
)

_USED_BY = {
  "budget": ("bestfs", "astar"),
  "alpha": ("astar",),
  "weight": ("astar",),
  "top_k": ("bestfs", "astar"),
  "expand_batch": ("bestfs", "astar"),
  "beam_width": ("beam",),
  "max_steps": ("greedy", "beam"),
  "symmetries": ("bestfs", "astar", "greedy", "beam"),
}


def given() -> dict[str, Any]:
  """The settings that the command line names, for `export.SolverSettings`.

  Raises:
    ValueError: if a value makes no sense.
  """
  values = {
    "solver": _SOLVER.value,
    "budget": _BUDGET.value,
    "alpha": _parse_alpha(_ALPHA.value),
    "weight": _WEIGHT.value,
    "expand_batch": _EXPAND_BATCH.value,
    "beam_width": _BEAM_WIDTH.value,
    "max_steps": _MAX_STEPS.value,
    "symmetries": _SYMMETRIES.value,
  }
  settings = {name: value for name, value in values.items() if value is not None}
  if _TOP_K.value is not None:
    settings["top_k"] = _TOP_K.value or None
  if "alpha" in settings and "solver" not in settings:
    settings["solver"] = "astar"  # Nothing else has one.
  return settings


def check_used(settings: dict[str, Any], solver: str) -> None:
  """Refuses settings of another search than `solver`: they would do nothing.

  Raises:
    ValueError: with the first of them.
  """
  for name in settings:
    if name != "solver" and solver not in _USED_BY[name]:
      raise ValueError(
        f"--{name} is for {' and '.join(_USED_BY[name])}; the search is {solver}, see --solver."
      )


def _parse_alpha(text: str | None) -> float | str | None:
  if text is None or text == "auto":
    return text
  try:
    return float(text)
  except ValueError:
    raise ValueError(f"--alpha must be a number or 'auto'; got {text!r}.") from None
