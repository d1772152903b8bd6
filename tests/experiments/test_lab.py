"""What was done once is not done again, and what was stopped goes on."""

import dataclasses
import pathlib

import numpy as np
import pytest

from crtr_tf import configs, experiments
from crtr_tf.experiments import lab as labs
from crtr_tf.experiments import page, scales, tasks

TINY = experiments.SCALES["tiny"]
RUN = tasks.Run("lights_out", "crtr")
SEARCH = tasks.Search(RUN)


class Told(list):
  """Remembers what a lab says."""

  def __call__(self, line: str) -> None:
    self.append(line)


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
  return tmp_path_factory.mktemp("lab")


def test_outcomes_are_kept_and_shared(directory: pathlib.Path):
  told = Told()
  lab = experiments.Lab(directory, TINY, told, in_process=True)
  assert not lab.is_done(SEARCH)
  first = lab.outcome(SEARCH)
  assert [line.split()[0] for line in told] == ["searching", "training"]
  assert lab.is_done(RUN) and lab.is_done(SEARCH)
  again = experiments.Lab(directory, TINY, told, in_process=True)
  second = again.outcome(SEARCH)
  assert len(told) == 2  # Nothing was done.
  assert np.array_equal(first.solved, second.solved) and np.array_equal(first.nodes, second.nodes)
  assert first.fingerprint == second.fingerprint
  # The same instances with another search: the run is shared.
  again.outcome(tasks.Search(RUN, (("solver", "greedy"),)))
  assert [line.split()[0] for line in told] == ["searching", "training", "searching"]


def test_what_a_task_depends_on_decides_where_it_is_kept(directory: pathlib.Path):
  lab = experiments.Lab(directory, TINY)
  places = {
    lab.path(task)
    for task in (
      RUN,
      dataclasses.replace(RUN, seed=1),
      dataclasses.replace(RUN, bindings=("ContrastiveMethod.discount = 0.5",)),
      SEARCH,
      tasks.Search(RUN, (("budget", 7),)),
      tasks.Search(RUN, difficulty=(("trajectory_moves", 3),)),
      tasks.Measure(RUN),
    )
  }
  assert len(places) == 7
  more = experiments.Lab(directory, dataclasses.replace(TINY, num_instances=9))
  assert more.path(SEARCH) != lab.path(SEARCH) and more.path(RUN) == lab.path(RUN)


def test_a_run_is_known_by_all_of_its_configuration(
  tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
):
  before = experiments.Lab(tmp_path, TINY).run_dir(RUN)
  assert experiments.Lab(tmp_path, TINY).run_dir(RUN) == before
  monkeypatch.chdir(tmp_path)  # where a file of the same name comes first
  changed = tmp_path / "gin" / "training" / "crtr.gin"
  changed.parent.mkdir(parents=True)
  text = (configs.config_root() / "gin/training/crtr.gin").read_text()
  changed.write_text(text.replace("discount = 0.9", "discount = 0.7") + "\n# A comment.\n")
  sokoban = tasks.Run("sokoban", "crtr")  # Lights Out has a discount of its own.
  ours = experiments.Lab(tmp_path, TINY).run_dir(sokoban)
  changed.write_text(text + "\n# A comment.\n")
  assert experiments.Lab(tmp_path, TINY).run_dir(sokoban) != ours
  assert experiments.Lab(tmp_path, TINY).run_dir(RUN) == before


def test_an_estimate_counts_what_is_missing(directory: pathlib.Path, tmp_path: pathlib.Path):
  lab = experiments.Lab(tmp_path, TINY)
  other = tasks.Search(RUN, (("budget", 7),))
  count, seconds = lab.estimate([SEARCH, other])
  assert count == 3  # one training and two searches
  assert seconds == TINY.run_seconds + 2 * TINY.search_seconds


def test_a_command_trains_what_the_lab_trains(tmp_path: pathlib.Path):
  command = experiments.Lab(tmp_path, TINY).command(tasks.Run("n_puzzle", "random", 3))
  assert command[0] == "crtr-train"
  assert "--gin_file=gin/training/random.gin" in command
  assert command[-1] == "--gin_bindings=train.seed = 3"


@pytest.mark.parametrize("scale", experiments.SCALES.values(), ids=lambda scale: scale.name)
def test_every_scale_has_a_size_for_every_puzzle(scale: scales.Scale):
  for puzzle in ("rubiks_cube", "sokoban", "n_puzzle", "lights_out", "digit_jumper"):
    assert scale.settings(puzzle)["budget"] >= 1
  assert scale.settings("lights_out")["top_k"] == 10
  assert scale.shrunk


def test_a_page_is_written_whole_or_not_at_all(tmp_path: pathlib.Path):
  class Broken:
    def savefig(self, *args: object, **kwargs: object) -> None:
      raise OSError("no space left")

  page.Page(remarks=["old"]).write(tmp_path / "result", {"name": "result"})
  with pytest.raises(OSError, match="no space left"):
    page.Page(figures={"x": (Broken(), "")}).write(tmp_path / "result", {"name": "result"})
  assert "old" in (tmp_path / "result" / "result.json").read_text()


@pytest.mark.parametrize(
  ("values", "text"),
  [
    ([], "–"),
    ([None], "–"),
    ([0.5], "0.50"),
    ([1.0, 0.0, 0.5], "0.50 ± 0.29"),
    ([1.0, None], "1.00"),
  ],
)
def test_means_come_with_their_standard_error(values: list[float | None], text: str):
  assert page.mean_and_error(values) == text


def test_tasks_are_described_in_a_line():
  task = tasks.Search(tasks.Run("sokoban", "crl", 2, ("a = 1",)), (("solver", "greedy"),))
  text = labs.describe(task)
  assert text == "searching with crl for sokoban, seed 2 (a = 1) {'solver': 'greedy'}"
  assert labs.describe(tasks.Measure(tasks.Released("sokoban", "crl"))) == (
    "measuring the released sokoban_crl"
  )
