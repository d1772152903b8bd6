r"""A first look at the five puzzles: a training trajectory of each, checked and drawn.

crtr-quickstart --out_dir=quickstart_out
"""

import pathlib

import tensorflow as tf
from absl import app, flags

from crtr_tf import puzzles
from crtr_tf.puzzles import drawing

_OUT_DIR = flags.DEFINE_string("out_dir", "quickstart_out", "Folder that the pictures go to.")
_SEED = flags.DEFINE_integer("seed", 0, "Seed of the trajectories.")


def main(argv: list[str]) -> None:
  del argv
  out_dir = pathlib.Path(_OUT_DIR.value)
  out_dir.mkdir(parents=True, exist_ok=True)
  for name, puzzle_class in puzzles.PUZZLES.items():
    picture = out_dir / f"{name}.png"
    print(f"{name}\n{_show_trajectory(puzzle_class(), _SEED.value, picture)}\n", flush=True)
  print(f"Pictures of all solutions are in {out_dir}/.")


def _show_trajectory(puzzle: puzzles.Puzzle, seed: int, picture: pathlib.Path) -> str:
  """Makes one trajectory, replays its plan, draws it, and returns instance and plan as text."""
  states, actions, lengths = puzzle.trajectories(seed, tf.zeros([1], tf.int64))
  length = int(lengths[0])
  start, plan = states[0, 0].numpy(), actions[0, : length - 1].numpy().tolist()
  replayed = puzzles.replay(puzzle, start, plan)
  if not puzzle.is_solved(replayed[-1:]).numpy().all():
    raise AssertionError(f"the training plan of {puzzle.name} does not solve its instance.")
  drawing.draw_solution(puzzle, states[0, :length].numpy(), plan).savefig(picture, dpi=100)
  instance = puzzle.format_instance(start)
  return f"{instance}\nsolved in {len(plan)} moves: {puzzle.format_plan(start, plan)}"


def run() -> None:
  """Entry point of the console script."""
  app.run(main)


if __name__ == "__main__":
  run()
