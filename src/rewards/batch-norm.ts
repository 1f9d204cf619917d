/**
 * Batch normalization over pictures, with PyTorch's names.
 *
 * Ioffe & Szegedy 2015, https://arxiv.org/abs/1502.03167. Judges run on the stored statistics; training them
 * updates the statistics in place, as PyTorch does with momentum 0.1.
 */
import { constant, Module, type ModuleOptions } from "#nn";
import { aten, type Tensor, zeros } from "#tensor";

export class BatchNorm2d extends Module {
  readonly weight: Tensor;
  readonly bias: Tensor;
  readonly running_mean: Tensor;
  readonly running_var: Tensor;
  readonly num_batches_tracked: Tensor;
  /** Whether to use and gather the batch's own statistics. */
  learning = false;

  constructor(channels: number, options: ModuleOptions) {
    super();
    this.weight = constant([channels], 1, options);
    this.bias = constant([channels], 0, options);
    this.running_mean = constant([channels], 0, options).requiresGrad_(false);
    this.running_var = constant([channels], 1, options).requiresGrad_(false);
    this.num_batches_tracked = zeros([], { ...options, dtype: "int64" }); // part of the files; nothing reads it
  }

  forward(x_NCHW: Tensor): Tensor {
    const { weight, bias, running_mean, running_var, learning } = this;
    return aten.batch_norm(x_NCHW, weight, bias, running_mean, running_var, learning, 0.1, 1e-5, false);
  }
}
