"""Programs of other kinds: networks of points, capsules with routing, energies that are sampled, private training."""

import torch
import torch.nn.functional as F
from given import filled, integers, numbers
from torch import nn, optim
from torch.func import functional_call, grad, vmap


def gathered(x, index):
    """x[B, N, C] at index[B, ...]"""
    batch = torch.arange(x.shape[0]).view(-1, *[1] * (index.dim() - 1)).expand_as(index)
    return x[batch, index]


@torch.no_grad()
def farthest(xyz, count):
    """Indices of points that are far from each other."""
    chosen = torch.zeros(xyz.shape[0], count, dtype=torch.long)
    distance = torch.full(xyz.shape[:2], 1e10)
    last = torch.zeros(xyz.shape[0], dtype=torch.long)
    for i in range(count):
        chosen[:, i] = last
        center = gathered(xyz, last[:, None])
        distance = torch.minimum(distance, ((xyz - center) ** 2).sum(-1))
        last = distance.argmax(-1)
    return chosen


class SetAbstraction(nn.Module):
    def __init__(self, count, neighbours, channels):
        super().__init__()
        self.count, self.neighbours = count, neighbours
        layers = []
        for a, b in zip(channels, channels[1:], strict=False):
            layers += [nn.Conv2d(a, b, 1, bias=False), nn.BatchNorm2d(b), nn.ReLU(inplace=True)]
        self.mlp = nn.Sequential(*layers)

    def forward(self, xyz, features):
        centers = gathered(xyz, farthest(xyz, self.count))
        near = torch.cdist(centers, xyz).topk(self.neighbours, dim=-1, largest=False).indices
        local = gathered(xyz, near) - centers.unsqueeze(2)
        if features is not None:
            local = torch.cat([local, gathered(features, near)], dim=-1)
        return centers, self.mlp(local.permute(0, 3, 2, 1)).amax(2).transpose(1, 2)


class PointNet(nn.Module):
    def __init__(self, classes=5):
        super().__init__()
        self.first = SetAbstraction(8, 6, [3, 8, 12])
        self.second = SetAbstraction(4, 4, [15, 16])
        self.head = nn.Sequential(nn.Linear(16, 12), nn.LayerNorm(12), nn.LeakyReLU(0.2), nn.Linear(12, classes))

    def forward(self, xyz):
        centers, features = self.first(xyz, None)
        _, features = self.second(centers, features)
        return self.head(features.max(dim=1).values)


def points():
    model = filled(PointNet())
    optimizer = optim.Adam(model.parameters(), lr=3e-3, eps=1e-4)
    schedule = optim.lr_scheduler.MultiStepLR(optimizer, milestones=[1, 2], gamma=0.3)

    def step(i):
        clouds, labels = numbers([4, 24, 3], 7 + 100 * i), integers(5, [4], i)
        out = model(clouds)
        loss = F.cross_entropy(out, labels, label_smoothing=0.1)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_value_(model.parameters(), 0.5)
        optimizer.step()
        schedule.step()
        return loss, out

    return model, step


def squash(x, dim=-1):
    square = x.square().sum(dim, keepdim=True)
    return square / (1 + square) * x / (square + 1e-8).sqrt()


class Capsules(nn.Module):
    def __init__(self, capsules=10, size=4, out=3, out_size=6, turns=3):
        super().__init__()
        self.turns = turns
        self.conv = nn.Conv2d(1, 8, 5)
        self.primary = nn.ModuleList([nn.Conv2d(8, capsules, 3, stride=2) for _ in range(size)])
        self.weight = nn.Parameter(torch.empty(out, capsules * 4, out_size, size))
        self.decoder = nn.Sequential(nn.Linear(out * out_size, 20), nn.ReLU(), nn.Linear(20, 100), nn.Sigmoid())

    def forward(self, images, labels):
        h = F.relu(self.conv(images))
        u = squash(torch.stack([capsule(h).flatten(1) for capsule in self.primary], dim=-1))
        votes = torch.einsum("ocdk,bck->bocd", self.weight, u)
        logits = torch.zeros(*votes.shape[:3], 1)
        for turn in range(self.turns):
            shares = logits.softmax(dim=1)
            v = squash((shares * votes).sum(dim=2))
            if turn < self.turns - 1:
                logits = logits + (votes.detach() * v.detach()[:, :, None]).sum(-1, keepdim=True)
        mask = F.one_hot(labels, v.shape[1]).to(v.dtype)
        return v.norm(dim=-1), self.decoder((v * mask[..., None]).flatten(1))


def capsules():
    model = filled(Capsules())
    optimizer = optim.NAdam(model.parameters(), lr=2e-3, eps=1e-4)

    def step(i):
        images, labels = numbers([3, 1, 10, 10], 50 * i).abs(), integers(3, [3], 5 + i)
        lengths, drawn = model(images, labels)
        target = torch.eye(3)[labels]
        margin = target * F.relu(0.9 - lengths) ** 2 + 0.5 * (1 - target) * F.relu(lengths - 0.1) ** 2
        loss = margin.sum(1).mean() + 0.05 * F.mse_loss(drawn, images.flatten(1), reduction="sum") / 3
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        return loss, lengths

    return model, step


class Energy(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(4, 16), nn.SiLU(), nn.Linear(16, 16), nn.SiLU(), nn.Linear(16, 1))

    def forward(self, x):
        return self.net(x).squeeze(-1) + 0.5 * x.pow(2).sum(-1)


def energies():
    model = filled(Energy())
    optimizer = optim.RMSprop(model.parameters(), lr=1e-3, eps=1e-3, momentum=0.9)
    replay = numbers([12, 4], 900)

    def langevin(x, i, steps=4, size=0.1):
        for parameter in model.parameters():
            parameter.requires_grad_(False)
        x = x.clone().requires_grad_()
        for k in range(steps):
            (slope,) = torch.autograd.grad(model(x).sum(), x)
            with torch.no_grad():
                x.sub_(slope.clamp(-0.5, 0.5), alpha=size).add_(numbers([6, 4], 40 * i + k), alpha=0.01)
                x.clamp_(-2, 2)
        for parameter in model.parameters():
            parameter.requires_grad_(True)
        return x.detach()

    def step(i):
        real, places = numbers([6, 4], 11 * i) * 0.5, (torch.arange(6) * 5 + i) % 12
        fake = langevin(replay[places], i)
        replay[places] = fake
        positive, negative = model(real), model(fake)
        loss = positive.mean() - negative.mean() + 0.1 * (positive**2 + negative**2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss, replay

    return model, step


def private():
    model = filled(nn.Sequential(nn.Linear(5, 8), nn.Tanh(), nn.GroupNorm(2, 8), nn.Linear(8, 3)))
    optimizer = optim.SGD(model.parameters(), lr=0.2, momentum=0.9, dampening=0.1)

    def loss_of(parameters, x, y):
        out = functional_call(model, parameters, (x.unsqueeze(0),))
        loss = F.cross_entropy(out, y.unsqueeze(0))
        return loss, (loss, out.squeeze(0))

    of_each = vmap(grad(loss_of, has_aux=True), in_dims=(None, 0, 0))

    def step(i):
        inputs, labels = numbers([6, 5], 21 * i), integers(3, [6], 3 * i)
        parameters = {name: p.detach() for name, p in model.named_parameters()}
        each, (losses, outs) = of_each(parameters, inputs, labels)
        norms = torch.stack([g.flatten(1).norm(dim=1) for g in each.values()]).norm(dim=0)
        factors = (0.8 / (norms + 1e-6)).clamp(max=1.0)
        for k, (name, p) in enumerate(model.named_parameters()):
            summed = torch.einsum("n,n...->...", factors, each[name])
            p.grad = (summed + 0.1 * numbers(list(p.shape), 70 * i + k)) / len(inputs)
        optimizer.step()
        return losses.mean(), outs

    return model, step


PROGRAMS = [points, capsules, energies, private]
