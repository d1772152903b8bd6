"""Where a run takes place: one device, several, or several hosts; and how its batches get there."""

import os

import tensorflow as tf

from crtr_tf import data

STRATEGIES = ("auto", "one_device", "mirrored", "multi_worker")


def make_strategy(name: str = "auto", num_cpu_devices: int | None = None) -> tf.distribute.Strategy:
  """Chooses where to run; must come before TensorFlow has run anything in this process.

  Args:
    name: "one_device"; "mirrored" over all GPUs of this host; "multi_worker" over the hosts that
      the environment variable TF_CONFIG names; "auto" for the last if TF_CONFIG is set, "mirrored"
      if there are several GPUs, else one device.
    num_cpu_devices: cuts the CPU into so many devices and mirrors over those instead of GPUs, to
      try out on one machine what several devices will do.
  """
  if name not in STRATEGIES:
    raise ValueError(f"strategy must be one of {STRATEGIES}; got {name!r}.")
  if name == "auto":
    # Physical devices: asking for logical ones would already start TensorFlow.
    several = num_cpu_devices or len(tf.config.list_physical_devices("GPU")) > 1
    name = "multi_worker" if "TF_CONFIG" in os.environ else "mirrored" if several else "one_device"
  if name == "multi_worker":
    if "TF_CONFIG" not in os.environ:
      raise ValueError("strategy multi_worker needs the environment variable TF_CONFIG.")
    return tf.distribute.MultiWorkerMirroredStrategy()
  if name == "one_device":
    return tf.distribute.get_strategy()
  if num_cpu_devices is None:
    return tf.distribute.MirroredStrategy()
  (cpu,) = tf.config.list_physical_devices("CPU")
  parts = [tf.config.LogicalDeviceConfiguration()] * num_cpu_devices
  try:
    tf.config.set_logical_device_configuration(cpu, parts)
  except RuntimeError as error:
    raise ValueError(
      "num_cpu_devices must be set before TensorFlow has run anything in this process."
    ) from error
  return tf.distribute.MirroredStrategy([f"CPU:{i}" for i in range(num_cpu_devices)])


def distribute(
  strategy: tf.distribute.Strategy, batches: tf.data.Dataset, batch_size: int, rows_per_group: int
) -> tf.data.Dataset | tf.distribute.DistributedDataset:
  """Cuts each batch into contiguous parts, one per replica, whole groups in each.

  Every host makes the whole batch, which is cheap, and keeps its own rows: all of them agree on the
  batch of a step without talking to each other. (TensorFlow's automatic sharding would give other
  batches for other numbers of hosts.)
  """
  replicas = strategy.num_replicas_in_sync
  data.check_replicas(batch_size, rows_per_group, replicas)
  if replicas == 1:
    return batches

  def parts_of_this_host(context: tf.distribute.InputContext) -> tf.data.Dataset:
    own = replicas // context.num_input_pipelines
    first = own * context.input_pipeline_id

    def cut(batch: dict[str, tf.Tensor]) -> tf.data.Dataset:
      parts = {name: tf.reshape(x, [replicas, -1, *x.shape[1:]]) for name, x in batch.items()}
      mine = {name: x[first : first + own] for name, x in parts.items()}
      return tf.data.Dataset.from_tensor_slices(mine)

    return batches.flat_map(cut).prefetch(2 * own)

  return strategy.distribute_datasets_from_function(parts_of_this_host)


def host_number(strategy: tf.distribute.Strategy) -> int:
  """Of this process; the host with number 0, the chief, writes what all share."""
  resolver = strategy.cluster_resolver
  return 0 if resolver is None else resolver.task_id or 0


def device_type(strategy: tf.distribute.Strategy) -> str:
  """ "CPU", "GPU" or "TPU": what the replicas run on."""
  if strategy.num_replicas_in_sync > 1:
    return tf.DeviceSpec.from_string(strategy.extended.worker_devices[0]).device_type
  return "GPU" if tf.config.list_logical_devices("GPU") else "CPU"
