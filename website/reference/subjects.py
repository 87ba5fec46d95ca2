"""The headings of the reference's index, after those of PyTorch's documentation, and what stands under which.

An entry belongs to the heading that names it; else to that of the function that it does in place, or copies the result
of; else to that of its namespace, and in the root namespace to that of the file of definitions or the folder of the
runtime that it is from."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePosixPath

# Each heading: what is under it.  `ops/NAME` is a file of definitions, `runtime/PATH` a file or a folder, others are
# namespaces (`torch.fft`) or names.
SUBJECTS: Mapping[str, str] = {
    "Tensor": "Tensor torch.Tensor",
    "Creation": """
        runtime/creation torch.fill torch.range torch.block_diag torch.meshgrid torch.vander torch.linalg.vander
        torch.cartesian_prod torch.combinations torch.zero_
    """,
    "Types": """
        runtime/elements runtime/functions/type-info torch.is_floating_point torch.is_complex torch.is_signed
        torch.cdouble torch.complex128 torch.uint64 torch.BFloat16Tensor torch.BoolTensor torch.ByteTensor
        torch.CharTensor torch.DoubleTensor torch.FloatTensor torch.HalfTensor torch.IntTensor torch.LongTensor
        torch.ShortTensor torch.channels_last torch.channels_last_3d torch.contiguous_format torch.preserve_format
        torch.strided torch.to torch.set_default_dtype torch.get_default_dtype torch.Size torch.Results
        torch.Storage torch.is_tensor torch.numel
    """,
    "Shapes and views": """
        runtime/views runtime/functions/tensor-functions runtime/functions/copied-views
        runtime/functions/splitting-functions runtime/composite/turning runtime/composite/torch
        torch.broadcast_shapes torch.broadcast_tensors torch.newaxis torch.atleast_1d torch.atleast_2d
        torch.atleast_3d torch.fliplr torch.flipud torch.repeat_interleave torch.nn.functional.pad
    """,
    "Joining and indexing": """
        ops/index ops/index_write ops/scatter ops/segment runtime/functions/join runtime/functions/grids
        runtime/functions/indexing runtime/functions/index-put
        runtime/composite/picking runtime/composite/segments torch.argwhere torch.masked_select torch.nonzero
        torch.nonzero_static torch.where torch.masked_fill
    """,
    "Arithmetic": "ops/arithmetic torch.float_power",
    "Elementwise functions": "ops/math torch.e torch.pi torch.inf torch.nan torch.positive torch.nextafter",
    "Comparison": "ops/compare torch.allclose torch.equal torch.is_nonzero torch.is_same_size",
    "Reductions": "ops/reduce runtime/composite/adapted",
    "Sums and differences along an axis": """
        ops/scan runtime/composite/areas runtime/composite/gradient torch.diff
    """,
    "Sorting and searching": "ops/sort ops/search runtime/functions/counting runtime/composite/histogram",
    "Random numbers": """
        ops/random ops/draw torch.random torch.Generator torch.default_generator torch.rand torch.randn
        torch.randint torch.randperm torch.rand_like torch.randn_like torch.randint_like torch.normal
    """,
    "Linear algebra": """
        ops/linalg ops/matrix torch.linalg runtime/composite/matrix-norms runtime/composite/einsum
        runtime/composite/products torch.adjoint torch.chain_matmul torch.frobenius_norm torch.nuclear_norm
        torch.norm_except_dim torch.linalg.vector_norm torch.diag torch.diagflat
    """,
    "Factorizations and solvers": """
        ops/factor ops/ldl ops/lu ops/qr ops/svd ops/eig ops/schur ops/solve ops/determinant torch.linalg.lstsq
        torch.linalg.solve torch.linalg.solve_ex torch.linalg.tensorsolve torch.linalg.tensorinv
        runtime/composite/low-rank
    """,
    "Fourier transforms and windows": "ops/fft ops/window torch.fft torch.signal runtime/composite/stft",
    "Special functions": "ops/bessel ops/gamma ops/orthogonal ops/probability torch.special",
    "Complex numbers": """
        ops/complex ops/complex_reduce runtime/functions/complex-parts torch.is_conj torch.is_neg torch.resolve_conj
        torch.resolve_neg torch.Complex
    """,
    "Masked reductions": "ops/masked torch.masked",
    "Modules": "torch.nn",
    "Initial weights": "torch.nn.init",
    "Tools for modules": "torch.nn.utils",
    "Activations": """
        ops/activation torch.softmax torch.log_softmax torch.nn.functional.softmin torch._safe_softmax
    """,
    "Convolutions": "ops/conv torch.convolution torch.nn.functional.conv_tbc",
    "Pooling": "ops/pool ops/unpool runtime/composite/fractional-pool torch.max_pool1d_with_indices",
    "Normalization": """
        ops/norm torch.native_layer_norm torch.nn.functional.normalize torch.batch_norm torch.instance_norm
    """,
    "Attention": "ops/attention runtime/composite/attention torch.nn.attention",
    "Recurrent cells": "ops/recurrent torch.gru_cell torch.lstm_cell torch.rnn_relu_cell torch.rnn_tanh_cell",
    "Embeddings": """
        ops/embedding_bag torch.nn.functional.embedding torch.embedding torch.embedding_renorm_
        runtime/composite/classes runtime/composite/torch/embedding-bag
    """,
    "Dropout": "ops/dropout torch.native_dropout",
    "Losses": """
        ops/loss ops/margin ops/ctc runtime/composite/functional runtime/composite/torch/root-losses
    """,
    "Distances": "ops/distance torch.dist torch.pairwise_distance torch.pdist torch.cosine_similarity",
    "Pictures": """
        ops/grid ops/resample ops/patches ops/pixels ops/regions torch.affine_grid_generator torch.grid_sampler
        torch.grid_sampler_2d torch.grid_sampler_3d torch.pixel_shuffle torch.pixel_unshuffle torch.channel_shuffle
        torch.nn.functional.native_channel_shuffle
    """,
    "Quantization": "ops/quantised torch.fake_quantize_per_channel_affine",
    "Optimizers": "torch.optim ops/optim",
    "Schedulers": "torch.optim.lr_scheduler",
    "Averaged weights": "torch.optim.swa_utils",
    "Data": "torch.utils.data",
    "Autograd": "torch.autograd torch.utils.checkpoint runtime/autograd runtime/tape torch.is_inference",
    "Function transforms": "torch.func",
    "Mixed precision": "torch.amp runtime/amp",
    "Distributions": "torch.distributions",
    "Compiled programs": "torch.compiler runtime/capture runtime/functions/control runtime/composite/torch/symbolic",
    "Exported models": "torch.export torch.onnx",
    "Saving and loading": "runtime/files torch.safetensors torch.hub",
    "Devices": """
        runtime/devices runtime/interop torch.webgpu runtime/init-webgpu torch.device torch.Device
        torch.get_default_device torch.set_default_device torch.get_device torch.set_num_threads
        torch.get_num_threads
    """,
    "Canvas, video and sound": "runtime/media",
    "Memory": """
        runtime/tensor torch.keep torch.memory torch.tidy torch.memory_summary torch.record_memory_history
    """,
    "Profiling and debugging": "torch.profiler runtime/tools",
    "Settings": "runtime/functions/settings torch.set_printoptions torch.backends torch.__version__",
    "Errors": """
        runtime/base/errors torch.FileError torch.DebugError torch.AutogradError torch.DeviceError torch.IndexError
        torch.OpError torch.TypeMismatchError torch.linalg.LinAlgError
    """,
    "Testing": "torch.testing",
}
PLACES = {place: subject for subject, places in SUBJECTS.items() for place in places.split()}
# Namespaces of the root's functions, whose entries are sorted by where they are from.
MIXED = ("torch", "torch.nn.functional", "Tensor")


def known(name: str, source: str) -> str | None:
    """The heading of a name by itself, its source (`ops/math`, `runtime/views/squeeze.d.ts`) or its namespace, which
    comes before a source in the runtime; None where nothing says it."""
    path, space = PurePosixPath(source.removesuffix(".d.ts")), name.rpartition(".")[0]
    sources, spaces = [str(path), *map(str, path.parents)], []
    while space not in (*MIXED, ""):
        spaces.append(space)
        space = space.rpartition(".")[0]
    wanted = [*sources, *spaces] if source.startswith("ops/") else [*spaces, *sources]
    return next((PLACES[w] for w in (name, *wanted) if w in PLACES), None)


def twin(name: str) -> str:
    """What `torch.abs_` does in place, `torch.squeeze_copy` copies; the name itself if it is of neither kind."""
    return name.removesuffix("_copy").removesuffix("_")
