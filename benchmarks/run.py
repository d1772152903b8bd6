r"""Measures speed and checks the goals: prints a table, writes JSON.

  python -m benchmarks.run --out=bench.json

Exits with 1 if a goal is missed.
"""

import json
import pathlib
import sys

from absl import app, flags

from benchmarks import (
  data_speed,
  measure,
  model_speed,
  puzzle_speed,
  search_speed,
  training_speed,
)

_OUT = flags.DEFINE_string("out", "bench.json", "Where the measurements are written as JSON.")
GROUPS = {
  "puzzles": puzzle_speed.measurements,
  "data": data_speed.measurements,
  "models": model_speed.measurements,
  "training": training_speed.measurements,
  "search": search_speed.measurements,
}

_ONLY = flags.DEFINE_list("only", [], f"Groups to measure, from {sorted(GROUPS)}; all if empty.")


def main(argv: list[str]) -> None:
  del argv
  unknown = set(_ONLY.value) - set(GROUPS)
  if unknown:
    sys.exit(f"unknown benchmark group {sorted(unknown)}; there are {sorted(GROUPS)}.")
  rows = measure.machine_facts()
  for group, function in GROUPS.items():
    if not _ONLY.value or group in _ONLY.value:
      print(f"measuring {group} ...", file=sys.stderr)
      for row in function():
        rows.append(row)
        print(_line(row), flush=True)
  out = pathlib.Path(_OUT.value)
  partial = out.with_name(out.name + ".partial")
  partial.write_text(json.dumps([row.as_json() for row in rows], indent=2) + "\n")
  partial.replace(out)
  missed = [row.name for row in rows if row.holds is False]
  print(
    f"written to {out}; " + (f"goals missed: {', '.join(missed)}" if missed else "all goals hold")
  )
  sys.exit(1 if missed else 0)


def _line(row: measure.Measurement) -> str:
  verdict = "" if row.goal is None else f"goal {row.goal}: {'holds' if row.holds else 'MISSED'}"
  return f"{row.name:<48} {row.value:>12} {row.unit:<18} {verdict}"


if __name__ == "__main__":
  app.run(main)
