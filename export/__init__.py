"""SavedModel export, loading and the released models; installed as `crtr_tf.export`."""
