"""Arguments and answers of an operator in the notation of torch.export's archives."""

import torch

TYPES = {
    torch.uint8: 1, torch.int8: 2, torch.int16: 3, torch.int32: 4, torch.int64: 5, torch.float16: 6, torch.float32: 7,
    torch.float64: 8, torch.bool: 12,
}  # fmt: skip


class Encoder:
    """Arguments in the archive's notation; tensors get names."""

    def __init__(self):
        self.tensors = {}

    def tensor(self, x):
        name = f"t{len(self.tensors)}"
        self.tensors[name] = recorded(x)
        return {"name": name}

    def __call__(self, x):
        match x:
            case None:
                return {"as_none": True}
            case torch.Tensor():
                return {"as_tensor": self.tensor(x)}
            case bool():
                return {"as_bool": x}
            case int():
                return {"as_int": x}
            case float():
                return {"as_float": x}
            case str():
                return {"as_string": x}
            case torch.dtype():
                return {"as_scalar_type": TYPES[x]}
            case torch.device():
                return {"as_device": {"type": x.type, "index": None}}
            case [torch.Tensor(), *_] if all(isinstance(y, torch.Tensor) for y in x):
                return {"as_tensors": [self.tensor(y) for y in x]}
            case [*_] if any(isinstance(y, torch.Tensor) for y in x):
                return {"as_optional_tensors": [self(y) for y in x]}
            case [bool(), *_]:
                return {"as_bools": x}
            case [float(), *_]:
                return {"as_floats": x}
            case [*_]:
                return {"as_ints": x}
        raise TypeError(x)


def recorded(x):
    values = x.double().flatten().tolist() if isinstance(x, torch.Tensor) else x
    return {"dtype": TYPES[x.dtype], "shape": list(x.shape), "values": [round(v, 7) for v in values]}


def result(x):
    if isinstance(x, torch.Tensor):
        return recorded(x)
    return x if isinstance(x, int | float | bool) or x is None else [result(y) for y in x]
