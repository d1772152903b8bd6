"""The paper's figures and tables, each as runs and one page.

>>> lab = experiments.Lab(pathlib.Path("reproduction"), experiments.SCALES["cpu"])
>>> experiments.RESULTS["main_result"].reproduce(lab, num_seeds=1, out_dir=...)
"""

from crtr_tf.experiments import (
  ablation_results,
  example_results,
  grid_results,
  parity_results,
  released_results,
  representation_results,
  success_results,
)
from crtr_tf.experiments.lab import Lab
from crtr_tf.experiments.markdown import write_markdown
from crtr_tf.experiments.page import tables_as_text
from crtr_tf.experiments.report import write_report
from crtr_tf.experiments.result import Result
from crtr_tf.experiments.scales import SCALES, Scale

RESULTS: dict[str, Result] = {
  result.name: result
  for module in (
    success_results,
    representation_results,
    ablation_results,
    grid_results,
    example_results,
    released_results,
    parity_results,
  )
  for result in module.RESULTS
}

__all__ = [
  "RESULTS",
  "SCALES",
  "Lab",
  "Result",
  "Scale",
  "tables_as_text",
  "write_markdown",
  "write_report",
]
