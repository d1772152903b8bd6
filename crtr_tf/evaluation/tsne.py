"""t-SNE of the representations of held-out trajectories: are they ordered by context or by time?

`plots.draw_projection` and `plots.draw_projections` draw the result.
"""

import threadpoolctl
from sklearn import manifold

from crtr_tf.data.sampling import TrajectoryBatch
from crtr_tf.evaluation.representations import EmbedFn, TrajectoryPoints, represent

_MAX_DEFAULT_PERPLEXITY = 30


def tsne(
  embed: EmbedFn,
  trajectories: TrajectoryBatch,
  perplexity: float | None = None,
  seed: int = 0,
) -> TrajectoryPoints:
  """Maps representations to the plane so that neighbours stay neighbours.

  Args:
    embed: states -> representations.
    trajectories: ten or twenty; time grows a little faster than their number of states.
    perplexity: how many neighbours a point has, roughly. By default a third of a trajectory, but
      at most 30: with more than its own trajectory has states, each shrinks to a speck.
    seed: the result is a function of it.

  Returns:
    Points [N, 2].
  """
  found = represent(embed, trajectories)
  num = len(found.points)
  if perplexity is None:
    perplexity = min(num / len(trajectories.lengths) / 3, _MAX_DEFAULT_PERPLEXITY)
  method = manifold.TSNE(
    n_components=2,
    perplexity=min(perplexity, (num - 1) / 3),  # scikit-learn refuses more than there are points
    init="pca",
    random_state=seed,
  )
  # Threads would add up rounding errors in any order, which iterations then blow up.
  with threadpoolctl.threadpool_limits(1):
    return found._replace(points=method.fit_transform(found.points))
