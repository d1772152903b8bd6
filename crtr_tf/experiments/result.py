"""A figure or table of the paper: which tasks it needs, and how it is shown."""

import dataclasses
import pathlib
import shlex
from collections.abc import Callable
from typing import Any

from crtr_tf import version
from crtr_tf.experiments.lab import Lab, trained_by
from crtr_tf.experiments.page import Page
from crtr_tf.experiments.scales import Scale
from crtr_tf.experiments.tasks import Released, Run, Task

Key = tuple[Any, ...]
Plan = dict[Key, Task]
PlanFn = Callable[[Scale, int], Plan]
PresentFn = Callable[[dict[Key, Any], Lab], Page]


@dataclasses.dataclass(frozen=True)
class Result:
  """One result.

  Attributes:
    name: on the command line.
    title: a line.
    paper: what the paper reports, to be read beside ours.
    plan: the tasks at a scale, by keys of the result's own choice, for a number of seeds.
    present: the page, from the outcomes by key and the lab.
    command: that makes it, if that is not crtr-reproduce.
  """

  name: str
  title: str
  paper: str
  plan: PlanFn
  present: PresentFn
  command: str | None = None

  def reproduce(self, lab: Lab, num_seeds: int, out_dir: pathlib.Path) -> pathlib.Path:
    """Carries out what is not done yet and writes the page.

    Returns:
      its folder, below `out_dir`.
    """
    plan = self.plan(lab.scale, num_seeds)
    outcomes = {key: lab.outcome(task) for key, task in plan.items()}
    page = self.present(outcomes, lab)
    folder = out_dir / self.name
    page.write(folder, self._about(plan, lab, num_seeds))
    return folder

  def _about(self, plan: Plan, lab: Lab, num_seeds: int) -> dict[str, Any]:
    command = f"crtr-reproduce --result={self.name} --scale={lab.scale.name} --seeds={num_seeds}"
    trained = dict.fromkeys(map(trained_by, plan.values()))
    return {
      "name": self.name,
      "title": self.title,
      "paper": self.paper,
      "scale": lab.scale.name,
      "shrunk": lab.scale.shrunk,
      "seeds": num_seeds,
      "command": self.command or command,
      "runs": [
        {"name": lab.run_dir(run).name, "command": shlex.join(_portable(lab, run))}
        for run in trained
      ],
      "version": version.__version__,
    }


def _portable(lab: Lab, run: Run | Released) -> list[str]:
  """The command of a run with paths as seen from the lab's folder."""
  prefix = str(lab.directory.resolve()) + "/"
  return [part.replace(prefix, "").replace(f"{lab.directory}/", "") for part in lab.command(run)]
