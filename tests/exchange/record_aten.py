"""Records what PyTorch's core ATen operators answer, in the notation of torch.export's archives: aten.json.

    python tests/exchange/record_aten.py     in an environment with torch 2.13

One line an operator: its target, its arguments as an archive's graph has them, the tensors among them and what came
out.  A result that is random, or whatever memory held, is recorded by its shape alone."""

import json
from pathlib import Path

import torch
import vision_operators  # noqa: F401  torchvision's
from archive_arguments import Encoder, recorded, result
from quantised_operators import CALLS_OF_QUANTISATION, without_a_call

torch.manual_seed(11)
SHAPE_ALONE = {"rand", "randn", "randperm", "empty", "empty_strided", "native_dropout", "resize_"}


def f(*shape):
    return torch.randn(shape)


def p(*shape):
    return torch.rand(shape) + 0.1


def i(*values):
    return torch.tensor(values)


def b(*shape):
    return torch.rand(shape) > 0.5


X = f(2, 3)
IMAGE, WEIGHT = f(2, 4, 6, 6), f(6, 4, 3, 3)
CALLS: dict[str, list] = {}


def call(name, *args, **options):
    CALLS[name] = [args, options]


for name in "abs acos acosh asin asinh atan atanh ceil cos cosh erf exp expm1 floor isinf isnan log log10 log1p log2 neg reciprocal relu round rsqrt sigmoid sign sin sinh sqrt tan tanh trunc alias clone nonzero bitwise_not logical_not".split():
    x = p(2, 3) + 1 if name == "acosh" else p(2, 3) * 0.8
    if name in ("ceil", "floor", "round", "trunc", "neg", "relu", "sign", "tanh"):
        x = f(2, 3) * 3
    call(f"{name}.default", i(1, 2, 3) if name == "bitwise_not" else x)
for name in "add sub mul div eq ge gt le lt ne fmod remainder".split():
    call(f"{name}.Tensor", f(2, 3), p(3))
    call(f"{name}.Scalar", X, 1.5)
for name in "bitwise_and bitwise_or bitwise_xor".split():
    call(f"{name}.Tensor", i(1, 2, 3), i(3, 5, 7))
    call(f"{name}.Scalar", i(1, 2, 3), 3)
for name in "logical_and logical_or logical_xor".split():
    call(f"{name}.default", b(3), b(3))
for name in "maximum minimum atan2".split():
    call(f"{name}.default", f(2, 3), f(2, 3))
for name in "amax amin".split():
    call(f"{name}.default", X, [1], True)
for name in "argmax argmin".split():
    call(f"{name}.default", X, 1)
for name in "max min".split():
    call(f"{name}.dim", X, 1, True)
for mode in ("trunc", "floor"):
    call("div.Tensor_mode", f(2, 3) * 5, p(2, 3), rounding_mode=mode)
    call("div.Scalar_mode", f(2, 3) * 5, 1.5, rounding_mode=mode)
call("add.Tensor", f(2, 3), f(3), alpha=2)
call("any.default", b(2, 3))
call("any.dim", b(2, 3), 1, True)
call("any.dims", b(2, 3), [0, 1])
call("_adaptive_avg_pool2d.default", IMAGE, [3, 2])
call("_adaptive_avg_pool3d.default", f(1, 2, 4, 4, 4), [2, 2, 2])
call("adaptive_avg_pool1d.default", f(1, 2, 6), [3])
call("_adaptive_avg_pool2d_backward.default", f(2, 4, 3, 3), IMAGE)
call("_cdist_forward.default", f(3, 4), f(2, 4), 2.0, None)
call("_pdist_forward.default", f(4, 3), 2.0)
call("_embedding_bag.default", f(5, 3), i(0, 2, 1, 4), i(0, 2), False, 1)
call("_local_scalar_dense.default", torch.tensor(2.5))
for name in "_softmax _log_softmax".split():
    call(f"{name}.default", X, 1, False)
call("_native_batch_norm_legit.default", IMAGE, p(4), f(4), f(4), p(4), True, 0.1, 1e-5)
call("_native_batch_norm_legit.no_stats", IMAGE, p(4), f(4), True, 0.1, 1e-5)
call("_native_batch_norm_legit_no_training.default", IMAGE, p(4), f(4), f(4), p(4), 0.1, 1e-5)
call("_to_copy.default", X, dtype=torch.int32)
call("addmm.default", f(4), f(2, 3), f(3, 4), beta=0.5, alpha=2)
call("arange.start_step", 1, 7, 2, dtype=torch.int64, device=torch.device("cpu"), pin_memory=False)
call("as_strided.default", f(12), [2, 3], [4, 1], 1)
call("avg_pool1d.default", f(1, 2, 6), [2], [2], [1])
call("avg_pool2d.default", IMAGE, [3, 3], [2, 2], [1, 1], False, False)
call("avg_pool3d.default", f(1, 2, 4, 4, 4), [2, 2, 2], [2, 2, 2])
call("avg_pool2d_backward.default", f(2, 4, 3, 3), IMAGE, [2, 2], [2, 2], [0, 0], False, True, None)
call("bmm.default", f(2, 3, 4), f(2, 4, 2))
call("cat.default", [f(2, 3), f(2, 1)], 1)
call("clamp.default", X, -0.5, None)
call("clamp.Tensor", X, None, f(3))
call("col2im.default", f(1, 8, 9), [4, 4], [2, 2], [1, 1], [0, 0], [1, 1])
call("constant_pad_nd.default", X, [1, 2], 3.0)
call("convolution.default", IMAGE, WEIGHT, f(6), [2, 2], [1, 1], [1, 1], False, [0, 0], 1)
call(
    "convolution_backward.default",
    f(2, 6, 6, 6),
    IMAGE,
    WEIGHT,
    [6],
    [1, 1],
    [1, 1],
    [1, 1],
    False,
    [0, 0],
    1,
    [True, True, True],
)
call("copy.default", X, f(3))
call("cumsum.default", X, 1)
call("diagonal.default", f(3, 4), 1, 0, 1)
call("elu.default", X, 0.7)
call("embedding.default", f(5, 3), i(0, 4), -1)
call("embedding_dense_backward.default", f(3, 4), i(0, 2, 2), 5, 2, False)
call("empty.memory_format", [2, 3], dtype=torch.float32, device=torch.device("cpu"), pin_memory=False)
call("empty_strided.default", [2, 3], [3, 1], dtype=torch.float32)
call("expand.default", f(2, 1), [2, 3])
call("fill.Scalar", X, 2.0)
call("flip.default", X, [1])
call("full.default", [2, 3], 1.5, dtype=torch.float32, device=torch.device("cpu"), pin_memory=False)
call("full_like.default", X, 4, pin_memory=False)
call("gather.default", X, 1, torch.tensor([[0, 2], [1, 0]]))
call("gelu.default", X, approximate="tanh")
call("grid_sampler_2d.default", IMAGE, torch.rand(2, 3, 3, 2) * 2 - 1, 0, 0, False)
call("hardtanh.default", X, -0.5, 0.5)
call("index.Tensor", f(3, 4), [None, i(0, 2)])
call("index_put.default", f(3, 4), [i(0, 2)], f(2, 4), True)
call("index_select.default", f(3, 4), 1, i(0, 2))
call("leaky_relu.default", X, 0.2)
call("masked_scatter.default", f(2, 3), torch.tensor([[True, False, True], [False, True, False]]), f(3))
call("max_pool2d_with_indices.default", IMAGE, [3, 3], [2, 2], [1, 1])
call("max_pool3d_with_indices.default", f(1, 2, 4, 4, 4), [2, 2, 2], [2, 2, 2])
call("mean.default", X)
call("mean.dim", X, [1], True)
call("mm.default", f(2, 3), f(3, 2))
call("native_dropout.default", X, 0.5, True)
call("native_group_norm.default", IMAGE, p(4), f(4), 2, 4, 36, 2, 1e-5)
call("native_layer_norm.default", f(2, 3, 4), [4], p(4), f(4), 1e-5)
for shape, name in (([2], "1d"), ([2, 1], "2d"), ([2, 1, 1], "3d")):
    pad = [1] * (2 * len(shape))
    call(f"reflection_pad{name}.default", f(1, 2, *([4] * len(shape))), pad)
    if name != "1d":
        call(f"replication_pad{name}.default", f(1, 2, *([4] * len(shape))), pad)
call("permute.default", f(2, 3, 4), [2, 0, 1])
call("pow.Scalar", 2.0, X)
call("pow.Tensor_Scalar", p(2, 3), 3)
call("pow.Tensor_Tensor", p(2, 3), f(2, 3))
call("prod.default", X)
call("prod.dim_int", X, 1)
call("rand.default", [2, 3], dtype=torch.float32)
call("randn.default", [2, 3], dtype=torch.float32)
call("randperm.default", 5)
call("repeat.default", X, [2, 1])
call("resize_.default", f(6), [2, 3])
call("scalar_tensor.default", 2.5, dtype=torch.float32)
call("scatter.src", f(3, 3), 0, torch.tensor([[0, 1, 2]]), f(1, 3))
call("scatter.value", f(3, 3), 0, torch.tensor([[0, 1, 2]]), 1.5)
call("scatter_add.default", f(3, 3), 0, torch.tensor([[0, 0, 2]]), f(1, 3))
call("scatter_reduce.two", f(3, 3), 0, torch.tensor([[0, 0, 2]]), f(1, 3), "amax", include_self=False)
call("select.int", f(2, 3), 1, -1)
call("select_scatter.default", f(2, 3), f(2), 1, 0)
call("slice.Tensor", f(5, 2), 0, 1, 9223372036854775807, 2)
call("slice_scatter.default", f(5, 2), f(2, 2), 0, 1, 3)
call("sort.default", X, 1, True)
call("split_with_sizes.default", f(5, 2), [2, 3], 0)
call("squeeze.dim", f(2, 1, 3), 1)
call("squeeze.dims", f(1, 1, 3), [0, 1])
call("sum.dim_IntList", X, [0])
call("topk.default", f(2, 5), 2, 1)
call("unsqueeze.default", X, -1)
call("upsample_bilinear2d.vec", IMAGE, [9, 9], False, None)
call("upsample_nearest2d.vec", IMAGE, None, [2.0, 2.0])
call("var.correction", X, [1], correction=0, keepdim=True)
call("var.dim", X, [1], True)
call("view.default", f(2, 6), [3, -1])
call("where.self", b(2, 3), X, f(2, 3))
call("atan2.out", f(3), f(3), out=torch.empty(3))
call(
    "max_pool2d_with_indices_backward.default",
    f(2, 4, 3, 3),
    IMAGE,
    [2, 2],
    [2, 2],
    [0, 0],
    [1, 1],
    False,
    torch.nn.functional.max_pool2d(IMAGE, 2, 2, return_indices=True)[1],
)
mean, rstd = torch.ops.aten.native_layer_norm(IMAGE, [6], None, None, 1e-5)[1:]
call("native_layer_norm_backward.default", f(2, 4, 6, 6), IMAGE, [6], mean, rstd, p(6), f(6), [True, True, True])
mean, rstd = torch.ops.aten.native_group_norm(IMAGE, None, None, 2, 4, 36, 2, 1e-5)[1:]
call("native_group_norm_backward.default", f(2, 4, 6, 6), IMAGE, mean, rstd, p(4), 2, 4, 36, 2, [True, True, True])
for name, args in {
    "sym_size.int": [X, 1],
    "sym_stride.int": [X, 0],
    "sym_numel.default": [X],
    "sym_storage_offset.default": [X],
    "sym_is_contiguous.default": [X],
}.items():
    call(name, *args)
# what is not among the core operators, but stands in programs that were not decomposed
call("linear.default", f(2, 3), f(4, 3), f(4))
call("conv2d.default", IMAGE, WEIGHT, None, [1, 1], [1, 1])
call("conv2d.padding", IMAGE, WEIGHT, None, [1, 1], "same")
call("batch_norm.default", IMAGE, p(4), f(4), f(4), p(4), False, 0.1, 1e-5, True)
call("layer_norm.default", f(2, 3, 4), [4], p(4), f(4))
call("group_norm.default", IMAGE, 2, p(4), f(4))
call("scaled_dot_product_attention.default", f(1, 2, 3, 4), f(1, 2, 3, 4), f(1, 2, 3, 4), None, 0.0, True)
call("max_pool2d.default", IMAGE, [2, 2])
call("adaptive_avg_pool2d.default", IMAGE, [1, 1])
call("flatten.using_ints", IMAGE, 1)
call("softmax.int", X, -1)
call("log_softmax.int", X, -1)
call("chunk.default", f(4, 6), 3, 1)
call("split.Tensor", f(5, 2), 2)
call("stack.default", [f(2), f(2)], 1)
call("unflatten.int", f(2, 6), 1, [2, 3])
call("transpose.int", f(2, 3, 4), 1, 2)
call("matmul.default", f(2, 3, 4), f(4, 2))
call("einsum.default", "ij,jk->ik", [f(2, 3), f(3, 2)])
call("masked_fill.Scalar", X, b(2, 3), -1.0)
call("tril.default", f(3, 3))
call("triu.default", f(3, 3), 1)
call("silu.default", X)
call("dropout.default", X, 0.5, False)
call("embedding_bag.padding_idx", f(5, 3), i(0, 2, 1, 4), i(0, 2), False, 0, False, None, False, None)
call(
    "lstm.input",
    f(3, 2, 4),
    [f(2, 2, 5), f(2, 2, 5)],
    [f(20, 4), f(20, 5), f(20), f(20), f(20, 4), f(20, 5), f(20), f(20)],
    True,
    1,
    0.0,
    False,
    True,
    False,
)
call("gru.input", f(3, 2, 4), f(1, 2, 5), [f(15, 4), f(15, 5), f(15), f(15)], True, 1, 0.0, False, False, False)
call("linalg_vector_norm.default", X, 2, [1], True)
call("std.correction", X, [1], correction=1)
call("logsumexp.default", X, [1])
call("roll.default", X, [1], [1])
call("new_zeros.default", X, [2])
call("zeros_like.default", X)
call("type_as.default", i(1, 2), X)
call("expand_as.default", f(1, 3), X)
call("unbind.int", f(2, 3), 0)
call("pixel_shuffle.default", f(1, 4, 2, 2), 2)
call("baddbmm.default", f(2, 1, 2), f(2, 3, 4), f(2, 4, 2), beta=1, alpha=0.5)
call("_scaled_dot_product_flash_attention_for_cpu.default", f(1, 2, 3, 4), f(1, 2, 3, 4), f(1, 2, 3, 4), 0.0, True)
call("upsample_nearest2d.default", IMAGE, [3, 3])
call("upsample_bilinear2d.default", IMAGE, [9, 9], True)
call("bincount.default", i(0, 2, 2), None, 5)
call("masked_select.default", X, X > 0)
call("pad.default", f(1, 2, 4), [1, 1], "reflect", 0.0)
call("instance_norm.default", IMAGE, p(4), f(4), None, None, True, 0.1, 1e-5, True)
# what in place operators, layers and norms leave there
for name in "silu_ hardswish_ hardsigmoid_ mish_ relu6_ elu_ leaky_relu_ hardtanh_ gelu_".split():
    call(f"{name}.default", f(2, 3))
for name in "__and__ __or__ __xor__".split():
    call(f"{name}.Tensor", i(1, 2, 3), i(3, 5, 7))
call("__lshift__.Scalar", i(1, 2, 3), 2)
call("numpy_T.default", f(2, 3))
call("mT.default", f(2, 3, 4))
call("unfold.default", f(2, 6), 1, 3, 2)
call("addbmm.default", f(1, 2), f(2, 3, 4), f(2, 4, 2))
call("log_sigmoid.default", X)
call("_weight_norm.default", f(3, 4), p(3, 1), 0)
call("_prelu_kernel.default", X, p(1))
call("_safe_softmax.default", X, -1)
call("lstm_cell.default", f(2, 4), [f(2, 3), f(2, 3)], f(12, 4), f(12, 3), f(12), f(12))
call("gru_cell.default", f(2, 4), f(2, 3), f(9, 4), f(9, 3), f(9), f(9))
call("affine_grid_generator.default", f(1, 2, 3), [1, 2, 3, 3], False)
call("upsample_trilinear3d.vec", f(1, 2, 3, 4, 3), None, False, [1.7, 2.3, 1.0])
call("upsample_nearest3d.vec", f(1, 2, 3, 4, 3), None, [1.7, 2.3, 1.0])
call("upsample_bicubic2d.vec", IMAGE, None, False, [1.7, 2.3])
call("_upsample_nearest_exact2d.vec", IMAGE, None, [1.7, 2.3])
call("_upsample_bilinear2d_aa.default", IMAGE, [4, 9], False)
call("_upsample_bicubic2d_aa.default", IMAGE, [4, 9], True)
call("max_unpool2d.default", *torch.nn.functional.max_pool2d(IMAGE, 2, return_indices=True), [6, 6])
call("_trilinear.default", f(2, 3), f(4, 3, 5), f(2, 5), [1, 3], [0], [1, 2], [2, 3])
call("_linalg_det.default", f(3, 3))
call("_linalg_slogdet.default", f(3, 3))
call("_linalg_eigh.default", torch.diag(p(3)), "L", False)
call("_linalg_svd.default", f(3, 3), False, False)
call("linalg_matrix_norm.default", f(3, 3), 1, [-2, -1], False)
call("linalg_matrix_power.default", f(3, 3), 3)
call("_unique2.default", i(3, 1, 1, 2), True, True, True)
call("unique_consecutive.default", i(3, 1, 1, 2), True, True)
call("_unsafe_masked_index.default", f(2, 3), torch.tensor([True, False]), [i(0, 7), i(1, 2)], 0.5)
call("_grouped_mm.default", f(8, 16), f(2, 16, 8), torch.tensor([3, 8], dtype=torch.int32))
call("rrelu_with_noise_functional.default", X, torch.zeros(2, 3), 0.1, 0.3, False)
call("_fused_rms_norm.default", f(2, 4), [4], p(4), 1e-5)

# numbers of few bits
call("fake_quantize_per_tensor_affine.tensor_qparams", f(2, 3), torch.tensor([0.1]), i(3).int(), -8, 7)
call("fake_quantize_per_tensor_affine_cachemask.default", f(2, 3), 0.1, 3, -8, 7)
call("fake_quantize_per_channel_affine.default", f(2, 3), p(3), i(0, 1, 1).int(), 1, -2, 1)
call("fake_quantize_per_channel_affine_cachemask.default", f(2, 3), p(3), i(0, 1, 1).int(), 1, -2, 1)
call("_fake_quantize_per_tensor_affine_cachemask_tensor_qparams.default", f(2, 3), p(1), i(1).int(), i(1), -2, 1)
call("quantized_decomposed::quantize_per_tensor.default", f(2, 3), 0.02, -2, -128, 127, torch.int8)
call("quantized_decomposed::dequantize_per_tensor.tensor", i(1, -7).char(), p(1), i(2), -8, 7, torch.int8)
call("quantized_decomposed::quantize_per_channel.default", f(2, 3), p(2), i(9, 2), 0, 0, 255, torch.uint8)
call("quantized_decomposed::dequantize_per_channel.default", i(1, -7).char(), p(2), i(0, 1), 0, -8, 7, torch.int8)
CALLS |= CALLS_OF_QUANTISATION

# whose reduction is a number, and others whose arguments are not those of the function of their name
call("hinge_embedding_loss.default", f(5), torch.tensor([1.0, -1, 1, 1, -1]), 0.7, 2)
call("multilabel_margin_loss.default", f(2, 3), torch.tensor([[1, 0, -1], [2, -1, 0]]), 0)
call("multilabel_margin_loss_forward.default", f(2, 3), torch.tensor([[1, 0, -1], [2, -1, 0]]), 1)
call("multi_margin_loss.default", f(3, 4), i(1, 0, 3), 2, 0.8, p(4), 2)
call("poisson_nll_loss.default", f(4), p(4) * 3, True, True, 1e-8, 0)
call("cosine_embedding_loss.default", f(2, 3), f(2, 3), torch.tensor([1.0, -1]), -0.5, 0)
call("margin_ranking_loss.default", f(4), f(4), torch.tensor([1.0, -1, 1, -1]), 0.3, 2)
call("triplet_margin_loss.default", f(2, 3), f(2, 3), f(2, 3), 0.9, 1.5, 1e-6, True, 0)
call("tensordot.default", f(2, 3, 4), f(4, 3), [1, 2], [1, 0])
call("softmax.int", i(1, 0, 2), 0, torch.float32)
call("log_softmax.int", i(1, 0, 2), 0, torch.float32)
call("cdist.default", f(2, 3), f(4, 3), 2.0, 2)
call("embedding_bag.padding_idx", f(5, 3), i(0, 4, 1, 4), i(0, 2), False, 0, False, None, False, -1)
call("fractional_max_pool2d.default", f(1, 2, 6, 6), [2, 2], [3, 4], torch.rand(1, 2, 2))
call("fractional_max_pool3d.default", f(1, 1, 5, 5, 5), [2, 2, 2], [2, 3, 2], torch.rand(1, 1, 3))
call("_softmax_backward_data.default", f(2, 3), torch.softmax(f(2, 3), 1), 1, torch.float32)
call("_log_softmax_backward_data.default", f(2, 3), torch.log_softmax(f(2, 3), 1), 1, torch.float32)
call("native_dropout_backward.default", f(2, 3), b(2, 3), 2.0)
call("linalg_vector_norm.default", i(3, 4).float(), 2, [0], True, dtype=torch.float32)
call("view.dtype", f(2, 3), torch.int32)
call("segment_reduce.default", f(5, 2), "mean", lengths=i(2, 0, 3), unsafe=True, initial=1.0)
call("_chunk_cat.default", [f(3, 2), f(5), f(4, 1, 2)], 0, 2)
call("_lu_with_info.default", f(2, 3, 3))
ROIS = torch.tensor([[0, 1, 1, 6, 5], [1, -3, 2, 2, 9], [1, 4.5, 3, 4, 2], [0, 9, 9, 12, 12]])
call("torchvision::roi_pool.default", f(2, 3, 6, 7), ROIS, 0.75, 2, 3)
call("torchvision::ps_roi_pool.default", f(2, 12, 6, 7), ROIS, 0.75, 2, 3)
call("torchvision::ps_roi_align.default", f(2, 12, 6, 7), ROIS, 0.75, 2, 3, 2)

# whose factor has a place, what takes a list, and views of a complex number's parts
for name in "add sub rsub".split():
    call(f"{name}.Scalar", f(2, 3), 1.5, -2)
call("chain_matmul.default", [f(2, 3), f(3, 1), f(1, 4)])
call("pad_sequence.default", [f(2, 3), f(4, 3), f(1, 3)], True, 0.5, "left")
call("_neg_view.default", f(2, 3))


def line(name, args, options):
    library, _, name = name.rpartition("::")
    base, overload = name.split(".")
    library = library or "aten"
    operator, encode = getattr(getattr(getattr(torch.ops, library), base), overload), Encoder()
    names = [a.name for a in operator._schema.arguments]
    # rounded first, so that what is computed belongs to what is written
    rounded = lambda x: (  # noqa: E731
        torch.tensor(recorded(x)["values"], dtype=torch.float64).to(x.dtype).reshape(x.shape)
        if isinstance(x, torch.Tensor)
        else [rounded(y) for y in x]
        if isinstance(x, list)
        else x
    )
    args, options = [rounded(a) for a in args], {k: rounded(v) for k, v in options.items()}
    inputs = [{"name": names[n], "arg": encode(a), "kind": 1} for n, a in enumerate(args)]
    inputs += [{"name": k, "arg": encode(v), "kind": 2} for k, v in options.items()]
    tensors = dict(encode.tensors)
    answer = operator(*args, **options)
    single = len(operator._schema.returns) == 1 and not isinstance(answer, list)
    return {
        "target": f"torch.ops.{library}.{name}",
        "inputs": inputs,
        "tensors": tensors,
        "single": single,
        "shape_alone": base in SHAPE_ALONE,
        "answer": result(answer),
    }


def main():
    print("operators of quantisation without a call:", without_a_call(CALLS))
    lines = [line(name, args, options) for name, (args, options) in CALLS.items()]
    core = {
        f"{n[6:]}{'' if '.' in n else '.default'}"
        for n in torch._C._dispatch_get_all_op_names()
        if n.startswith("aten::")
        and (base := n[6:].partition("."))
        and torch.Tag.core in getattr(getattr(torch.ops.aten, base[0]), base[2] or "default").tags
    }
    print("core operators without a call:", sorted(core - set(CALLS)))
    text = ",\n".join(json.dumps(x, separators=(",", ":")) for x in lines)
    (Path(__file__).parent / "aten.json").write_text(f"[\n{text}\n]\n")


if __name__ == "__main__":
    main()
