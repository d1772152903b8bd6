"""How many lanes fit into memory; asked before anything is allocated."""

import logging
import os

_SHARE = 0.5  # of the free memory, unless a limit is given
_UNITS = ("B", "KB", "MB", "GB", "TB")


def lanes_that_fit(num_lanes: int, lane_bytes: int, limit: int | None, what: str) -> int:
  """The number of lanes to use: as asked for, or fewer if memory is short.

  Args:
    num_lanes: how many are asked for.
    lane_bytes: memory that one of them needs.
    limit: bytes that all of them may use; None for half of what this machine has free now (on an
      accelerator, give the limit).
    what: describes the search in messages.

  Raises:
    ValueError: if not even one lane fits.
  """
  if limit is None:
    limit = int(_SHARE * free_bytes())
  fitting = limit // lane_bytes
  if fitting < 1:
    raise ValueError(
      f"{what} needs {readable(lane_bytes)} for a single problem; the memory limit is "
      f"{readable(limit)}."
    )
  if fitting < num_lanes:
    logging.warning(
      "%s: %d problems at once need %s (%s each), the memory limit is %s; searching %d at once.",
      what,
      num_lanes,
      readable(num_lanes * lane_bytes),
      readable(lane_bytes),
      readable(limit),
      fitting,
    )
  return min(num_lanes, fitting)


def free_bytes() -> int:
  """Memory of this machine that programs can still have."""
  try:
    with open("/proc/meminfo") as lines:
      for line in lines:
        if line.startswith("MemAvailable:"):
          return int(line.split()[1]) * 1024
  except OSError:
    pass  # Not Linux.
  return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def readable(num_bytes: int) -> str:
  """1536 -> '1.5 KB'."""
  value, unit = float(num_bytes), 0
  while value >= 1024 and unit < len(_UNITS) - 1:
    value, unit = value / 1024, unit + 1
  return f"{value:.1f} {_UNITS[unit]}"
