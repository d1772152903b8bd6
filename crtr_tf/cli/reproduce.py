r"""Reproduces figures and tables of the paper.

  crtr-reproduce --list
  crtr-reproduce --result=main_result
  crtr-reproduce --result=tsne_sokoban,correlation_sokoban --scale=cpu --seeds=3
  crtr-reproduce --report=report

What was trained once is kept in --work_dir and shared by all results; the same command goes on with
a reproduction that was stopped. --scale=paper is the paper's own, for A100s.
"""

import datetime
import pathlib
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from absl import flags

from crtr_tf.cli import common

if TYPE_CHECKING:
  from crtr_tf import experiments

_LIST = flags.DEFINE_bool("list", False, "Lists all results and stops.")
_RESULT = flags.DEFINE_list("result", [], "Results to reproduce, or 'all'.")
_SCALE = flags.DEFINE_enum("scale", "cpu", ["cpu", "paper", "tiny"], "How large everything is.")
_SEEDS = flags.DEFINE_integer("seeds", None, "Seeds of each run; by default the scale's.")
_WORK_DIR = flags.DEFINE_string("work_dir", "reproduction", "Folder for runs, data and results.")
_REPORT = flags.DEFINE_string("report", None, "Folder for one HTML page of all results so far.")
_MARKDOWN = flags.DEFINE_string("markdown", None, "Folder for the same as Markdown and pictures.")
_DRY_RUN = flags.DEFINE_bool(
  "dry_run", False, "Only says what would be done and how long it takes."
)


def main(argv: list[str]) -> None:
  del argv
  if not (_LIST.value or _RESULT.value or _REPORT.value or _MARKDOWN.value):
    raise ValueError("give --result=NAME, --report=FOLDER, --markdown=FOLDER or --list.")
  import tensorflow as tf

  from crtr_tf import experiments

  tf.get_logger().setLevel("ERROR")  # It warns of the many searches that are traced: one a model.
  if _LIST.value:
    for result in experiments.RESULTS.values():
      print(f"{result.name:<32} {result.title}")
    return
  names = list(experiments.RESULTS) if _RESULT.value == ["all"] else _RESULT.value
  unknown = [name for name in names if name not in experiments.RESULTS]
  if unknown:
    raise ValueError(f"there is no result {unknown[0]!r}; --list shows all of them.")
  scale = experiments.SCALES[_SCALE.value]
  num_seeds = scale.num_seeds if _SEEDS.value is None else _SEEDS.value
  if num_seeds < 1:
    raise ValueError(f"--seeds must be at least 1; got {num_seeds}.")
  work_dir = pathlib.Path(_WORK_DIR.value)
  results_dir = work_dir / "results" / scale.name
  lab = experiments.Lab(work_dir, scale, say=lambda line: print(line, file=sys.stderr, flush=True))
  if names:
    _announce([experiments.RESULTS[name] for name in names], lab, num_seeds)
  if _DRY_RUN.value:
    return
  for name in names:
    folder = experiments.RESULTS[name].reproduce(lab, num_seeds, results_dir)
    print(f"{experiments.tables_as_text(folder)}\n{name}: {folder}/result.json\n", flush=True)
  if _REPORT.value:
    print(f"report: {experiments.write_report(results_dir, pathlib.Path(_REPORT.value))}")
  if _MARKDOWN.value:
    print(f"Markdown: {experiments.write_markdown(results_dir, pathlib.Path(_MARKDOWN.value))}")


def _announce(
  results: Sequence["experiments.Result"], lab: "experiments.Lab", num_seeds: int
) -> None:
  """Says what is to be done and how long it will take."""
  tasks = [task for result in results for task in result.plan(lab.scale, num_seeds).values()]
  count, seconds = lab.estimate(tasks)
  if count:
    takes = datetime.timedelta(seconds=round(seconds))
    print(f"{count} trainings and searches to do, roughly {takes}.", file=sys.stderr)
  else:
    print("All trainings and searches are done already.", file=sys.stderr)


def run() -> None:
  """Entry point of the console script."""
  common.run(main)


if __name__ == "__main__":
  run()
