"""Figures show the numbers they were given, and a method always looks the same."""

import io

import numpy as np
import pytest
from matplotlib import colors, figure

from crtr_tf.evaluation import curves, plots, representations
from tests.evaluation.toy_trajectories import counting

METHODS = ["crtr", "crl", "supervised", "davi", "random"]


def curve(*values: float) -> curves.Curve:
  values = np.array(values)
  return curves.Curve(10 ** np.arange(1, len(values) + 1), values, values - 0.1, values + 0.1)


def saves(fig: figure.Figure) -> bool:
  file = io.BytesIO()
  fig.savefig(file, format="png")
  return len(file.getvalue()) > 1000


def legend_of(fig: figure.Figure) -> list[str]:
  return [text.get_text() for text in fig.axes[0].get_legend().get_texts()]


def test_methods_keep_their_colour_and_others_get_different_ones():
  together = plots.colours([*METHODS, "hamming", "CRTR R=4"])
  assert len(set(together.values())) == 7
  for method in METHODS:
    assert plots.colours([method])[method] == together[method]
  assert plots.colours(["CRTR"])["CRTR"] == together["crtr"]


def test_all_methods_fit_in_one_figure():
  fig = plots.draw_success({method: curve(0.2, 0.4) for method in METHODS})
  assert legend_of(fig) == ["CRTR", "CRL", "Supervised", "DeepCubeA", "Random"]
  assert saves(fig)


def test_success_curves_with_their_bands():
  given = {"crl": curve(0.2, 0.4, 0.8), "crtr": curve(0.3, 0.5, 0.9)}
  fig = plots.draw_success(given)
  ax = fig.axes[0]
  for line, band, (name, one) in zip(ax.lines, ax.collections, given.items(), strict=True):
    np.testing.assert_array_equal(line.get_xdata(), one.at)
    np.testing.assert_array_equal(line.get_ydata(), one.values)
    heights = band.get_paths()[0].vertices[:, 1]
    np.testing.assert_allclose((heights.min(), heights.max()), (min(one.low), max(one.high)))
    assert colors.same_color(line.get_color(), plots.colours([name])[name])
  assert legend_of(fig) == ["CRL", "CRTR"]
  assert ax.get_xscale() == "log" and ax.get_xlabel() and ax.get_ylabel()
  assert saves(fig)


def test_curves_by_length_go_on_to_the_longest_plan():
  short = curves.length_curve([True, True, False], [3, 5, 0])
  long = curves.length_curve([True, True, True], [4, 40, 80])
  fig = plots.draw_solved_by_length({"crtr": short, "crl": long})
  assert fig.axes[0].lines[0].get_xdata().tolist() == [0, 3, 5, 80]
  np.testing.assert_allclose(fig.axes[0].lines[0].get_ydata(), [0, 1 / 3, 2 / 3, 2 / 3])
  assert fig.axes[0].lines[0].get_drawstyle() == "steps-post"
  assert saves(fig)


def test_histograms_share_their_bins_and_count_all_plans():
  rng = np.random.default_rng(0)
  given = {"crtr": rng.integers(10, 40, 200), "crl": rng.integers(30, 90, 100)}
  fig = plots.draw_length_histograms(given, most_bins=10)
  drawn = [ax.patches[0].get_data() for ax in fig.axes]
  assert [data.values.sum() for data in drawn] == [200, 100]
  np.testing.assert_array_equal(drawn[0].edges, drawn[1].edges)
  assert "CRTR" in fig.axes[0].get_title(loc="right")
  assert saves(fig)
  assert saves(plots.draw_length_histograms({"random": np.zeros(0, int)}))


def test_profiles_have_a_line_for_each_method():
  fig = plots.draw_distance_profiles({"crtr": curve(0, 0.3, 1), "crl": curve(0, 0.2, 0.1)})
  assert fig.axes[0].get_xlabel() == "steps left" and legend_of(fig) == ["CRTR", "CRL"]
  assert fig.axes[0].lines[1].get_ydata().tolist() == [0, 0.2, 0.1]
  assert saves(fig)


def test_information_by_number_of_neighbours():
  fig = plots.draw_mutual_information({"crtr": {10: 0.5, 3: 0.7}, "crl": {3: 0.1, 10: 0.2}})
  assert fig.axes[0].lines[0].get_xdata().tolist() == [3, 10]
  assert fig.axes[0].lines[0].get_ydata().tolist() == [0.7, 0.5]
  assert fig.axes[0].get_xticks().tolist() == [3, 10]
  assert fig.axes[0].get_ylim()[0] <= 0
  assert saves(fig)


@pytest.mark.parametrize("num", [2, 15, 25])
def test_a_projection_marks_starts_and_ends_of_every_trajectory(num: int):
  flat = representations.flatten(counting([3, 5] * (num // 2) + [4] * (num % 2)))
  fig = plots.draw_projection(flat)
  by_trajectory, by_progress, bar = fig.axes
  assert len({tuple(line.get_color()) for line in by_trajectory.lines}) == num
  for ax in (by_trajectory, by_progress):
    starts, ends = ax.collections[-2:]
    np.testing.assert_array_equal(starts.get_offsets(), flat.points[flat.progress == 0])
    np.testing.assert_array_equal(ends.get_offsets(), flat.points[flat.progress == 1])
  np.testing.assert_array_equal(by_progress.collections[0].get_array(), flat.progress)
  assert [text.get_text() for text in bar.get_yticklabels()] == ["start", "end"]
  assert legend_of(fig) == ["start", "end"]
  assert saves(fig)


def test_models_stand_side_by_side():
  flat = representations.flatten(counting([3, 5]))
  fig = plots.draw_projections({"crtr": flat, "crl": flat._replace(points=-flat.points)})
  assert [ax.get_title() for ax in fig.axes[:2]] == ["CRTR", "CRL"]
  left, right = (ax.lines[0].get_ydata() for ax in fig.axes[:2])
  np.testing.assert_array_equal(left, -right)
  assert saves(fig)
