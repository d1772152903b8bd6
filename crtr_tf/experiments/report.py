"""One self-contained HTML page of all results that have been run."""

import base64
import html
import json
import pathlib
from typing import Any

from crtr_tf.experiments.page import RESULT, find_results
from crtr_tf.training import run_directory

_STYLE = """
:root { color-scheme: light; --ink: #1d2430; --soft: #5b6472; --line: #dfe3ea; --accent: #0072b2; }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 68rem; padding: 1.5rem 1.25rem 4rem; color: var(--ink);
  font: 16px/1.55 system-ui, -apple-system, "Segoe UI", sans-serif; background: #fff; }
h1 { font-size: 1.7rem; line-height: 1.25; margin: 0 0 .4rem; }
h2 { font-size: 1.25rem; margin: 0 0 .3rem; }
p { margin: .4rem 0; }
a { color: var(--accent); }
nav ul { columns: 2; padding-left: 1.2rem; margin: .6rem 0 0; }
nav li { break-inside: avoid; margin: .15rem 0; }
section { border-top: 1px solid var(--line); margin-top: 2.2rem; padding-top: 1.4rem; }
.soft { color: var(--soft); font-size: .92rem; }
.paper { border-left: 3px solid var(--accent); padding: .1rem 0 .1rem .8rem; margin: .7rem 0; }
.table { overflow-x: auto; margin: .9rem 0; }
table { border-collapse: collapse; font-size: .93rem; font-variant-numeric: tabular-nums; }
caption { text-align: left; font-weight: 600; padding-bottom: .3rem; white-space: nowrap; }
th, td { border-bottom: 1px solid var(--line); padding: .3rem .9rem .3rem 0; text-align: left;
  white-space: nowrap; }
th { color: var(--soft); font-weight: 600; }
.figures { display: grid; gap: 1rem; grid-template-columns: repeat(auto-fit, minmax(19rem, 1fr)); }
figure { margin: 0; min-width: 0; }
figure.wide { grid-column: 1 / -1; }
img { max-width: 100%; height: auto; display: block; }
figcaption { color: var(--soft); font-size: .88rem; }
details { margin-top: .8rem; }
pre { overflow-x: auto; background: #f5f7fa; padding: .7rem; font-size: .8rem; border-radius: 4px; }
code { font-size: .9em; overflow-wrap: anywhere; }
@media (max-width: 40rem) { nav ul { columns: 1; } body { padding: 1rem .8rem 3rem; }
  h1 { font-size: 1.4rem; } .figures { grid-template-columns: 1fr; } }
"""

_WIDE = 900  # pixels; pictures of several panels


def write_report(results_dir: pathlib.Path, out_dir: pathlib.Path) -> pathlib.Path:
  """Collects the results below a folder into `out_dir`/index.html, without links to other files.

  Args:
    results_dir: with a folder for each result.
    out_dir: of the report.

  Raises:
    FileNotFoundError: if there is no result.
  """
  folders = find_results(results_dir)
  results = [(folder, json.loads((folder / RESULT).read_text())) for folder in folders]
  out_dir.mkdir(parents=True, exist_ok=True)
  page = out_dir / "index.html"
  run_directory.write_atomically(page, _document(results))
  return page


def _document(results: list[tuple[pathlib.Path, dict[str, Any]]]) -> str:
  entries = "".join(
    f'<li><a href="#{html.escape(result["name"])}">{html.escape(result["title"])}</a></li>'
    for _, result in results
  )
  scales = {result["scale"]: result["shrunk"] for _, result in results}
  notes = "".join(
    f'<p class="soft"><b>Scale “{html.escape(scale)}”.</b> {html.escape(shrunk)}</p>'
    for scale, shrunk in scales.items()
  )
  sections = "".join(_section(folder, result) for folder, result in results)
  return (
    '<!doctype html><html lang="en"><head><meta charset="utf-8">'
    '<meta name="viewport" content="width=device-width, initial-scale=1">'
    "<title>CRTR: results</title>"
    f"<style>{_STYLE}</style></head><body>"
    "<header><h1>Contrastive Representations for Temporal Reasoning: results</h1>"
    f'<p class="soft">{len(results)} result{"s"[: len(results) != 1]}, written by crtr_tf '
    f"{html.escape(results[0][1]['version'])}.</p>{notes}"
    f"<nav><ul>{entries}</ul></nav></header><main>{sections}</main></body></html>\n"
  )


def _section(folder: pathlib.Path, result: dict[str, Any]) -> str:
  seeds = f"{result['seeds']} seed{'s'[: result['seeds'] != 1]}"
  parts = [
    f"<h2>{html.escape(result['title'])}</h2>",
    f'<p class="paper"><b>The paper:</b> {html.escape(result["paper"])}</p>',
    *(f"<p>{html.escape(remark)}</p>" for remark in result["remarks"]),
    *(_table(table) for table in result["tables"]),
    f'<div class="figures">{"".join(_figure(folder, one) for one in result["figures"])}</div>',
    f'<p class="soft"><code>{html.escape(result["command"])}</code> · scale '
    f"{html.escape(result['scale'])} · {seeds}</p>",
  ]
  if result["runs"]:
    commands = "\n".join(run["command"] for run in result["runs"])
    parts.append(
      f"<details><summary>The {len(result['runs'])} trainings behind it</summary>"
      f"<pre>{html.escape(commands)}</pre></details>"
    )
  return f'<section id="{html.escape(result["name"])}">{"".join(parts)}</section>'


def _table(table: dict[str, Any]) -> str:
  head = "".join(f"<th>{html.escape(column)}</th>" for column in table["columns"])
  rows = "".join(
    "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>"
    for row in table["rows"]
  )
  caption = f"<caption>{html.escape(table['title'])}</caption>"
  return f'<div class="table"><table>{caption}<tr>{head}</tr>{rows}</table></div>'


def _figure(folder: pathlib.Path, one: dict[str, str]) -> str:
  content = (folder / one["file"]).read_bytes()
  image = base64.b64encode(content).decode()
  caption = html.escape(one["caption"])
  # The size of a PNG stands in its header: pictures of many panels take the whole width.
  width, height = (int.from_bytes(content[start : start + 4], "big") for start in (16, 20))
  kind = ' class="wide"' if width >= _WIDE else ""
  return (
    f'<figure{kind}><img alt="{caption}" width="{width}" height="{height}" '
    f'src="data:image/png;base64,{image}"><figcaption>{caption}</figcaption></figure>'
  )
