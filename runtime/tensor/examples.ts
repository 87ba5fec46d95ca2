// Examples of what tensors' own methods and properties give: the website's reference and editors show them with the
// comments in tensor.ts, which has no room for them.

/** Of each an example, and no type: the class says it. */
export interface TensorExamples {
  /**
   * @example
   * torch.ones([2, 3]).shape  // [2, 3]
   */
  shape: unknown;
  /**
   * @example
   * [torch.ones([2, 3]).strides, torch.ones([2, 3]).t().strides]  // [[3, 1], [1, 3]]
   */
  strides: unknown;
  /**
   * @example
   * torch.ones([2], { device: "cpu" }).device  // "cpu"
   */
  device: unknown;
  /**
   * @example
   * [torch.tensor([1.5]).dtype, torch.tensor([1], { dtype: "int64" }).dtype]  // ["float32", "int64"]
   */
  dtype: unknown;
  /**
   * @example
   * torch.ones([2, 3]).ndim  // 2
   */
  ndim: unknown;
  /**
   * @example
   * torch.ones([2], { dtype: "int64" }).itemsize  // 8
   */
  itemsize: unknown;
  /**
   * @param dim integer, the axis; null: all, default null
   * @example
   * [torch.ones([2, 3]).size(), torch.ones([2, 3]).size(-1)]  // [[2, 3], 3]
   */
  size: unknown;
  /**
   * @param dim integer, the axis; null: all, default null
   * @example
   * [torch.ones([2, 3]).stride(), torch.ones([2, 3]).stride(0)]  // [[3, 1], 3]
   */
  stride: unknown;
  /**
   * @example
   * torch.ones([2, 3]).dim()  // 2
   */
  dim: unknown;
  /**
   * @example
   * torch.ones([2, 3]).ndimension()  // 2
   */
  ndimension: unknown;
  /**
   * @example
   * torch.ones([2, 3]).nelement()  // 6
   */
  nelement: unknown;
  /**
   * @example
   * torch.arange(6).narrow(0, 2, 3).offset  // 2
   */
  offset: unknown;
  /**
   * @example
   * torch.arange(6).narrow(0, 2, 3).storage_offset()  // 2
   */
  storage_offset: unknown;
  /**
   * @example
   * const x = torch.ones([2, 3]);
   * x.view([6]).storage === x.storage  // true
   */
  storage: unknown;
  /**
   * @example
   * torch.ones([2], { dtype: "float16" }).element_size()  // 2
   */
  element_size: unknown;
  /**
   * @param memory_format the order, default torch.contiguous_format
   * @example
   * [torch.ones([2, 3]).is_contiguous(), torch.ones([2, 3]).t().is_contiguous()]  // [true, false]
   */
  is_contiguous: unknown;
  /**
   * @example
   * const x = torch.tensor([1, 2], { requires_grad: true });
   * [...(await x.data()), x.data.requires_grad]  // [1, 2, false]
   */
  data: unknown;
  /**
   * @example
   * [...(await torch.tensor([[1, 2], [3, 4]]).numpy())]  // [1, 2, 3, 4]
   */
  numpy: unknown;
  /**
   * @example
   * await torch.tensor([[1, 2], [3, 4]]).tolist()  // [[1, 2], [3, 4]]
   */
  tolist: unknown;
  /**
   * @example
   * await torch.tensor([[1, 2], [3, 4]]).toArrayAsync()  // [[1, 2], [3, 4]]
   */
  toArrayAsync: unknown;
  /**
   * @example
   * await torch.tensor([1, 2, 3]).sum().item()  // 6
   */
  item: unknown;
  /**
   * @example
   * const x = torch.tensor([1, 2], { requires_grad: true });
   * [x.requires_grad, x.square().requires_grad, x.detach().requires_grad]  // [true, true, false]
   */
  requires_grad: unknown;
  /**
   * @example
   * torch.tensor([1, 2], { requires_grad: true }).requiresGrad  // true
   */
  requiresGrad: unknown;
  /**
   * @example
   * const x = torch.tensor([1, 2]).requires_grad_();
   * x.square().sum().backward();
   * x.grad  // [2, 4]
   */
  requires_grad_: unknown;
  /**
   * @example
   * const x = torch.tensor([1, 2], { requires_grad: true });
   * [x.is_leaf, x.square().is_leaf]  // [true, false]
   */
  is_leaf: unknown;
  /**
   * @example
   * const x = torch.tensor([1, 2], { requires_grad: true });
   * [x.grad_fn, x.square().grad_fn !== null]  // [null, true]
   */
  grad_fn: unknown;
  /**
   * @example
   * const x = torch.tensor([1, 2], { requires_grad: true });
   * x.square().sum().backward();
   * x.grad  // [2, 4]
   */
  grad: unknown;
  /**
   * @example
   * const x = torch.tensor([1, 2], { requires_grad: true });
   * x.register_hook((grad) => grad.mul(10));
   * x.square().sum().backward();
   * x.grad  // [20, 40]
   */
  register_hook: unknown;
  /**
   * @example
   * const x = torch.tensor([1, 2], { requires_grad: true }), y = x.square();
   * y.retain_grad();
   * y.sum().backward();
   * y.grad  // [1, 1]
   */
  retain_grad: unknown;
  /**
   * @example
   * const x = torch.ones([2]);
   * x.dispose();
   * x.is_disposed  // true
   */
  dispose: unknown;
  /**
   * @example
   * const weight = torch.nn.Linear(2, 1).weight;
   * weight.set_data(torch.tensor([[1, 2]]));
   * weight  // [[1, 2]]
   */
  set_data: unknown;
  /**
   * @example
   * let between;
   * torch.tidy(() => { between = torch.ones([2]); });
   * between.is_disposed  // true
   */
  is_disposed: unknown;
}
