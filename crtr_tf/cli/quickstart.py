r"""The idea of the paper in minutes: from trajectories to solved boards of Digit Jumper.

  crtr-quickstart --out_dir=quickstart_out

Builds a dataset with TFDS, trains CRTR and CRL on it for the same number of steps, exports both,
solves boards that neither has seen, and writes a report. The same command goes on where it was
stopped.
"""

import pathlib
import sys
import time

from absl import flags

from crtr_tf.cli import common

_OUT_DIR = flags.DEFINE_string("out_dir", "quickstart_out", "Folder for everything.")
_SCALE = flags.DEFINE_enum(
  "scale", "quickstart", ["quickstart", "tiny"], "tiny only shows that it runs."
)


def main(argv: list[str]) -> None:
  del argv
  start = time.monotonic()

  def say(line: str) -> None:
    print(f"[{time.monotonic() - start:4.0f} s] {line}", file=sys.stderr, flush=True)

  say("starting TensorFlow ...")
  from crtr_tf import experiments
  from crtr_tf.experiments import quickstart, tasks

  scales = {"quickstart": quickstart.SCALE, "tiny": quickstart.TINY_SCALE}
  out_dir = pathlib.Path(_OUT_DIR.value)
  lab = experiments.Lab(out_dir, scales[_SCALE.value], say)
  folder = quickstart.RESULT.reproduce(lab, num_seeds=1, out_dir=out_dir / "results")
  report = experiments.write_report(out_dir / "results", out_dir / "report")
  say("done.")
  print(experiments.tables_as_text(folder))
  model = lab.path(tasks.Run(quickstart.PUZZLE, "crtr"))
  print(
    f"""
Report with pictures:  {report}
Trained model:         {model}

What to try next:
  crtr-solve --model={model} --instances=- --draw=pictures   # boards as text, row/row/...
  crtr-evaluate --model={model} --num_instances=1000
  crtr-reproduce --list                                      # the paper's figures and tables"""
  )


def run() -> None:
  """Entry point of the console script."""
  common.run(main)


if __name__ == "__main__":
  run()
