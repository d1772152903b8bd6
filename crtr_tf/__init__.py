"""Contrastive Representations for Temporal Reasoning (CRTR) in TensorFlow and Keras.

Importing this package is cheap on purpose: TensorFlow is loaded by the sub-package that needs it.
"""

from crtr_tf.version import __version__

__all__ = ["__version__"]
