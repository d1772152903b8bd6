"""Trained models as SavedModels: written, read back, and released by name.

>>> export.save(model, puzzle, "my_model/1", export.Training("crtr", steps=5000))
>>> loaded = export.load("my_model")
>>> loaded.solver(budget=1000).solve(instances)
"""

from crtr_tf.export.loading import ExportedModel, load
from crtr_tf.export.metadata import HISTORY, Metadata, ModelError, SolverSettings, Training
from crtr_tf.export.names import find, released_models
from crtr_tf.export.saving import check_free, save

__all__ = [
  "HISTORY",
  "ExportedModel",
  "Metadata",
  "ModelError",
  "SolverSettings",
  "Training",
  "check_free",
  "find",
  "load",
  "released_models",
  "save",
]
