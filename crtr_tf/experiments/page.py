"""The outcome of a result: tables, figures and numbers, as files that the report collects."""

import dataclasses
import json
import pathlib
import shutil
from typing import Any

from matplotlib import figure

from crtr_tf.training import run_directory

RESULT = "result.json"


@dataclasses.dataclass
class Table:
  """Rows of text and numbers under a title."""

  title: str
  columns: list[str]
  rows: list[list[str]]


@dataclasses.dataclass
class Page:
  """What a result shows.

  Attributes:
    tables: in the order in which they are shown.
    figures: by file name without suffix, with the caption.
    numbers: all that tables and figures are made of, JSON-able.
    remarks: sentences on what came out, in particular where it differs from the paper.
  """

  tables: list[Table] = dataclasses.field(default_factory=list)
  figures: dict[str, tuple[figure.Figure, str]] = dataclasses.field(default_factory=dict)
  numbers: dict[str, Any] = dataclasses.field(default_factory=dict)
  remarks: list[str] = dataclasses.field(default_factory=list)

  def write(self, folder: pathlib.Path, about: dict[str, Any]) -> None:
    """Writes result.json and the figures, all or nothing.

    Args:
      folder: of the result; replaced.
      about: what else goes into the file: title, scale, runs.
    """
    partial = folder.with_name(folder.name + ".partial")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    for name, (fig, _) in self.figures.items():
      fig.savefig(partial / f"{name}.png", dpi=120)
    record = {
      **about,
      "tables": [dataclasses.asdict(table) for table in self.tables],
      "figures": [
        {"file": f"{name}.png", "caption": caption} for name, (_, caption) in self.figures.items()
      ],
      "numbers": self.numbers,
      "remarks": self.remarks,
    }
    run_directory.write_atomically(partial / RESULT, json.dumps(record, indent=2) + "\n")
    shutil.rmtree(folder, ignore_errors=True)
    partial.rename(folder)


def find_results(results_dir: pathlib.Path) -> list[pathlib.Path]:
  """The folders of all results that have been written below a folder.

  Raises:
    FileNotFoundError: if there is none.
  """
  folders = sorted(path.parent for path in results_dir.glob(f"*/{RESULT}"))
  if not folders:
    raise FileNotFoundError(
      f"{results_dir} holds no results yet; run one with crtr-reproduce --result=NAME."
    )
  return folders


def number(value: float | None, digits: int = 2) -> str:
  """For tables: a dash where there is none."""
  return "–" if value is None else f"{value:.{digits}f}"


def mean_and_error(values: list[float | None], digits: int = 2) -> str:
  """Mean over seeds, with the standard error where there are several."""
  known = [value for value in values if value is not None]
  if not known:
    return number(None)
  mean = sum(known) / len(known)
  if len(known) == 1:
    return number(mean, digits)
  variance = sum((value - mean) ** 2 for value in known) / (len(known) - 1)
  return f"{mean:.{digits}f} ± {(variance / len(known)) ** 0.5:.{digits}f}"


def tables_as_text(folder: pathlib.Path) -> str:
  """The tables of a written page, in columns for a terminal."""
  blocks = []
  for table in json.loads((folder / RESULT).read_text())["tables"]:
    lines = [table["columns"], *table["rows"]]
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    text = [
      "  ".join(cell.ljust(w) for cell, w in zip(line, widths, strict=True)) for line in lines
    ]
    blocks.append("\n".join([table["title"], *(line.rstrip() for line in text)]))
  return "\n\n".join(blocks)
