"""Steps that go element by element, reductions and scans."""

from __future__ import annotations

from values import Values

UNARY = [
    "neg",
    "abs",
    "sin",
    "cos",
    "tanh",
    "sigmoid",
    "exp",
    "relu",
    "square",
    "floor",
    "ceil",
    "round",
    "trunc",
    "frac",
    "sign",
    "erf",
    "expm1",
    "logical_not",
    "isnan",
    "isinf",
    "isfinite",
    "positive",
    "sgn",
    "atan",
    "sinh",
    "reciprocal",
    "sqrt",
    "rsqrt",
    "log1p",
    "log",
    "asinh",
    "deg2rad",
    "signbit",
    "erfc",
    "sinc",
    "exp2",
    "nan_to_num",
    "acos",
    "bitwise_not",
    "tan",
    "logit",
    "digamma",
    "lgamma",
]
FUNCTIONAL = [
    "relu",
    "gelu",
    "silu",
    "softplus",
    "elu",
    "selu",
    "leaky_relu",
    "hardtanh",
    "relu6",
    "hardsigmoid",
    "hardswish",
    "mish",
    "logsigmoid",
    "softsign",
    "tanhshrink",
    "softshrink",
    "hardshrink",
    "celu",
]
BINARY = [
    "add",
    "sub",
    "mul",
    "div",
    "maximum",
    "minimum",
    "remainder",
    "fmod",
    "floor_divide",
    "atan2",
    "hypot",
    "eq",
    "ne",
    "lt",
    "le",
    "gt",
    "ge",
    "logical_and",
    "logical_or",
    "logical_xor",
    "bitwise_and",
    "bitwise_or",
    "bitwise_xor",
    "fmax",
    "fmin",
    "copysign",
    "logaddexp",
    "heaviside",
    "xlogy",
    "pow",
    "rsub",
    "float_power",
    "nextafter",
]
REDUCE = [
    "sum",
    "mean",
    "prod",
    "amax",
    "amin",
    "any",
    "all",
    "var",
    "std",
    "norm",
    "logsumexp",
    "nansum",
    "count_nonzero",
    "argmax",
    "argmin",
    "max",
    "min",
    "aminmax",
    "nanmean",
]
SCAN = ["cumsum", "cumprod", "cummax", "cummin", "logcumsumexp", "softmax", "log_softmax", "flip", "diff"]


class Elements(Values):
    def unary(self):
        n = self.pick()
        op = self.rng.choice(UNARY[:18] if self.exact and self.rng.random() < 0.7 else UNARY)
        if op == "round" and self.t(n).is_floating_point() and self.rng.random() < 0.3:
            return self.do("torch.round", [self.T(n)], {"decimals": 1})
        if op == "nan_to_num":
            return self.do("torch.nan_to_num", [self.T(n)], {"nan": 0.5, "posinf": 3, "neginf": -3})
        return self.do(self.rng.choice(["torch.", "torch.Tensor."]) + op, [self.T(n)])

    def functional(self):
        n = self.float()
        return n is not None and self.do("torch.nn.functional." + self.rng.choice(FUNCTIONAL), [self.T(n)])

    def binary(self):
        n = self.pick()
        t = self.t(n)
        op = self.rng.choice(BINARY[:8] if self.exact and self.rng.random() < 0.6 else BINARY)
        other = {"t": self.partner(t)} if self.rng.random() < 0.7 else self.scalar(t)
        if op in ("pow", "float_power") and not isinstance(other, dict):
            other = self.rng.choice([2, 3, 0, 1, 0.5, -1])
        k = {}
        if op in ("add", "sub") and self.rng.random() < 0.2:
            k["alpha"] = self.rng.choice([2, -1, 0.5, 3])
        if op == "div" and self.rng.random() < 0.3:
            k["rounding_mode"] = self.rng.choice(["floor", "trunc"])
        return self.do(
            self.rng.choice(["torch.", "torch.Tensor."]) + op if op != "rsub" else "torch.rsub", [self.T(n), other], k
        )

    def reduce(self):
        op = self.rng.choice(REDUCE)
        n = (
            self.pick()
            if self.rng.random() < 0.2
            else self.float()
            if op not in ("any", "all", "count_nonzero")
            else self.pick()
        )
        if n is None:
            return False
        t = self.t(n)
        a, k = [self.T(n)], {}
        which = self.rng.random()
        if op in ("argmax", "argmin", "max", "min", "aminmax"):
            if which < 0.65:
                d = self.dim(t)
                if op == "aminmax":
                    k["dim"] = d
                else:
                    a.append(d)
                if self.rng.random() < 0.3:
                    k["keepdim"] = True
        elif op == "prod" or (op == "any" or op == "all") and which < 0.4:
            if which < 0.6:
                a.append(self.dim(t))
                if self.rng.random() < 0.3:
                    k["keepdim"] = True
        elif op == "logsumexp" or which < 0.65:
            k["dim"] = self.dims(t) if self.rng.random() < 0.6 else self.dim(t)
            if op not in ("count_nonzero",) and self.rng.random() < 0.3:
                k["keepdim"] = True
        if op == "norm":
            k["p"] = self.rng.choice([1, 2, 0.5, 3, {"x": "inf"}, {"x": "-inf"}, 0])
        if op in ("var", "std") and self.rng.random() < 0.4:
            k["correction"] = self.rng.choice([0, 1, 2])
        if op in ("sum", "mean", "prod") and self.rng.random() < 0.12:
            k["dtype"] = {"d": self.rng.choice(["float32", "int64"] if op != "mean" else ["float32"])}
        return self.do(self.rng.choice(["torch.", "torch.Tensor."]) + op, a, k)

    def scan(self):
        op = self.rng.choice(SCAN)
        n = self.float() if op not in ("flip", "diff", "cumsum") else self.pick()
        if n is None:
            return False
        t = self.t(n)
        if op == "flip":
            return self.do("torch.flip", [self.T(n), self.dims(t)])
        if op == "diff":
            return self.do("torch.diff", [self.T(n)], {"dim": self.dim(t), "n": self.rng.choice([1, 1, 2])})
        return self.do(self.rng.choice(["torch.", "torch.Tensor."]) + op, [self.T(n), self.dim(t)])
