"""The contrastive model: its step, its statistics, its distances, and what repetition does."""

import keras
import numpy as np
import pytest
import tensorflow as tf

from crtr_tf import models
from crtr_tf.models import contrastive
from tests.models.toy_batches import CONTEXT_CELLS, TIMES, context_and_time, random_batch


def make(jit: bool | None = None, **options) -> models.ContrastiveModel:
  """A small model with the same weights every time; eager, which is fastest for a few steps."""
  keras.utils.set_random_seed(0)
  model = models.ContrastiveModel(models.ResidualDenseEncoder(4, 16, 2, 9), **options)
  model.build((None, 6))
  model.compile(keras.optimizers.Adam(1e-3), run_eagerly=jit is None, jit_compile=jit or False)
  return model


def repeated(batch: dict[str, np.ndarray], steps: int) -> tf.data.Dataset:
  return tf.data.Dataset.from_tensors(batch).repeat(steps)


def weights_of(model: keras.Model) -> np.ndarray:
  return np.concatenate([np.ravel(weight) for weight in model.get_weights()])


def similarities(model: models.ContrastiveModel, batch: dict[str, np.ndarray]) -> np.ndarray:
  """[B, B]: f(state i, goal j), one pair at a time."""
  states, goals = batch["states"], batch["goals"]
  rows = [model.distance(np.broadcast_to(state, goals.shape), goals) for state in states]
  return -np.stack(rows).astype(np.float64)


@pytest.mark.parametrize("metric", models.CRITICS)
def test_statistics_are_what_they_are_named(metric: str):
  model, batch = make(metric=metric), random_batch()
  logits = similarities(model, batch) / 3  # sqrt(9)
  results = model.evaluate(repeated(batch, 1), verbose=0, return_dict=True)
  same = batch["groups"][:, None] == batch["groups"][None, :]
  positive = np.eye(16, dtype=bool)
  uniformity = np.log(np.exp(logits).sum(1)).mean()
  expected = {
    "loss": uniformity - logits[positive].mean(),
    "alignment": -logits[positive].mean(),
    "uniformity": uniformity,
    "accuracy_backward": np.mean(logits.argmax(1) == np.arange(16)),
    "accuracy_forward": np.mean(logits.argmax(0) == np.arange(16)),
    "logit_positive": logits[positive].mean(),
    "logit_in_trajectory": logits[same & ~positive].mean(),
    "logit_cross_trajectory": logits[~same].mean(),
    "gradient_norm": 0.0,
  }
  assert results == pytest.approx(expected, abs=1e-4)


def test_without_repetition_there_are_no_in_trajectory_logits():
  batch = {**random_batch(), "groups": np.arange(16)}
  results = make().evaluate(repeated(batch, 1), verbose=0, return_dict=True)
  assert results["logit_in_trajectory"] == 0.0


def test_an_encoder_that_gives_the_same_for_all_states_scores_nothing():
  model = make()
  for weight in model.weights:
    weight.assign(tf.zeros_like(weight))
  results = model.evaluate(repeated(random_batch(), 1), verbose=0, return_dict=True)
  assert results["accuracy_backward"] == results["accuracy_forward"] == 0.0
  assert results["loss"] == pytest.approx(np.log(16), rel=1e-4)


@pytest.mark.parametrize(
  "options",
  [
    {"temperature": 0.7},
    {"loss_direction": "symmetric", "positive_in_denominator": False, "metric": "l2"},
    {"normalize_negatives": True, "positive_in_denominator": False},
  ],
)
def test_the_loss_is_the_formula_with_extra_negatives(options: dict):
  model, batch = make(**options), random_batch(negatives=True)
  temperature = options.get("temperature", 3.0)
  logits = similarities(model, batch) / temperature
  extra = [
    -np.asarray(model.distance(batch[role], batch["negatives"]), np.float64) / temperature
    for role in ("states", "goals")
  ]
  if options.get("normalize_negatives"):
    extra = [x * np.linalg.norm(logits) / np.linalg.norm(x) for x in extra]
  losses = []
  for matrix, column in zip((logits, logits.T), extra, strict=True):
    terms = np.exp(matrix)
    if not options.get("positive_in_denominator", True):
      terms[np.eye(16, dtype=bool)] = 0
    losses.append(np.mean(np.log(terms.sum(1) + np.exp(column)) - np.diag(matrix)))
  expected = np.mean(losses) if options.get("loss_direction") == "symmetric" else losses[0]
  results = model.evaluate(repeated(batch, 1), verbose=0, return_dict=True)
  assert results["loss"] == pytest.approx(expected, rel=1e-4)


def test_a_step_is_the_optimizer_on_the_gradient_of_the_loss():
  model, other, batch = make(), make(), random_batch()
  with tf.GradientTape() as tape:
    x, y = (other(batch[role], training=True) for role in ("states", "goals"))
    logits = tf.matmul(x, y, transpose_b=True) / 3
    loss = tf.reduce_mean(
      tf.nn.sparse_softmax_cross_entropy_with_logits(labels=tf.range(16), logits=logits)
    )
  gradients = tape.gradient(loss, other.trainable_variables)
  other.optimizer.apply_gradients(zip(gradients, other.trainable_variables, strict=True))
  history = model.fit(repeated(batch, 1), verbose=0).history
  np.testing.assert_allclose(weights_of(model), weights_of(other), atol=1e-5)
  assert history["loss"][0] == pytest.approx(float(loss), rel=1e-5)
  assert history["gradient_norm"][0] == pytest.approx(
    float(tf.linalg.global_norm(gradients)), rel=1e-4
  )


def test_states_goals_and_negatives_pass_the_encoder_together():
  calls = []

  class Counting(models.ResidualDenseEncoder):
    def call(self, states: tf.Tensor) -> tf.Tensor:
      calls.append(states.shape)
      return super().call(states)

  model = models.ContrastiveModel(Counting(4, 16, 2, 8))
  model.batch_loss(
    {name: tf.constant(x) for name, x in random_batch(negatives=True).items()}, training=True
  )
  assert calls == [(48, 6)]


def test_compiled_and_plain_steps_agree():
  data = tf.data.Dataset.from_tensor_slices(
    {
      name: np.stack([random_batch(seed=seed)[name] for seed in range(10)])
      for name in random_batch()
    }
  )
  results = []
  for jit in (True, False):
    model = make(jit=jit, metric="l2")
    history = model.fit(data, verbose=0).history
    results.append((history, similarities(model, random_batch(seed=99))))
  (compiled, one), (plain, other) = results
  for name in plain:
    assert compiled[name] == pytest.approx(plain[name], rel=1e-3, abs=1e-4)
  np.testing.assert_allclose(one, other, atol=1e-2)


def test_fit_builds_a_model_that_has_no_weights_yet():
  model = models.ContrastiveModel(models.ResidualDenseEncoder(4, 16, 2, 8))
  model.compile(keras.optimizers.Adam(1e-3), run_eagerly=True)
  history = model.fit(repeated(random_batch(), 5), epochs=2, verbose=0).history
  assert set(history) == {"loss", *contrastive.STATISTICS, "gradient_norm"}
  assert history["loss"][1] < history["loss"][0]
  assert model.embed(random_batch()["states"]).shape == (16, 8)


def test_distances_do_not_depend_on_their_neighbours_and_leave_batch_norm_alone():
  encoder = models.ResidualConvEncoder((2, 3), 4, 8, 2, 8)
  model, batch = models.ContrastiveModel(encoder, metric="l2"), random_batch()
  whole = model.distance(batch["states"], batch["goals"])
  alone = [
    model.distance(batch["states"][i : i + 1], batch["goals"][i : i + 1])[0] for i in range(16)
  ]
  np.testing.assert_allclose(whole, alone, rtol=1e-4)
  embedded = [model.embed(batch[role]) for role in ("states", "goals")]
  np.testing.assert_allclose(model.embedding_distance(*embedded), whole, rtol=1e-6)
  moving = [weight for weight in model.weights if weight.name == "moving_mean"]
  assert all(np.all(np.asarray(weight) == 0) for weight in moving)


@pytest.mark.parametrize("dtype", ["mixed_bfloat16", "mixed_float16"])
def test_mixed_precision_trains_and_answers_in_float32(dtype: str):
  encoder = models.ResidualDenseEncoder(4, 16, 2, 8, dtype=dtype)
  model = models.ContrastiveModel(encoder)
  model.compile(keras.optimizers.Adam(3e-3), run_eagerly=True)
  batch = random_batch()
  history = model.fit(repeated(batch, 8), epochs=2, verbose=0).history
  assert history["loss"][1] < history["loss"][0]
  assert model.embed(batch["states"]).dtype == tf.float32
  assert model.distance(batch["states"], batch["goals"]).dtype == tf.float32
  scales_loss = isinstance(model.optimizer, keras.optimizers.LossScaleOptimizer)
  assert scales_loss == (dtype == "mixed_float16")


def test_repetition_makes_the_model_see_time_where_context_is_enough_otherwise():
  """The paper's point in miniature: CRL tells contexts apart and is blind to time, CRTR is not."""
  trajectory = np.zeros((TIMES, CONTEXT_CELLS + 1), np.uint8)
  trajectory[:, -1] = np.arange(TIMES)
  gaps, orders = {}, {}
  for factor in (1, 2):
    keras.utils.set_random_seed(0)
    model = models.ContrastiveModel(models.ResidualDenseEncoder(TIMES, 64, 2, 16))
    model.compile(keras.optimizers.Adam(3e-3), jit_compile=False)
    model.fit(context_and_time(80, 64, factor, seed=0), verbose=0)
    unseen = context_and_time(1, 512, 2, seed=1).get_single_element()
    _, statistics = model.batch_loss(unseen, training=False)
    logits = {name: float(statistic.mean) for name, statistic in statistics.items()}
    gaps[factor] = logits["logit_positive"] - logits["logit_in_trajectory"]
    to_end = model.distance(trajectory, np.repeat(trajectory[-1:], TIMES, axis=0))
    orders[factor] = np.corrcoef(np.argsort(np.argsort(to_end)), np.arange(TIMES)[::-1])[0, 1]
    assert logits["logit_positive"] > logits["logit_cross_trajectory"] + 5
  assert abs(gaps[1]) < 0.3 and gaps[2] > 0.8
  assert orders[2] > 0.85


def test_impossible_options_are_refused():
  encoder = models.ResidualDenseEncoder(4, 16, 2, 8)
  with pytest.raises(ValueError, match=r"metric must be one of .*; got 'cosine'"):
    models.ContrastiveModel(encoder, metric="cosine")
  with pytest.raises(ValueError, match=r"loss_direction must be one of .*; got 'both'"):
    models.ContrastiveModel(encoder, loss_direction="both")
  with pytest.raises(ValueError, match=r"temperature must be positive; got 0\."):
    models.ContrastiveModel(encoder, temperature=0.0)
