"""TFDS builders, one folder each; installed as `crtr_tf.datasets`.

The folder sits at the top of the checkout so that `tfds build datasets/<name>` works as usual. It
is not installed under its own name, because a widely used library already owns the name `datasets`.
"""
