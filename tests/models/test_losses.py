"""InfoNCE in all variants against loops that can be read beside the paper's formulas."""

import itertools

import numpy as np
import pytest
import tensorflow as tf

from crtr_tf.models import losses

BATCH = 6
EXTRA = ("none", "plain", "normalised")
VARIANTS = list(itertools.product(losses.DIRECTIONS, (True, False), EXTRA))


def random_logits(seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
  """The matrix [B, B] of states and goals; extra negatives [B] of the states and of the goals."""
  rng = np.random.default_rng(seed)
  return (
    rng.normal(0, 2, (BATCH, BATCH)).astype(np.float32),
    rng.normal(0, 2, BATCH).astype(np.float32),
    rng.normal(0, 2, BATCH).astype(np.float32),
  )


def reference_side(matrix: np.ndarray, extra: np.ndarray | None, positive_in: bool) -> float:
  """-1/B sum_i log(exp(f_ii) / denominator_i), term by term."""
  total = 0.0
  for i in range(BATCH):
    denominator = sum(np.exp(matrix[i, j]) for j in range(BATCH) if positive_in or j != i)
    if extra is not None:
      denominator += np.exp(extra[i])
    total -= np.log(np.exp(matrix[i, i]) / denominator)
  return total / BATCH


def reference(direction: str, positive_in: bool, extra: str, seed: int = 0) -> float:
  matrix, *negatives = (x.astype(np.float64) for x in random_logits(seed))
  if extra == "none":
    negatives = [None, None]
  if extra == "normalised":
    norm = np.sqrt(np.sum(matrix**2))
    negatives = [x * norm / np.sqrt(np.sum(x**2)) for x in negatives]
  backward = reference_side(matrix, negatives[0], positive_in)
  forward = reference_side(matrix.T, negatives[1], positive_in)
  return {"backward": backward, "forward": forward, "symmetric": (backward + forward) / 2}[
    direction
  ]


def compute(
  matrix: tf.Tensor, negatives: list[tf.Tensor], direction: str, positive_in: bool, extra: str
) -> losses.Terms:
  if extra == "none":
    negatives = [None, None]
  if extra == "normalised":
    squares = [tf.reduce_sum(tf.square(x)) for x in (matrix, *negatives)]
    negatives = [
      x * losses.frobenius_scale(squares[0], square)
      for x, square in zip(negatives, squares[1:], strict=True)
    ]
  logits = losses.Logits(matrix, tf.transpose(matrix), tf.range(BATCH), *negatives)
  return losses.contrastive_terms(logits, direction, positive_in)


@pytest.mark.parametrize(("direction", "positive_in", "extra"), VARIANTS)
def test_every_variant_is_what_the_loops_give(direction: str, positive_in: bool, extra: str):
  matrix, *negatives = map(tf.constant, random_logits())
  terms = compute(matrix, negatives, direction, positive_in, extra)
  loss = tf.reduce_mean(terms.alignment + terms.uniformity)
  np.testing.assert_allclose(loss, reference(direction, positive_in, extra), rtol=1e-5)


@pytest.mark.parametrize(
  ("direction", "positive_in", "extra"),
  [
    ("backward", True, "none"),
    ("forward", False, "none"),
    ("symmetric", True, "plain"),
    ("backward", False, "plain"),
  ],
)
def test_gradients_agree_with_finite_differences(direction: str, positive_in: bool, extra: str):
  arrays = [x.astype(np.float64) for x in random_logits()]

  def loss(*tensors: tf.Tensor) -> tf.Tensor:
    matrix, *negatives = (tf.cast(x, tf.float32) for x in tensors)
    return sum(map(tf.reduce_sum, compute(matrix, negatives, direction, positive_in, extra)))

  analytic, numeric = tf.test.compute_gradient(
    loss, [tf.constant(x, tf.float32) for x in arrays], 0.01
  )
  for one, other in zip(analytic, numeric, strict=True):
    np.testing.assert_allclose(one, other, atol=5e-3)


def test_the_scale_of_normalised_negatives_is_constant_to_the_gradient():
  matrix, *negatives = map(tf.constant, random_logits())
  with tf.GradientTape() as tape:
    tape.watch(negatives)
    terms = compute(matrix, negatives, "backward", False, "normalised")
    loss = tf.reduce_sum(terms.uniformity)
  gradient = tape.gradient(loss, negatives[0])
  scale = tf.norm(matrix) / tf.norm(negatives[0])
  with tf.GradientTape() as tape:
    scaled = [scale * x for x in negatives]
    tape.watch(scaled)
    terms = compute(matrix, scaled, "backward", False, "plain")
    loss = tf.reduce_sum(terms.uniformity)
  np.testing.assert_allclose(gradient, scale * tape.gradient(loss, scaled[0]), rtol=1e-4)


@pytest.mark.parametrize("positive_in", [True, False])
def test_rows_of_a_part_of_the_batch_lose_what_they_lose_in_the_whole(positive_in: bool):
  matrix, extra, _ = map(tf.constant, random_logits())
  whole = losses.info_nce(matrix, tf.range(BATCH), extra, positive_in)
  part = losses.info_nce(matrix[2:5], tf.range(2, 5), extra[2:5], positive_in)
  for one, other in zip(whole, part, strict=True):
    np.testing.assert_allclose(one[2:5], other, rtol=1e-6)


def test_leaving_the_positive_out_is_no_term_of_exp_zero():
  logits = tf.constant([[3.0, -1.0], [-2.0, 5.0]])
  terms = losses.info_nce(logits, tf.range(2), positive_in_denominator=False)
  np.testing.assert_allclose(terms.uniformity, [-1.0, -2.0], rtol=1e-6)
  np.testing.assert_allclose(terms.alignment, [-3.0, -5.0])


def test_unknown_direction_names_the_known_ones():
  with pytest.raises(ValueError, match=r"one of backward, forward, symmetric; got 'sideways'\."):
    losses.check_direction("sideways")
