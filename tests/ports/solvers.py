"""Differential equations in networks: gradients by the adjoint equation, and paths that data control."""

import torch
import torch.nn.functional as F
from given import filled, numbers
from torch import nn, optim


def flattened(tensors):
    return torch.cat([x.contiguous().view(-1) for x in tensors])


def solve(func, y0, t):
    """torchdiffeq's fixed steps by the 3/8 rule."""
    solution = torch.empty(len(t), *y0.shape, dtype=y0.dtype, device=y0.device)
    solution[0] = y = y0
    for j, (t0, t1) in enumerate(zip(t[:-1], t[1:], strict=True)):
        dt = t1 - t0
        k1 = func(t0, y)
        k2 = func(t0 + dt / 3, y + dt * k1 / 3)
        k3 = func(t0 + dt * 2 / 3, y + dt * (k2 - k1 / 3))
        k4 = func(t1, y + dt * (k1 - k2 + k3))
        y = y + (k1 + 3 * (k2 + k3) + k4) * dt * 0.125
        solution[j + 1] = y
    return solution


class Adjoint(torch.autograd.Function):
    @staticmethod
    def forward(ctx, func, y0, t, *params):
        ctx.func = func
        with torch.no_grad():
            solution = solve(func, y0, t)
            ctx.save_for_backward(t, solution, *params)
        return solution

    @staticmethod
    def backward(ctx, grad_y):
        t, y, *params = ctx.saved_tensors
        augmented = [torch.zeros(()), y[-1], grad_y[-1], *[torch.zeros_like(p) for p in params]]
        shapes, sizes = [x.shape for x in augmented], [x.numel() for x in augmented]

        def apart(flat):
            return [x.view(shape) for x, shape in zip(torch.split(flat, sizes), shapes, strict=True)]

        def dynamics(t, flat):
            _, y, adj_y, *_ = apart(flat)
            with torch.enable_grad():
                t = t.detach().requires_grad_(True)
                y = y.detach().requires_grad_(True)
                f = ctx.func(t, y)
                slopes = torch.autograd.grad(f, (t, y, *params), -adj_y, allow_unused=True, retain_graph=True)
            slopes = [torch.zeros_like(x) if g is None else g for x, g in zip((t, y, *params), slopes, strict=True)]
            return flattened([slopes[0], f, *slopes[1:]])

        by_time = torch.empty(len(t)) if ctx.needs_input_grad[2] else None
        for i in range(len(t) - 1, 0, -1):
            if by_time is not None:
                by_time[i] = ctx.func(t[i], y[i]).reshape(-1).dot(grad_y[i].reshape(-1))
                augmented[0] -= by_time[i]
            augmented = apart(solve(dynamics, flattened(augmented), t[i - 1 : i + 1].flip(0))[1])
            augmented[1] = y[i - 1]
            augmented[2] = augmented[2] + grad_y[i - 1]
        if by_time is not None:
            by_time[0] = augmented[0]
        return None, augmented[2], by_time, *augmented[3:]


class Dynamics(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(3, 6), nn.Tanh(), nn.Linear(6, 2))
        self.unused = nn.Parameter(torch.ones(2))
        self.y0 = nn.Parameter(torch.zeros(3, 2))
        self.t = nn.Parameter(torch.zeros(4))

    def forward(self, t, y):
        return self.net(torch.cat([y**3, t.expand(y.shape[0], 1)], 1))


def adjoint():
    model = filled(Dynamics())
    model.net[-1] = filled(nn.Linear(6, 2))
    with torch.no_grad():
        model.t.copy_(torch.tensor([0.0, 0.2, 0.5, 0.6]))
    optimizer = optim.Adam(model.parameters(), lr=0.05)
    odeint_adjoint, wanted = Adjoint.apply, numbers([3, 3, 2], 60)

    def step(i):
        optimizer.zero_grad()
        y = odeint_adjoint(model, model.y0, model.t, *model.parameters())
        loss = F.smooth_l1_loss(y[1:], wanted)
        loss.backward()
        optimizer.step()
        return loss, y

    return model, step


def filled_forward(x):
    """What is missing is what was there last."""
    places = (~torch.isnan(x)) * torch.arange(1, x.size(-2) + 1).unsqueeze(-1)
    last = places.cummax(dim=-2).values - 1
    found = torch.gather(torch.nan_to_num(x), -2, last.clamp(min=0))
    return torch.where(last < 0, torch.zeros(()), found)


def hermite(x, t):
    dx = torch.diff(x, dim=-2) / torch.diff(t)[:, None]
    d = torch.cat([dx[..., :1, :], dx], -2)
    a, b, rise = x[..., :-1, :], d[..., :-1, :], d[..., 1:, :] - d[..., :-1, :]
    two_c = 2 * (3 * (dx - b) - rise)
    return torch.cat([a, b, two_c, rise - two_c], dim=-1)


class Controlled(nn.Module):
    def __init__(self, t):
        super().__init__()
        self.register_buffer("t", t, persistent=False)
        self.initial, self.readout = nn.Linear(3, 4), nn.Linear(4, 1)
        self.first, self.second = nn.Linear(4, 6), nn.Linear(6, 4 * 3)

    def field(self, z):
        return self.second(self.first(z).relu()).tanh().view(*z.shape[:-1], 4, 3)

    def forward(self, coeffs):
        a, b, two_c, three_d = coeffs.chunk(4, dim=-1)
        z = self.initial(a[:, 0])
        for t in torch.linspace(0.01, 0.95, 6):
            i = (torch.bucketize(t, self.t) - 1).clamp(0, len(self.t) - 2)
            part = t - self.t[i]
            slope = b[..., i, :] + (two_c[..., i, :] + three_d[..., i, :] * part) * part
            z = z + 0.19 * (self.field(z) @ slope.unsqueeze(-1)).squeeze(-1)
        return self.readout(z).squeeze(-1)


def controlled():
    x, t = numbers([4, 6, 3]), torch.linspace(0, 1, 6)
    x[0, 2, 1] = float("nan")
    x[1, 4:, 0] = float("nan")
    x[1, 0, 2] = float("nan")
    coeffs, model = hermite(filled_forward(x), t), filled(Controlled(t))
    optimizer = optim.SGD(model.parameters(), lr=0.5, momentum=0.9, nesterov=True)

    def step(i):
        optimizer.zero_grad(set_to_none=False)
        out = model(coeffs)
        loss = F.binary_cross_entropy_with_logits(out, torch.tensor([1.0, 0.0, 0.0, 1.0]))
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 0.3, norm_type="inf")
        optimizer.step()
        return loss, out

    return model, step


PROGRAMS = [adjoint, controlled]
