"""Calls of the operators that graphs of PyTorch's quantisers consist of, for record_aten.py."""

import torch
import torch.ao.quantization.fx._decomposed  # quantized_decomposed

CALLS_OF_QUANTISATION: dict[str, list] = {}


def call(name, *args, **options):
    CALLS_OF_QUANTISATION[name] = [args, options]


QUANTISED = "quantized_decomposed"
ROWS = torch.tensor([[-1.3, 0.4, 2.6, 0.06], [0.7, 0.2, 0.9, 1.1], [-0.2, -3.1, -0.8, -2.2]])
WIDE, WIDE_ZEROS = torch.tensor([[0.02], [0.004], [0.013]]), torch.tensor([-43, -128, 127]).reshape(3, 1)
CODES = torch.tensor([-128, 3, 77, 127, 0, -1, 9, 40, -5, 12, -99, 64]).char().reshape(3, 4)
PAIRS, PAIR_ZEROS = (
    torch.tensor([[0.02, 0.5], [0.004, 0.1], [0.3, 0.07]]),
    torch.tensor([1, -2, 0, 3, -7, 7]).int().reshape(3, 2),
)
ENDS = [torch.tensor([x]) for x in (0.02, 3, -8, 7)]
call(f"{QUANTISED}::quantize_per_tensor.tensor", ROWS, torch.tensor([0.02]), torch.tensor([-3]), -128, 127, torch.int8)
call(f"{QUANTISED}::quantize_per_tensor.tensor2", ROWS, *ENDS, torch.int8)
call(f"{QUANTISED}::dequantize_per_tensor.default", CODES, 0.03, 4, -128, 127, torch.int8)
call(f"{QUANTISED}::dequantize_per_tensor.tensor2", CODES, *ENDS, torch.int8, out_dtype=torch.float32)
call(f"{QUANTISED}::choose_qparams.tensor", ROWS, -128, 127, 1e-5, torch.int8)
call(f"{QUANTISED}::choose_qparams_symmetric.tensor", ROWS, 0, 255, 1e-5, torch.uint8)
call(f"{QUANTISED}::choose_qparams_per_token.default", ROWS, torch.int8)
call(f"{QUANTISED}::choose_qparams_per_token_asymmetric.default", ROWS, torch.int8)
call(f"{QUANTISED}::quantize_per_token.default", ROWS, WIDE, WIDE_ZEROS, -128, 127, torch.int8)
call(f"{QUANTISED}::dequantize_per_token.default", CODES, WIDE, WIDE_ZEROS, -128, 127, torch.int8, torch.float32)
call(f"{QUANTISED}::quantize_per_channel_group.default", ROWS, PAIRS, PAIR_ZEROS, -8, 7, torch.int8, 2)
call(f"{QUANTISED}::dequantize_per_channel_group.default", CODES, PAIRS, None, -8, 7, torch.int8, 2, torch.float32)
call(f"{QUANTISED}::fake_quant_per_channel.default", ROWS, PAIRS[:, 0], PAIR_ZEROS[:, 0], 0, -8, 7)
call(f"{QUANTISED}::convert_element_type.no_fuse", ROWS, torch.int32)
call("_int_mm.default", CODES.repeat(6, 2), CODES.T.repeat(2, 8)[:, :16].contiguous())
call("_weight_int8pack_mm.default", ROWS.repeat(1, 8), CODES.repeat(6, 8)[:16], torch.linspace(0.01, 0.2, 16))


def without_a_call(calls) -> list[str]:
    listed = {n for n in torch._C._dispatch_get_all_op_names() if n.startswith(f"{QUANTISED}::")}
    return sorted(listed - {name.removesuffix(".default") for name in calls})
