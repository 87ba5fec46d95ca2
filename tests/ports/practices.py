"""What training is made of besides the model: optimizers of one's own, bags of graphs, packed sequences, pruning,
rounding to few bits, teachers, what must not be forgotten."""

import copy
import math
from collections import defaultdict

import torch
import torch.nn.functional as F
from given import filled, integers, numbers
from torch import nn, optim
from torch.nn.utils import parameters_to_vector, prune
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence
from torch.optim.optimizer import Optimizer
from torch.utils.data import DataLoader, Dataset, Sampler


class Lion(Optimizer):
    def __init__(self, params, lr=1e-4, betas=(0.9, 0.99), weight_decay=0.0):
        if not 0.0 <= lr:
            raise ValueError(f"Invalid learning rate: {lr}")
        super().__init__(params, dict(lr=lr, betas=betas, weight_decay=weight_decay))

    @torch.no_grad()
    def step(self, closure=None):
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is None:
                    continue
                p.data.mul_(1 - group["lr"] * group["weight_decay"])
                state = self.state[p]
                if len(state) == 0:
                    state["exp_avg"] = torch.zeros_like(p)
                exp_avg = state["exp_avg"]
                beta1, beta2 = group["betas"]
                update = exp_avg * beta1 + p.grad * (1 - beta1)
                p.add_(torch.tanh(50 * update), alpha=-group["lr"])  # the sign, without its jump
                exp_avg.mul_(beta2).add_(p.grad, alpha=1 - beta2)
        return loss


class SAM(Optimizer):
    """Sharpness-aware minimization: a step up, then a step of the base optimizer from there."""

    def __init__(self, params, base_optimizer, rho=0.05, adaptive=False, **kwargs):
        super().__init__(params, dict(rho=rho, adaptive=adaptive, **kwargs))
        self.base_optimizer = base_optimizer(self.param_groups, **kwargs)
        self.param_groups = self.base_optimizer.param_groups
        self.defaults.update(self.base_optimizer.defaults)

    @torch.no_grad()
    def first_step(self, zero_grad=False):
        norms = [
            ((torch.abs(p) if g["adaptive"] else 1.0) * p.grad).norm(p=2)
            for g in self.param_groups
            for p in g["params"]
            if p.grad is not None
        ]
        norm = torch.norm(torch.stack(norms), p=2)
        for group in self.param_groups:
            scale = group["rho"] / (norm + 1e-12)
            for p in group["params"]:
                if p.grad is None:
                    continue
                self.state[p]["old_p"] = p.data.clone()
                p.add_((torch.pow(p, 2) if group["adaptive"] else 1.0) * p.grad * scale.to(p))
        if zero_grad:
            self.zero_grad()

    @torch.no_grad()
    def second_step(self, zero_grad=False):
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is not None:
                    p.data = self.state[p]["old_p"]
        self.base_optimizer.step()
        if zero_grad:
            self.zero_grad()


class GINLayer(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.eps = nn.Parameter(torch.Tensor([0.1]))
        self.mlp = nn.Sequential(nn.Linear(dim, dim), nn.BatchNorm1d(dim, momentum=0.2), nn.ReLU(), nn.Linear(dim, dim))
        self.edge = nn.Embedding(3, dim)

    def forward(self, x, edge_index, kind):
        source, target = edge_index
        messages = F.relu(x[source] + self.edge(kind))
        received = torch.zeros_like(x).scatter_add(0, target.unsqueeze(-1).expand_as(messages), messages)
        return self.mlp((1 + self.eps) * x + received)


class GraphNet(nn.Module):
    """Isomorphism networks with attention's pooling, and aggregators of several kinds (principal neighbourhoods)."""

    def __init__(self, dim=6):
        super().__init__()
        self.embed, self.layers = nn.Embedding(5, dim), nn.ModuleList([GINLayer(dim) for _ in range(2)])
        self.gate, self.out = nn.Linear(dim, 1), nn.Linear(4 * dim, 2)

    def forward(self, nodes, edge_index, kind, batch):
        x = self.embed(nodes)
        for layer in self.layers:
            x = x + layer(x, edge_index, kind)
        n = int(batch.max()) + 1
        index = batch[:, None].expand_as(x)
        degree = torch.bincount(edge_index[1], minlength=len(nodes)).to(x.dtype)
        x = x * (degree + 1).log()[:, None]
        gate = self.gate(x).squeeze(-1)
        peak = gate.new_full((n,), float("-inf")).scatter_reduce(0, batch, gate, reduce="amax", include_self=True)
        e = (gate - peak[batch]).exp()
        attention = e / torch.zeros(n).index_add(0, batch, e)[batch]
        pooled = torch.zeros(n, x.size(1)).index_add_(0, batch, attention[:, None] * x)
        kinds = [
            torch.zeros_like(pooled).scatter_reduce(0, index, x, r, include_self=False)
            for r in ("mean", "amax", "amin")
        ]
        return self.out(torch.cat([pooled, *kinds], dim=-1))


class Graphs(Dataset):
    def __init__(self):
        self.sizes = [4, 3, 5, 4]

    def __len__(self):
        return len(self.sizes)

    def __getitem__(self, i):
        n = self.sizes[i]
        ring = torch.arange(n)
        edges = torch.stack([torch.cat([ring, ring.roll(1)]), torch.cat([ring.roll(1), ring])])
        return {"nodes": integers(5, [n], 7 * i), "edges": edges, "kind": integers(3, [2 * n], 11 * i), "y": i % 2}


def collate(graphs):
    out, offset = defaultdict(list), 0
    for i, g in enumerate(graphs):
        out["nodes"].append(g["nodes"])
        out["edges"].append(g["edges"] + offset)
        out["kind"].append(g["kind"])
        out["batch"].append(torch.full((len(g["nodes"]),), i, dtype=torch.long))
        offset += len(g["nodes"])
    cat = lambda k, dim=0: torch.cat(out[k], dim=dim)
    return cat("nodes"), cat("edges", -1), cat("kind"), cat("batch"), torch.tensor([g["y"] for g in graphs])


class Reversed(Sampler):
    def __init__(self, data):
        self.data = data

    def __iter__(self):
        return iter(range(len(self.data) - 1, -1, -1))

    def __len__(self):
        return len(self.data)


def graph_bags():
    """Batches of graphs as one, an optimizer of one's own."""
    model = filled(GraphNet())
    data = Graphs()
    loader = DataLoader(data, batch_size=2, sampler=Reversed(data), collate_fn=collate, drop_last=False)
    optimizer = Lion(model.parameters(), lr=3e-3, weight_decay=0.1)
    scheduler = optim.lr_scheduler.MultiStepLR(optimizer, milestones=[1, 2], gamma=0.5)

    def step(i):
        model.train()
        total = 0.0
        for *graph, y in loader:
            optimizer.zero_grad()
            logits = model(*graph)
            loss = nn.CrossEntropyLoss(weight=torch.tensor([1.0, 2.0]))(logits, y)
            loss.backward()
            optimizer.step()
            total += loss.detach() / len(loader)
        scheduler.step()
        model.eval()
        with torch.inference_mode():
            shown = torch.cat([model(*graph) for *graph, _ in loader])
        return total, shown

    return model, step


def sharpness():
    """SAM around SGD, a recurrent network over packed sequences, a head by cosines and margins (ArcFace)."""
    words, lengths = [integers(9, [n], 13 * n) for n in (3, 5, 2, 4)], torch.tensor([3, 5, 2, 4])
    y = torch.tensor([0, 2, 1, 2])

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.embed = nn.Embedding(9, 5)
            self.rnn = nn.LSTM(5, 4, batch_first=True, bidirectional=True, proj_size=3)
            self.centres = nn.Parameter(torch.empty(3, 6))
            nn.init.xavier_uniform_(self.centres, gain=nn.init.calculate_gain("leaky_relu", 0.2))

        def forward(self, words, lengths):
            x = pad_sequence(words, batch_first=True, padding_value=0)
            packed = pack_padded_sequence(self.embed(x), lengths, batch_first=True, enforce_sorted=False)
            packed, (h, _) = self.rnn(packed)
            padded, sizes = pad_packed_sequence(packed, batch_first=True)
            sizes = sizes.to(padded.device)
            mask = torch.arange(padded.size(1))[None] < sizes[:, None]
            mean = (padded * mask[..., None]).sum(1) / sizes[:, None]
            return mean + h.permute(1, 0, 2).flatten(1)

        def margins(self, h, y, s=4.0, m=0.2):
            cosine = F.linear(F.normalize(h), F.normalize(self.centres)).clamp(-1 + 1e-6, 1 - 1e-6)
            one_hot = torch.zeros_like(cosine).scatter_(1, y.view(-1, 1), 1.0)
            return s * torch.cos(torch.acos(cosine) + m * one_hot)

    model = filled(Net())
    optimizer = SAM(model.parameters(), optim.SGD, rho=0.1, adaptive=True, lr=0.1, momentum=0.9)
    seen = {}
    model.rnn.register_forward_hook(lambda module, args, output: seen.update(h=output[1][0].detach()))

    def step(i):
        loss = F.cross_entropy(model.margins(model(words, lengths), y), y)
        loss.backward()
        optimizer.first_step(zero_grad=True)
        F.cross_entropy(model.margins(model(words, lengths), y), y).backward()
        optimizer.second_step(zero_grad=False)
        return loss, seen["h"]

    return model, step


class Round(torch.autograd.Function):
    """To few bits, with a gradient straight through where nothing is cut off."""

    @staticmethod
    def forward(ctx, x, scale, bits):
        top = 2 ** (bits - 1) - 1
        q = torch.round(x / scale)
        ctx.save_for_backward((q >= -top) & (q <= top))
        ctx.n = x.numel()
        return q.clamp(-top, top) * scale

    @staticmethod
    def backward(ctx, grad_output):
        (inside,) = ctx.saved_tensors
        return grad_output * inside, (grad_output * ~inside).sum() / math.sqrt(ctx.n), None


class FewBits(nn.Linear):
    def __init__(self, *args, bits=4, **kwargs):
        super().__init__(*args, **kwargs)
        self.bits, self.scale = bits, nn.Parameter(torch.tensor(0.11))

    def forward(self, x):
        scale = self.scale.abs() * 0.01 + 0.0973
        return F.linear(x, Round.apply(self.weight, scale, self.bits), self.bias)


def compression():
    """A pruned student of few bits, whose teacher's features and answers are seen by hooks; gradients add up."""
    teacher = filled(nn.Sequential(nn.Linear(5, 10), nn.GELU(), nn.Linear(10, 10), nn.GELU(), nn.Linear(10, 3)))
    student = filled(nn.Sequential(FewBits(5, 8), nn.Hardswish(), nn.Linear(8, 10), nn.Hardsigmoid(), nn.Linear(10, 3)))
    prune.l1_unstructured(student[2], name="weight", amount=0.3)
    prune.ln_structured(student[4], "weight", amount=2, n=2, dim=1)
    features = {}

    def keep(name):
        def hook(module, args, output):
            features[name] = output

        return hook

    handles = [teacher[3].register_forward_hook(keep("t")), student[3].register_forward_hook(keep("s"))]
    optimizer = optim.Adadelta(student.parameters(), lr=1.0, rho=0.8, eps=1e-3)
    x, y = numbers([8, 5], 3), integers(3, [8], 20)
    kl = nn.KLDivLoss(reduction="batchmean", log_target=True)

    def step(i):
        optimizer.zero_grad()
        total = 0.0
        for part in range(0, 8, 4):
            xs, ys = x[part : part + 4], y[part : part + 4]
            with torch.no_grad():
                wanted = F.log_softmax(teacher(xs) / 3.0, dim=-1)
            logits = student(xs)
            loss = 0.5 * kl(F.log_softmax(logits / 3.0, -1), wanted) * 9 + 0.5 * F.cross_entropy(logits, ys)
            loss = (loss + 0.1 * (1 - F.cosine_similarity(features["s"], features["t"], dim=1)).mean()) / 2
            loss.backward()
            total += loss.detach()
        optimizer.step()
        if i == 1:
            prune.remove(student[4], "weight")
            handles.pop().remove()
            student[3].register_forward_hook(keep("s"))
        return total, student[2].weight

    return student, step


def remembering():
    """Two tasks: Fisher's information and the path of each weight hold what the first needs; a memory replays."""
    model = filled(nn.Sequential(nn.Linear(4, 8, bias=False), nn.Tanh(), nn.Linear(8, 3)))
    first, second = (numbers([6, 4], 3), integers(3, [6], 9)), (numbers([6, 4], 90), integers(3, [6], 60))
    fisher = {n: torch.zeros_like(p) for n, p in model.named_parameters() if p.requires_grad}
    for xi, yi in zip(*first):
        model.zero_grad(set_to_none=True)
        F.nll_loss(F.log_softmax(model(xi[None]), dim=1), yi[None]).backward()
        for n, p in model.named_parameters():
            fisher[n] += p.grad.data**2 / len(first[0])
    start = {n: p.detach().clone() for n, p in model.named_parameters()}
    frozen = copy.deepcopy(model).eval().requires_grad_(False)
    path = {n: torch.zeros_like(p) for n, p in model.named_parameters()}
    optimizer = optim.RAdam(model.parameters(), lr=2e-2, eps=1e-4)

    def step(i):
        before = parameters_to_vector(model.parameters()).detach()
        optimizer.zero_grad()
        x, y = second
        ewc = sum((fisher[n] * (p - start[n]).pow(2)).sum() for n, p in model.named_parameters())
        replay = F.mse_loss(model(first[0][i::2]), frozen(first[0][i::2]))
        loss = F.multi_margin_loss(model(x), y, p=2, margin=0.8) + 50 * ewc + 0.5 * replay
        loss.backward()
        optimizer.step()
        moved = parameters_to_vector(model.parameters()).detach() - before
        for (n, p), d in zip(model.named_parameters(), moved.split([p.numel() for p in model.parameters()])):
            path[n].addcmul_(-p.grad, d.view_as(p))
        return loss, torch.cat([v.flatten() for v in path.values()])

    return model, step


PROGRAMS = [graph_bags, sharpness, compression, remembering]
