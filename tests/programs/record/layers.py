"""Losses, and the functions behind layers."""

from __future__ import annotations

import numpy as np
from answers import dtype_name
from values import Values


class Layers(Values):
    def shaping(self):
        r = self.rng
        n = self.float(lambda t: 2 <= t.dim() <= 4 and t.numel())
        if n is None:
            return False
        t = self.t(n)
        return (
            self.do("torch." + r.choice(["cov", "corrcoef"]), [self.T(n)])
            if t.dim() == 2 and r.random() < 0.2 and t.shape[1] > 1
            else (
                self.do("torch.nn.functional.normalize", [self.T(n)], {"dim": self.dim(t), "p": r.choice([1, 2])})
                if r.random() < 0.4
                else (
                    self.do(
                        "torch.nn.functional.cosine_similarity",
                        [self.T(n), self.T(self.const(list(t.shape), dtype_name(t.dtype)))],
                        {"dim": self.dim(t)},
                    )
                    if r.random() < 0.5
                    else (
                        self.do(
                            "torch.cartesian_prod",
                            [self.T(self.const([2], "float32")), self.T(self.const([3], "float32"))],
                        )
                        if r.random() < 0.3
                        else self.do(
                            "torch.meshgrid",
                            [self.T(self.const([2], "float32")), self.T(self.const([3], "float32"))],
                            {"indexing": r.choice(["ij", "xy"])},
                        )
                    )
                )
            )
        )

    def loss(self):
        r = self.rng
        n = self.float()
        if n is None:
            return False
        t = self.t(n)
        dt = dtype_name(t.dtype)
        op = r.choice(
            [
                "mse_loss",
                "l1_loss",
                "smooth_l1_loss",
                "huber_loss",
                "binary_cross_entropy_with_logits",
                "cross_entropy",
                "nll_loss",
                "kl_div",
                "hinge_embedding_loss",
                "soft_margin_loss",
                "poisson_nll_loss",
                "cosine_embedding_loss",
                "margin_ranking_loss",
                "triplet_margin_loss",
                "gaussian_nll_loss",
            ]
        )
        k = {"reduction": r.choice(["mean", "sum", "none"])} if r.random() < 0.7 else {}
        f = "torch.nn.functional." + op
        if op in ("cross_entropy", "nll_loss"):
            if t.dim() not in (1, 2, 3, 4) or not t.numel():
                return False
            c = t.shape[1] if t.dim() > 1 else t.shape[0]
            s = [t.shape[0], *t.shape[2:]] if t.dim() > 1 else []
            if op == "cross_entropy" and r.random() < 0.3:
                k["label_smoothing"] = 0.25
            if r.random() < 0.2:
                k["weight"] = self.T(self.const([c], dt, False, np.full(c, 0.5)))
            if r.random() < 0.2:
                k["ignore_index"] = 0
            return self.do(f, [self.T(n), self.T(self.index_tensor(c, s))], k)
        if op == "gaussian_nll_loss":
            return self.do(
                f,
                [
                    self.T(n),
                    self.T(self.const(list(t.shape), dt)),
                    self.T(self.const(list(t.shape), dt, False, np.full(t.shape, 0.75))),
                ],
                k,
            )
        if op in ("margin_ranking_loss", "triplet_margin_loss"):
            return (
                t.dim() in (1, 2)
                and t.numel()
                and self.do(
                    f,
                    [self.T(n), self.T(self.const(list(t.shape), dt)), self.T(self.const(list(t.shape), dt, False))],
                    k,
                )
            )
        if op == "cosine_embedding_loss":
            return (
                t.dim() == 2
                and t.numel()
                and self.do(
                    f,
                    [
                        self.T(n),
                        self.T(self.const(list(t.shape), dt)),
                        self.T(self.const([t.shape[0]], dt, False, np.sign(self.array([t.shape[0]], "int32") + 0.5))),
                    ],
                    k,
                )
            )
        if op in ("hinge_embedding_loss", "soft_margin_loss"):
            return self.do(
                f,
                [
                    self.T(n),
                    self.T(self.const(list(t.shape), dt, False, np.sign(self.array(list(t.shape), "int32") + 0.5))),
                ],
                k,
            )
        return self.do(f, [self.T(n), self.T(self.const(list(t.shape), dt, self.grads and r.random() < 0.3, None))], k)

    def layer(self):
        r = self.rng
        n = self.float(lambda t: 1 <= t.dim() <= 5 and t.numel())
        if n is None:
            return False
        t = self.t(n)
        dt = dtype_name(t.dtype)
        x = self.T(n)
        nf = "torch.nn.functional."
        op = r.choice(
            [
                "layer_norm",
                "group_norm",
                "batch_norm",
                "instance_norm",
                "conv1d",
                "conv2d",
                "conv_transpose1d",
                "max_pool1d",
                "avg_pool1d",
                "max_pool2d",
                "avg_pool2d",
                "adaptive_avg_pool1d",
                "interpolate",
                "glu",
                "pixel_shuffle",
                "unfold",
                "local_response_norm",
                "rms_norm",
                "prelu",
                "scaled_dot_product_attention",
                "fold",
                "lp_pool1d",
                "adaptive_max_pool1d",
            ]
        )
        if op in ("layer_norm", "rms_norm"):
            k = r.randint(1, t.dim())
            s = list(t.shape[t.dim() - k :])
            a = [x, s]
            if r.random() < 0.5:
                a += [self.T(self.const(s, dt))] + ([self.T(self.const(s, dt))] if op == "layer_norm" else [])
            return self.do(nf + op, a)
        if op in ("batch_norm", "instance_norm"):
            if t.dim() < 2 or t.dim() > 5 or op == "instance_norm" and t.dim() < 3:
                return False
            c = t.shape[1]
            k = {"weight": self.T(self.const([c], dt)), "bias": self.T(self.const([c], dt))} if r.random() < 0.5 else {}
            if op == "batch_norm" and r.random() < 0.4:
                return self.do(
                    nf + op,
                    [x, self.T(self.const([c], dt, False)), self.T(self.const([c], dt, False, np.full(c, 0.75)))],
                    {**k, "training": r.random() < 0.5},
                )
            return self.do(nf + op, [x, None, None], {**k, **({"training": True} if op == "batch_norm" else {})})
        if op == "group_norm":
            if t.dim() < 2:
                return False
            c = t.shape[1]
            g = r.choice([d for d in range(1, c + 1) if c % d == 0])
            return self.do(nf + op, [x, g])
        if op in ("conv1d", "conv2d", "conv_transpose1d"):
            nd = 2 if op == "conv2d" else 1
            if t.dim() not in (nd + 1, nd + 2):
                return False
            c = t.shape[-nd - 1]
            g = r.choice([d for d in range(1, c + 1) if c % d == 0])
            w = [g * r.randint(1, 2), c // g] if op != "conv_transpose1d" else [c, r.randint(1, 2)]
            w += [r.randint(1, min(3, s + 1)) for s in t.shape[-nd:]]
            k = {"stride": r.randint(1, 2), "padding": r.randint(0, 1), "groups": g, "dilation": r.choice([1, 1, 2])}
            bias = (
                self.T(self.const([w[0] if op != "conv_transpose1d" else w[1] * g], dt)) if r.random() < 0.5 else None
            )
            return self.do(nf + op, [x, self.T(self.const(w, dt)), bias], k)
        if op in ("max_pool1d", "avg_pool1d", "adaptive_avg_pool1d", "lp_pool1d", "adaptive_max_pool1d"):
            if t.dim() not in (2, 3):
                return False
            if op.startswith("adaptive"):
                return self.do(nf + op, [x, r.randint(1, 3)])
            if op == "lp_pool1d":
                return self.do(nf + op, [x, 2, r.randint(1, 2)])
            return self.do(
                nf + op,
                [x, r.randint(1, 3)],
                {"stride": r.randint(1, 2), "padding": r.choice([0, 0, 1]), "ceil_mode": r.random() < 0.3},
            )
        if op in ("max_pool2d", "avg_pool2d"):
            if t.dim() not in (3, 4):
                return False
            k = {"stride": r.randint(1, 2), "ceil_mode": r.random() < 0.3}
            if op == "avg_pool2d":
                k["count_include_pad"] = r.random() < 0.5
            return self.do(nf + op, [x, [r.randint(1, 2), r.randint(1, 3)]], {**k, "padding": r.choice([0, 0, 1])})
        if op == "interpolate":
            if t.dim() not in (3, 4, 5):
                return False
            mode = r.choice(
                ["nearest", {3: "linear", 4: "bilinear", 5: "trilinear"}[t.dim()], "nearest-exact", "area"]
                + (["bicubic"] if t.dim() == 4 else [])
            )
            k = {"mode": mode}
            if "linear" in mode or mode == "bicubic":
                k["align_corners"] = r.random() < 0.5
            return self.do(
                nf + op,
                [x],
                (
                    {"size": [r.randint(1, 4) for _ in range(t.dim() - 2)], **k}
                    if r.random() < 0.6
                    else {"scale_factor": r.choice([2, 1.5, 0.5]), **k}
                ),
            )
        if op == "glu":
            return self.do(nf + op, [x, self.dim(t)])
        if op == "pixel_shuffle":
            return t.dim() >= 3 and t.shape[-3] % 4 == 0 and self.do(nf + op, [x, 2])
        if op == "unfold":
            return t.dim() == 4 and self.do(nf + op, [x, r.randint(1, 2)], {"padding": r.randint(0, 1)})
        if op == "local_response_norm":
            return t.dim() >= 3 and self.do(nf + op, [x, 2])
        if op == "prelu":
            return t.dim() >= 2 and self.do(nf + op, [x, self.T(self.const(r.choice([[1], [t.shape[1]]]), dt))])
        if op == "scaled_dot_product_attention":
            return t.dim() in (3, 4) and self.do(
                nf + op,
                [x, self.T(self.const(list(t.shape), dt)), self.T(self.const(list(t.shape), dt))],
                {"is_causal": r.random() < 0.4},
            )
