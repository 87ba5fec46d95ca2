"""Layers that are no products of matrices: splines on edges, filters of frequencies, states, fixed points, energies."""

import math

import torch
import torch.nn.functional as F
from given import filled, numbers
from torch import autograd, nn, optim
from torch.func import grad, hessian, jacfwd, vmap


class KANLinear(nn.Module):
    """efficient-kan's: a spline on each edge."""

    def __init__(self, in_features, out_features, grid_size=4, spline_order=3, grid_range=(-1, 1)):
        super().__init__()
        self.in_features, self.out_features, self.order = in_features, out_features, spline_order
        h = (grid_range[1] - grid_range[0]) / grid_size
        grid = (
            (torch.arange(-spline_order, grid_size + spline_order + 1) * h + grid_range[0])
            .expand(in_features, -1)
            .contiguous()
        )
        self.register_buffer("grid", grid)
        self.base_weight = nn.Parameter(torch.Tensor(out_features, in_features))
        self.spline_weight = nn.Parameter(torch.empty(out_features, in_features, grid_size + spline_order))
        self.spline_scaler = nn.Parameter(torch.empty(out_features, in_features))
        nn.init.kaiming_uniform_(self.base_weight, a=math.sqrt(5))

    def b_splines(self, x):
        assert x.dim() == 2 and x.size(1) == self.in_features
        grid, x = self.grid, x.unsqueeze(-1)
        bases = ((x >= grid[:, :-1]) & (x < grid[:, 1:])).to(x.dtype)
        for k in range(1, self.order + 1):
            left = (x - grid[:, : -(k + 1)]) / (grid[:, k:-1] - grid[:, : -(k + 1)]) * bases[:, :, :-1]
            right = (grid[:, k + 1 :] - x) / (grid[:, k + 1 :] - grid[:, 1:(-k)]) * bases[:, :, 1:]
            bases = left + right
        return bases.contiguous()

    def curve2coeff(self, x, y):
        A, B = self.b_splines(x).transpose(0, 1), y.transpose(0, 1)
        return torch.linalg.lstsq(A, B).solution.permute(2, 0, 1).contiguous()

    def forward(self, x):
        base = F.linear(F.silu(x), self.base_weight)
        weight = self.spline_weight * self.spline_scaler.unsqueeze(-1)
        return base + F.linear(self.b_splines(x).view(x.size(0), -1), weight.view(self.out_features, -1))

    def regularization_loss(self, activation=1.0, entropy=1.0):
        l1_fake = self.spline_weight.abs().mean(-1)
        p = l1_fake / l1_fake.sum()
        return activation * l1_fake.sum() - entropy * torch.sum(p * p.log())


def kan():
    model = filled(nn.Sequential(KANLinear(2, 5), KANLinear(5, 1)))
    x = 0.9 * numbers([12, 2], 5)
    y = torch.exp(torch.sin(math.pi * x[:, [0]]) + x[:, [1]] ** 2)
    with torch.no_grad():
        layer = model[0]
        at = layer.grid.T[3:-3] * 0.97 + 0.3 * numbers([5, 2], 60)
        curves = torch.stack([torch.sin((j + 1) * at) for j in range(5)], dim=-1)
        many = torch.cat([at, 0.5 * at, 0.8 * at]), torch.cat([curves, 0.5 * curves, curves])
        layer.spline_weight.data.lerp_(layer.curve2coeff(*many), 0.1)
    optimizer = optim.AdamW(model.parameters(), lr=1e-2, weight_decay=1e-4, eps=1e-4)
    scheduler = optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.8)

    def step(i):
        optimizer.zero_grad()
        out = model(x)
        loss = F.mse_loss(out, y) + 1e-2 * sum(layer.regularization_loss() for layer in model)
        loss.backward()
        optimizer.step()
        scheduler.step()
        return loss, out

    return model, step


class SpectralConv2d(nn.Module):
    """The Fourier neural operator's: few frequencies, each with a matrix of its own."""

    def __init__(self, channels, modes1, modes2):
        super().__init__()
        self.m1, self.m2 = modes1, modes2
        self.weights1 = nn.Parameter(torch.zeros(channels, channels, modes1, modes2, 2))
        self.weights2 = nn.Parameter(torch.zeros(channels, channels, modes1, modes2, 2))

    def forward(self, x):
        B, C, H, W = x.shape
        mul = lambda a, w: torch.einsum("bixy,ioxy->boxy", a, torch.view_as_complex(w))
        x_ft = torch.fft.rfft2(x, norm="ortho")
        out_ft = torch.zeros(B, C, H, W // 2 + 1, dtype=x_ft.dtype, device=x.device)
        out_ft[:, :, : self.m1, : self.m2] = mul(x_ft[:, :, : self.m1, : self.m2], self.weights1)
        out_ft[:, :, -self.m1 :, : self.m2] = mul(x_ft[:, :, -self.m1 :, : self.m2], self.weights2)
        return torch.fft.irfft2(out_ft, s=(H, W), norm="ortho")


class FNO(nn.Module):
    def __init__(self, width=4):
        super().__init__()
        self.p = nn.Conv2d(3, width, 1)
        self.spectral = nn.ModuleList([SpectralConv2d(width, 2, 2) for _ in range(2)])
        self.w = nn.ModuleList([nn.Conv2d(width, width, 1) for _ in range(2)])
        self.norm = nn.InstanceNorm2d(width, affine=True)
        self.q = nn.Sequential(nn.Conv2d(width, 8, 1), nn.GELU(approximate="tanh"), nn.Conv2d(8, 1, 1))

    def get_grid(self, shape):
        b, _, h, w = shape
        gx = torch.linspace(0, 1, h).reshape(1, 1, h, 1).repeat([b, 1, 1, w])
        gy = torch.linspace(0, 1, w).reshape(1, 1, 1, w).repeat(b, 1, h, 1)
        return torch.cat((gx, gy), dim=1)

    def forward(self, x):
        x = F.pad(self.p(torch.cat([x, self.get_grid(x.shape)], dim=1)), [0, 2, 0, 2])
        for spectral, w in zip(self.spectral, self.w, strict=True):
            x = F.gelu(self.norm(spectral(self.norm(x))) + w(x))
        return self.q(x[..., :-2, :-2])


def fourier_operator():
    model = filled(FNO())
    a = numbers([2, 1, 6, 6], 5)
    y = torch.roll(a, shifts=(1, 2), dims=(-2, -1)).cumsum(-1) / 3

    def lp_loss(x, y):
        b = x.size(0)
        return (torch.norm(x.reshape(b, -1) - y.reshape(b, -1), 2, 1) / torch.norm(y.reshape(b, -1), 2, 1)).sum()

    optimizer = optim.Adam(model.parameters(), lr=5e-3, weight_decay=1e-4, eps=1e-4)
    scheduler = optim.lr_scheduler.OneCycleLR(optimizer, max_lr=1e-2, total_steps=6, pct_start=0.4)

    def step(i):
        optimizer.zero_grad()
        out = model(a)
        loss = lp_loss(out, y)
        loss.backward()
        optimizer.step()
        scheduler.step()
        return loss, out

    return model, step


class S4D(nn.Module):
    """Structured states by a diagonal matrix of complex numbers, as one long convolution by Fourier transforms."""

    def __init__(self, d_model, N=4):
        super().__init__()
        self.D = nn.Parameter(torch.zeros(d_model))
        self.log_dt = nn.Parameter(torch.linspace(-3, -1, d_model))
        self.C = nn.Parameter(
            torch.view_as_real(torch.complex(torch.ones(d_model, N), torch.zeros(d_model, N))).clone()
        )
        self.log_A_real = nn.Parameter(torch.log(0.5 * torch.ones(d_model, N)))
        self.A_imag = nn.Parameter(math.pi * torch.arange(N).repeat(d_model, 1).to(torch.get_default_dtype()))

    def kernel(self, L):
        dt, C = torch.exp(self.log_dt), torch.view_as_complex(self.C)
        A = -torch.exp(self.log_A_real) + 1j * self.A_imag
        dtA = A * dt.unsqueeze(-1)
        K = dtA.unsqueeze(-1) * torch.arange(L)
        C = C * (torch.exp(dtA) - 1.0) / A
        return 2 * torch.einsum("hn, hnl -> hl", C, torch.exp(K)).real

    def forward(self, u):
        L = u.size(-1)
        k_f = torch.fft.rfft(self.kernel(L), n=2 * L)
        u_f = torch.fft.rfft(u, n=2 * L)
        y = torch.fft.irfft(u_f * k_f, n=2 * L)[..., :L]
        return F.glu(torch.cat([y + u * self.D.unsqueeze(-1), u], dim=-2), dim=-2)


class S4Model(nn.Module):
    def __init__(self, d=4):
        super().__init__()
        self.encoder, self.decoder = nn.Linear(2, d), nn.Linear(d, 3)
        self.s4, self.norm, self.drop = S4D(d), nn.RMSNorm(d, eps=1e-6), nn.Dropout1d(0.0)

    def forward(self, x):
        x = self.encoder(x).transpose(-1, -2)
        x = (self.drop(self.s4(x)) + x).transpose(-1, -2)
        return self.decoder(self.norm(x).mean(dim=1))


def long_convolution():
    model = filled(S4Model())
    with torch.no_grad():
        model.s4.A_imag.add_(math.pi * torch.arange(4))
    x, labels = numbers([3, 10, 2], 5), torch.tensor([0, 2, 1])
    special = [p for n, p in model.named_parameters() if n.split(".")[-1] in {"log_dt", "log_A_real", "A_imag"}]
    rest = [p for p in model.parameters() if all(p is not s for s in special)]
    optimizer = optim.AdamW(rest, lr=0.01, weight_decay=0.01, eps=1e-4)
    optimizer.add_param_group({"params": special, "lr": 0.001, "weight_decay": 0.0})
    scheduler = optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=4, eta_min=1e-3)

    def step(i):
        optimizer.zero_grad()
        logits = model(x)
        loss = F.cross_entropy(logits, labels, label_smoothing=0.1)
        loss.backward()
        optimizer.step()
        scheduler.step()
        return loss + sum(g["lr"] for g in optimizer.param_groups), logits

    return model, step


class DEQ(nn.Module):
    """A layer until it rests; its gradient is another fixed point, by a hook."""

    def __init__(self, n=6):
        super().__init__()
        self.linear1, self.linear2 = nn.Linear(n, n), nn.Linear(n, n, bias=False)
        self.norm = nn.GroupNorm(2, n)

    def f(self, z, x):
        return self.norm(F.relu(x + 0.4 * self.linear2(F.relu(self.linear1(z)))))

    def forward(self, x):
        with torch.no_grad():
            z = rest(lambda z: self.f(z, x), torch.zeros_like(x))
        z = self.f(z, x)
        z0 = z.clone().detach().requires_grad_()
        f0 = self.f(z0, x)

        def backward_hook(grad):
            return rest(lambda y: autograd.grad(f0, z0, y, retain_graph=True)[0] + grad, grad)

        if z.requires_grad:
            z.register_hook(backward_hook)
        return z


def rest(f, z, steps=15, damping=0.5):
    """Where f changes nothing any more, or nearly so."""
    for _ in range(steps):
        z = torch.lerp(z, f(z), damping)
    return z


def equilibrium():
    model = filled(DEQ())
    x, y = numbers([4, 6], 5), numbers([4, 6], 60)
    optimizer = optim.SGD(model.parameters(), lr=0.1, momentum=0.5)

    def step(i):
        optimizer.zero_grad()
        out = model(x)
        loss = F.smooth_l1_loss(out, y, beta=0.3)
        loss.backward()
        optimizer.step()
        return loss, out

    return model, step


class Lagrangian(nn.Module):
    """Accelerations from an energy: the equations of Euler and Lagrange, by derivatives of a network's derivatives."""

    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(4, 8), nn.Softplus(beta=2), nn.Linear(8, 8), nn.Softplus(), nn.Linear(8, 1))

    def lagrangian(self, q, qt):
        return 0.5 * qt.dot(qt) + self.net(torch.cat([q, qt])).squeeze()

    def forward(self, q, qt):
        def acceleration(q, qt):
            force = grad(self.lagrangian, argnums=0)(q, qt)
            mixed = jacfwd(grad(self.lagrangian, 1), 0)(q, qt)
            mass = hessian(self.lagrangian, argnums=1)(q, qt)
            return torch.linalg.pinv(mass) @ (force - mixed @ qt)

        return vmap(acceleration)(q, qt)


def lagrangian():
    model = filled(Lagrangian())
    q, qt, wanted = numbers([5, 2], 5), numbers([5, 2], 60), numbers([5, 2], 90)
    optimizer = optim.NAdam(model.parameters(), lr=5e-3, eps=1e-4)

    def step(i):
        optimizer.zero_grad()
        out = model(q, qt)
        loss = F.l1_loss(out, wanted)
        loss.backward()
        optimizer.step()
        return loss, out

    return model, step


PROGRAMS = [kan, fourier_operator, long_convolution, equilibrium, lagrangian]
