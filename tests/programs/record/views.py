"""Views of every kind, and how a shape falls into factors."""

from __future__ import annotations

from values import Values


class Views(Values):
    def factors(self, n: int) -> list[int]:
        out, r = [], self.rng
        while n > 1:
            d = r.choice([d for d in range(2, n + 1) if n % d == 0])
            out.append(d)
            n //= d
        for _ in range(r.randrange(3)):
            out.insert(r.randint(0, len(out)), 1)
        return out

    def view(self):
        r = self.rng
        n = self.pick()
        t = self.t(n)
        x = self.T(n)
        op = r.choice(
            [
                "view",
                "reshape",
                "permute",
                "transpose",
                "squeeze",
                "unsqueeze",
                "expand",
                "select",
                "narrow",
                "diagonal",
                "unfold",
                "split",
                "chunk",
                "unbind",
                "flatten",
                "unflatten",
                "movedim",
                "swapaxes",
                "as_strided",
                "detach",
                "expand_as",
                "T",
                "mT",
                "tensor_split",
                "t",
                "squeeze dims",
                "ravel",
                "contiguous",
                "alias",
            ]
        )
        d = self.dim(t)
        size = t.shape[d] if t.dim() and -t.dim() <= d < t.dim() else 1
        m = "torch.Tensor."
        if op in ("view", "reshape"):
            s = self.factors(t.numel()) if t.numel() else [*t.shape[::-1]]
            if s and r.random() < 0.3 and t.numel():
                s[r.randrange(len(s))] = -1
            return self.do(m + op, [x, s])
        if op == "permute":
            return self.do(m + op, [x, r.sample(range(t.dim()), t.dim())])
        if op in ("transpose", "swapaxes"):
            return self.do(m + op, [x, d, self.dim(t)])
        if op == "squeeze":
            return self.do(m + op, [x] if r.random() < 0.4 else [x, d])
        if op == "squeeze dims":
            return self.do("torch.squeeze", [x, {"u": self.dims(t)}])
        if op == "unsqueeze":
            return t.dim() < 6 and self.do(m + op, [x, r.randint(-t.dim() - 1, t.dim())])
        if op == "expand":
            s = [k if k != 1 or r.random() < 0.4 else r.choice([2, 3, 4]) for k in t.shape]
            s = [-1 if r.random() < 0.3 else k for k in s]
            if r.random() < 0.3 and t.dim() < 5:
                s = [r.choice([1, 2, 3]), *s]
            return self.do(m + op, [x, s])
        if op == "expand_as":
            o = self.pick(lambda u: u.dim() >= t.dim() and u.numel() < 400)
            return o is not None and r.random() < 0.4 and self.do(m + op, [x, self.T(o)])
        if op == "select":
            return t.dim() and self.do(m + op, [x, d, r.randrange(-size, size) if size else 0])
        if op == "narrow":
            if not t.dim():
                return False
            start = r.randint(0, size)
            return self.do(m + op, [x, d, start, r.randint(0, size - start)])
        if op == "diagonal":
            if t.dim() < 2:
                return False
            a, b = r.sample(range(t.dim()), 2)
            return self.do(m + op, [x], {"offset": r.choice([0, 0, 1, -1]), "dim1": a, "dim2": b})
        if op == "unfold":
            return t.dim() and size and self.do(m + op, [x, d, r.randint(1, size), r.randint(1, 3)])
        if op == "split":
            return t.dim() and self.do(m + op, [x, r.randint(1, 3)], {"dim": d})
        if op in ("chunk", "tensor_split"):
            return t.dim() and self.do("torch." + op, [x, r.randint(1, 3), d])
        if op == "unbind":
            return t.dim() and size < 5 and self.do(m + op, [x, d])
        if op == "flatten":
            if t.dim() < 2:
                return self.do(m + op, [x])
            a = r.randrange(t.dim())
            return self.do(m + op, [x, a, r.randint(a, t.dim() - 1)])
        if op == "unflatten":
            if not t.dim() or not size:
                return False
            return self.do(m + op, [x, d, self.factors(size) or [1]])
        if op == "movedim":
            return t.dim() and self.do("torch.movedim", [x, d, self.dim(t)])
        if op == "as_strided":
            if not t.numel():
                return False
            s, st, room = [], [], t.untyped_storage().nbytes() // t.element_size() - 1 - t.storage_offset()
            for _ in range(r.randint(0, 3)):
                stride = r.choice([0, 1, 1, 2, 3])
                k = r.randint(1, 4)
                if stride * (k - 1) <= room:
                    room -= stride * (k - 1)
                    s.append(k), st.append(stride)
            return self.do(m + op, [x, s, st])
        if op in ("T", "mT"):
            if op == "T" and t.dim() != 2 or op == "mT" and t.dim() < 2:
                return False
            return self.do(f"torch.Tensor.{op}.__get__", [x])
        if op == "t":
            return t.dim() <= 2 and self.do(m + op, [x])
        if op == "alias":
            return self.do("torch.Tensor.view_as", [x, x])
        return self.do(m + op, [x])
