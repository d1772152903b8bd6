"""Figures that share one look: the same method has the same colour in all of them.

Figures are objects to be saved with `savefig`; nothing is shown and no global state is touched.
"""

import math
from collections.abc import Mapping, Sequence

import matplotlib as mpl
import numpy as np
from matplotlib import axes as mpl_axes
from matplotlib import figure, ticker

from crtr_tf.evaluation.curves import Curve
from crtr_tf.evaluation.lengths import length_histogram
from crtr_tf.evaluation.representations import TrajectoryPoints

# Colours that are told apart with any colour vision (Okabe and Ito 2008), and by their lines too.
_METHODS = {  # name of the method: label, colour, line style
  "crtr": ("CRTR", "#0072B2", "-"),
  "crl": ("CRL", "#D55E00", "--"),
  "supervised": ("Supervised", "#009E73", "-."),
  "davi": ("DeepCubeA", "#CC79A7", (0, (5, 1, 1, 1, 1, 1))),
  "random": ("Random", "#7F7F7F", ":"),
}
_OTHER_COLOURS = ("#E69F00", "#56B4E9", "#000000", "#8C6D31", "#6A3D9A")
_LABEL_SIZE, _TICK_SIZE, _TITLE_SIZE = 11, 10, 11
_PROGRESS_MAP = "viridis"


def label(name: str) -> str:
  """How a method is written in legends; other names stay as they are."""
  return _METHODS[name.lower()][0] if name.lower() in _METHODS else name


def colours(names: Sequence[str]) -> dict[str, str]:
  """A colour for each name: methods have their own, others take what is left, in order."""
  others = [name for name in names if name.lower() not in _METHODS]
  rest = {name: _OTHER_COLOURS[i % len(_OTHER_COLOURS)] for i, name in enumerate(others)}
  return {name: rest.get(name) or _METHODS[name.lower()][1] for name in names}


def new_axes(width: float = 5, height: float = 3.6) -> mpl_axes.Axes:
  """Axes alone in a new figure (`.figure`), of a size in inches."""
  ax = figure.Figure(figsize=(width, height), layout="constrained").subplots()
  _simplify(ax)
  return ax


def name_axes(ax: mpl_axes.Axes, x_label: str, y_label: str) -> None:
  """Labels the two axes."""
  ax.set_xlabel(x_label, fontsize=_LABEL_SIZE)
  ax.set_ylabel(y_label, fontsize=_LABEL_SIZE)


def draw_curves(
  curves: Mapping[str, Curve],
  x_label: str,
  y_label: str,
  markers: bool = False,
  steps: bool = False,
) -> figure.Figure:
  """Lines with their bands, one for each name.

  Args:
    curves: by method, or any other name.
    x_label, y_label: of the axes.
    markers: marks the points, where lines between them are no more than a guide to the eye.
    steps: a value holds until the next point.
  """
  ax = new_axes()
  colour_of = colours(list(curves))
  for name, curve in curves.items():
    style = _METHODS[name.lower()][2] if name.lower() in _METHODS else "-"
    ax.plot(
      *(curve.at, curve.values),
      linestyle=style,
      color=colour_of[name],
      label=label(name),
      linewidth=1.8,
      marker="o" if markers else None,
      markersize=4,
      drawstyle="steps-post" if steps else "default",
    )
    ax.fill_between(
      *(curve.at, curve.low, curve.high),
      color=colour_of[name],
      alpha=0.15,
      linewidth=0,
      step="post" if steps else None,
    )
  name_axes(ax, x_label, y_label)
  _add_legend(ax, len(curves))
  return ax.figure


def draw_success(curves: Mapping[str, Curve]) -> figure.Figure:
  """The share solved against the budget, see `curves.success_curve`."""
  fig = draw_curves(curves, "search budget (nodes)", "problems solved", markers=True)
  ax = fig.axes[0]
  ax.set_xscale("log")
  first, last = ax.get_xlim()
  labelled = (1, 2, 5) if last < 100 * first else (1,)
  ax.xaxis.set_major_locator(ticker.LogLocator(subs=labelled))
  ax.xaxis.set_major_formatter(ticker.FuncFormatter(lambda value, _: f"{value:,.0f}"))
  ax.xaxis.set_minor_formatter(ticker.NullFormatter())
  _share_axis(ax)
  return fig


def draw_solved_by_length(curves: Mapping[str, Curve]) -> figure.Figure:
  """The share solved by plans of at most a length, see `curves.length_curve`.

  Every curve is drawn on to the longest plan of all: no more problems are solved there.
  """
  end = max(curve.at[-1] for curve in curves.values())
  extended = {
    name: Curve(np.append(curve.at, end), *(np.append(line, line[-1]) for line in curve[1:]))
    for name, curve in curves.items()
  }
  fig = draw_curves(extended, "plan length (moves)", "problems solved", steps=True)
  fig.axes[0].set_xlim(left=0)
  _share_axis(fig.axes[0])
  return fig


def draw_length_histograms(lengths: Mapping[str, np.ndarray], most_bins: int = 30) -> figure.Figure:
  """How often plans have a length: a panel for each name, one above the other, with equal bins.

  Args:
    lengths: by name, [P] lengths of the plans of solved problems.
    most_bins: see `lengths.length_histogram`.
  """
  fig = figure.Figure(figsize=(5, 1.2 + 1.3 * len(lengths)), layout="constrained")
  panels = fig.subplots(len(lengths), 1, sharex=True, sharey=True, squeeze=False)[:, 0]
  together = np.concatenate(list(lengths.values()))
  _, edges = length_histogram(together, np.ones(len(together), bool), most_bins)
  colour_of = colours(list(lengths))
  for ax, (name, plans) in zip(panels, lengths.items(), strict=True):
    _simplify(ax)
    counts, _ = np.histogram(plans, edges)
    ax.stairs(counts, edges, fill=True, alpha=0.75, color=colour_of[name])
    ax.yaxis.set_major_locator(ticker.MaxNLocator(nbins=4, integer=True))
    ax.set_title(f"{label(name)}: {len(plans)} plans", fontsize=_TICK_SIZE, loc="right", y=0.8)
  panels[-1].set_xlabel("plan length (moves)", fontsize=_LABEL_SIZE)
  fig.supylabel("plans", fontsize=_LABEL_SIZE)
  return fig


def draw_distance_profiles(
  profiles: Mapping[str, Curve], y_label: str = "latent distance to the last state"
) -> figure.Figure:
  """Distance against time, raw or normalised, see `temporal.distance_profile`."""
  return draw_curves(profiles, "steps left", y_label)


def draw_mutual_information(estimates: Mapping[str, Mapping[int, float]]) -> figure.Figure:
  """I(X; X+ | C) by number of neighbours, see `mutual_information.representation_cmi`."""
  curves = {}
  for name, by_k in estimates.items():
    ks = np.array(sorted(by_k))
    values = np.array([by_k[k] for k in ks])
    curves[name] = Curve(ks, values, values, values)
  fig = draw_curves(curves, "neighbours k", "I(X; X⁺ | C)  (nats)", markers=True)
  ax = fig.axes[0]
  ax.set_xticks(sorted(set().union(*estimates.values())))
  ax.set_ylim(bottom=min(0, ax.get_ylim()[0]))
  return fig


def draw_projection(flat: TrajectoryPoints) -> figure.Figure:
  """Points [N, 2] in two panels, coloured by trajectory and by progress."""
  fig = figure.Figure(figsize=(9, 4), layout="constrained")
  left, right = fig.subplots(1, 2)
  _draw_by_trajectory(left, flat)
  _draw_by_progress([right], [flat])
  left.set_title("coloured by trajectory", fontsize=_TITLE_SIZE)
  right.set_title("coloured by progress", fontsize=_TITLE_SIZE)
  return fig


def draw_projections(projections: Mapping[str, TrajectoryPoints]) -> figure.Figure:
  """Models side by side: a column for each, by trajectory above and by progress below."""
  fig = figure.Figure(figsize=(4.2 * len(projections) + 0.6, 8), layout="constrained")
  above, below = fig.subplots(2, len(projections), squeeze=False)
  for ax, (name, flat) in zip(above, projections.items(), strict=True):
    _draw_by_trajectory(ax, flat)
    ax.set_title(label(name), fontsize=_TITLE_SIZE + 2)
  _draw_by_progress(below, list(projections.values()))
  above[0].set_ylabel("coloured by trajectory", fontsize=_LABEL_SIZE)
  below[0].set_ylabel("coloured by progress", fontsize=_LABEL_SIZE)
  return fig


def _draw_by_trajectory(ax: mpl_axes.Axes, flat: TrajectoryPoints) -> None:
  """Points [N, 2] joined in the order of time, one colour for each trajectory."""
  num = int(flat.owners.max()) + 1
  for trajectory, colour in enumerate(_distinct_colours(num)):
    x, y = flat.points[flat.owners == trajectory].T
    ax.plot(x, y, color=colour, linewidth=0.7, alpha=0.5, zorder=1)
    ax.scatter(x, y, s=9, color=[colour], linewidths=0, zorder=2)
  _mark_ends(ax, flat)
  # Below the points, where no cluster can hide behind it.
  ax.legend(
    fontsize=_TICK_SIZE, frameon=False, ncols=2, loc="upper center", bbox_to_anchor=(0.5, 0)
  )


def _draw_by_progress(
  panels: Sequence[mpl_axes.Axes], projections: Sequence[TrajectoryPoints]
) -> None:
  """Points [N, 2] coloured from the first state of a trajectory to the last, with one bar."""
  for ax, flat in zip(panels, projections, strict=True):
    drawn = ax.scatter(
      *flat.points.T, c=flat.progress, cmap=_PROGRESS_MAP, vmin=0, vmax=1, s=9, linewidths=0
    )
    _mark_ends(ax, flat)
  bar = panels[-1].figure.colorbar(drawn, ax=panels[-1], ticks=[0, 1], pad=0.02)
  bar.ax.set_yticklabels(["start", "end"], fontsize=_TICK_SIZE)


def _mark_ends(ax: mpl_axes.Axes, flat: TrajectoryPoints) -> None:
  first, last = flat.points[flat.progress == 0], flat.points[flat.steps_left == 0]
  edge = {"linewidths": 0.6, "edgecolors": "black", "zorder": 3}
  ax.scatter(*first.T, marker="o", s=16, facecolors="white", label="start", **edge)
  ax.scatter(*last.T, marker="*", s=48, facecolors="#F0E442", label="end", **edge)
  ax.set_xticks([])
  ax.set_yticks([])


def _distinct_colours(num: int) -> np.ndarray:
  """[num, 4] colours: of a hand-made list that is long enough, or else of a rainbow."""
  for name in ("tab10", "tab20"):
    listed = mpl.colormaps[name]
    if num <= listed.N:
      return listed(np.arange(num))
  return mpl.colormaps["turbo"](np.linspace(0, 1, num))


def _simplify(ax: mpl_axes.Axes) -> None:
  ax.tick_params(labelsize=_TICK_SIZE)
  ax.spines[["top", "right"]].set_visible(False)
  ax.grid(alpha=0.25, linewidth=0.6)


def _add_legend(ax: mpl_axes.Axes, num: int) -> None:
  ax.legend(fontsize=_TICK_SIZE, frameon=False, ncols=math.ceil(num / 6), handlelength=2.6)


def _share_axis(ax: mpl_axes.Axes) -> None:
  ax.set_ylim(-0.02, 1.02)
  ax.yaxis.set_major_formatter(ticker.PercentFormatter(1, decimals=0))


def draw_grid(
  values: np.ndarray, rows: Sequence[object], columns: Sequence[object], y_label: str, x_label: str
) -> figure.Figure:
  """Shares [rows, columns] as shades, each written in its cell."""
  size = (1.6 + 0.9 * len(columns), 1.4 + 0.6 * len(rows))
  ax = figure.Figure(figsize=size, layout="constrained").subplots()
  ax.imshow(values, vmin=0, vmax=1, cmap="Blues", aspect="auto")
  for (row, column), value in np.ndenumerate(values):
    colour = "white" if value > 0.6 else "black"
    ax.text(column, row, f"{value:.2f}", ha="center", va="center", color=colour)
  ax.set_xticks(range(len(columns)), [str(column) for column in columns])
  ax.set_yticks(range(len(rows)), [str(row) for row in rows])
  name_axes(ax, x_label, y_label)
  return ax.figure
