"""Checks of arguments: the messages name the argument, the rule and the value."""

import math


def at_least(least: int, **arguments: int) -> None:
  """Raises ValueError if one of the named arguments is less than `least` or not an integer."""
  for name, value in arguments.items():
    if isinstance(value, bool) or int(value) != value or value < least:
      raise ValueError(f"{name} must be an integer of at least {least}; got {value!r}.")


def not_negative(**arguments: float) -> None:
  for name, value in arguments.items():
    if not (value >= 0 and math.isfinite(value)):
      raise ValueError(f"{name} must be a finite number of at least 0; got {value!r}.")


def nodes_fit(num_nodes: int, num_actions: int) -> None:
  """A node and an action are stored as one int32."""
  if num_nodes * num_actions >= 1 << 31:
    raise ValueError(
      f"nodes times actions must be below 2^31 = {1 << 31}; got {num_nodes} and {num_actions}."
    )
