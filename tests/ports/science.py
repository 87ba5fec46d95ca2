"""Equations and scenes: physics-informed networks, differential equations, rays, objects in images."""

import math

import torch
import torch.nn.functional as F
from given import filled, numbers
from torch import nn, optim


def pinn():
    """Burgers' equation u_t + u u_x = v u_xx, by derivatives of second order of a network."""
    model = filled(nn.Sequential(nn.Linear(2, 10), nn.Tanh(), nn.Linear(10, 10), nn.Tanh(), nn.Linear(10, 1)))
    nu = 0.01 / math.pi
    x, t = numbers([12, 1], 3).requires_grad_(), (numbers([12, 1], 50) / 2 + 0.5).requires_grad_()
    x0 = torch.linspace(-1, 1, 7).unsqueeze(1)
    optimizer = optim.LBFGS(model.parameters(), lr=0.5, max_iter=3, history_size=5, line_search_fn="strong_wolfe")

    def gradient(y, x):
        return torch.autograd.grad(y, x, torch.ones_like(y), create_graph=True)[0]

    def residual():
        u = model(torch.cat([x, t], dim=1))
        u_t, u_x = gradient(u, t), gradient(u, x)
        return u_t + u * u_x - nu * gradient(u_x, x)

    def loss_of():
        begun = model(torch.cat([x0, torch.zeros_like(x0)], dim=1)) + torch.sin(math.pi * x0)
        return residual().pow(2).mean() + begun.pow(2).mean()

    def closure():
        optimizer.zero_grad()
        loss = loss_of()
        loss.backward()
        return loss

    def step(i):
        loss = optimizer.step(closure)
        return loss, residual()

    return model, step


class ODE(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(2, 8), nn.Softplus(), nn.Linear(8, 2))

    def forward(self, t, y):
        return 0.5 * self.net(y**3) * torch.cos(t)


def neural_ode():
    """Runge's and Kutta's method, and gradients through it."""
    func = filled(ODE())
    t, y0 = torch.linspace(0.0, 1.0, 5), torch.tensor([[1.0, 0.0], [0.5, -0.8]])
    true_A = torch.tensor([[-0.1, 2.0], [-2.0, -0.1]])
    wanted = torch.stack([y0 @ torch.matrix_exp(true_A * s) for s in t])
    optimizer = optim.RMSprop(func.parameters(), lr=1e-3, eps=1e-4)

    def odeint(y):
        ys = [y]
        for t0, t1 in zip(t[:-1], t[1:], strict=True):
            h = t1 - t0
            k1 = func(t0, y)
            k2 = func(t0 + h / 2, y + h * k1 / 2)
            k3 = func(t0 + h / 2, y + h * k2 / 2)
            k4 = func(t1, y + h * k3)
            y = y + h * (k1 + 2 * k2 + 2 * k3 + k4) / 6
            ys.append(y)
        return torch.stack(ys)

    def step(i):
        optimizer.zero_grad()
        out = odeint(y0)
        loss = torch.mean(torch.abs(out - wanted))
        loss.backward()
        optimizer.step()
        return loss, out

    return func, step


class NeRF(nn.Module):
    """Density and colour of places, seen along rays."""

    def __init__(self, frequencies=3):
        super().__init__()
        self.register_buffer("bands", 2.0 ** torch.arange(frequencies))
        self.trunk = nn.Sequential(nn.Linear(3 + 6 * frequencies, 12), nn.ReLU(inplace=True), nn.Linear(12, 12))
        self.sigma, self.rgb = nn.Linear(12, 1), nn.Linear(12 + 3, 3)

    def forward(self, points, directions):
        angles = (points[..., None, :] * self.bands[:, None]).flatten(-2)
        h = F.relu(self.trunk(torch.cat([points, angles.sin(), angles.cos()], dim=-1)))
        return self.sigma(h).squeeze(-1), torch.sigmoid(self.rgb(torch.cat([h, directions], dim=-1)))


def nerf():
    model = filled(NeRF())
    origins, directions = numbers([4, 3], 5), F.normalize(numbers([4, 3], 60), dim=-1)
    wanted, z = numbers([4, 3], 90) / 2 + 0.5, torch.linspace(0.5, 2.0, 6)
    optimizer = optim.Adam(model.parameters(), lr=5e-3, eps=1e-4)
    scheduler = optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.9)

    def render():
        points = origins[:, None, :] + directions[:, None, :] * z[None, :, None]
        sigma, rgb = model(points, directions[:, None, :].expand(points.shape))
        gaps = torch.cat([z[1:] - z[:-1], torch.tensor([1e10])]).expand(sigma.shape)
        alpha = 1.0 - torch.exp(-F.relu(sigma) * gaps)
        passed = torch.cumprod(torch.cat([torch.ones(4, 1), 1.0 - alpha + 1e-10], dim=-1), dim=-1)[:, :-1]
        weights = alpha * passed
        return (weights[..., None] * rgb).sum(dim=-2), (weights * z).sum(dim=-1)

    def step(i):
        optimizer.zero_grad()
        colour, depth = render()
        loss = F.mse_loss(colour, wanted) + 0.01 * depth.var()
        loss.backward()
        optimizer.step()
        scheduler.step()
        return loss, torch.cat([colour, depth[:, None]], dim=-1)

    return model, step


class Detector(nn.Module):
    """A pyramid of features, and a head that all its floors share."""

    def __init__(self, classes=2):
        super().__init__()
        self.c1 = nn.Sequential(nn.Conv2d(3, 6, 3, 2, 1), nn.GroupNorm(3, 6), nn.ReLU6())
        self.c2 = nn.Sequential(nn.Conv2d(6, 8, 3, 2, 1), nn.GroupNorm(4, 8), nn.Hardtanh(-1, 3))
        self.lateral = nn.ModuleList([nn.Conv2d(6, 4, 1), nn.Conv2d(8, 4, 1)])
        self.scores, self.boxes = nn.Conv2d(4, classes, 3, padding=1), nn.Conv2d(4, 4, 3, padding=1)

    def forward(self, images):
        c1 = self.c1(images)
        c2 = self.c2(c1)
        p2 = self.lateral[1](c2)
        p1 = self.lateral[0](c1) + F.interpolate(p2, size=c1.shape[-2:], mode="nearest")
        flat = lambda head: torch.cat([head(p).flatten(2).transpose(1, 2) for p in (p1, p2)], dim=1)
        return flat(self.scores), flat(self.boxes)


def box_iou(a, b):
    """torchvision's, of boxes (x1, y1, x2, y2)."""
    area = lambda boxes: (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])
    wh = (torch.min(a[:, None, 2:], b[:, 2:]) - torch.max(a[:, None, :2], b[:, :2])).clamp(min=0)
    inter = wh[..., 0] * wh[..., 1]
    return inter / (area(a)[:, None] + area(b) - inter)


def sigmoid_focal_loss(inputs, targets, alpha=0.25, gamma=2):
    p = torch.sigmoid(inputs)
    ce = F.binary_cross_entropy_with_logits(inputs, targets, reduction="none")
    p_t = p * targets + (1 - p) * (1 - targets)
    return ((alpha * targets + (1 - alpha) * (1 - targets)) * ce * (1 - p_t) ** gamma).sum()


def detector():
    model = filled(Detector())
    images, truth = numbers([1, 3, 8, 8], 4), torch.tensor([[1.0, 1, 4, 5], [3, 2, 7, 7]])
    ys, xs = torch.meshgrid(torch.arange(4), torch.arange(4), indexing="ij")
    fine = torch.stack([xs, ys], dim=-1).reshape(-1, 2) * 2.0
    coarse = fine[::4] * 2 % 8
    anchors = torch.cat([torch.cat([c, c + s], dim=1) for c, s in ((fine, 2.0), (coarse, 4.0))])
    optimizer = optim.SGD(model.parameters(), lr=0.02, momentum=0.9, weight_decay=1e-4)

    def step(i):
        best, which = box_iou(anchors, truth).max(dim=1)
        positive = (best >= 0.2).to(images.dtype)
        scores, deltas = model(images)
        targets = F.one_hot(which, 2).to(images.dtype) * positive[:, None]
        boxes = torch.cat([anchors[:, :2] + deltas[0, :, :2], anchors[:, 2:] + deltas[0, :, 2:].exp()], dim=1)
        overlap = box_iou(boxes, truth).gather(1, which[:, None]).squeeze(1)
        loss = (sigmoid_focal_loss(scores[0], targets) + ((1 - overlap) * positive).sum()) / positive.sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        order = scores[0].sigmoid().amax(dim=1).argsort(descending=True, stable=True)
        return loss, boxes[order[:5]]

    return model, step


PROGRAMS = [pinn, neural_ode, nerf, detector]
