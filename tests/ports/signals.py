"""Sound and graphs: spectrograms, transcripts, messages along edges."""

import math

import torch
import torch.nn.functional as F
from given import filled, integers, numbers
from torch import nn, optim


def mel_filters(bins, mels, rate):
    """torchaudio's triangles."""
    frequencies = torch.linspace(0, rate // 2, bins)
    highest = 2595.0 * math.log10(1.0 + rate / 2 / 700.0)
    points = 700.0 * (10.0 ** (torch.linspace(0.0, highest, mels + 2) / 2595.0) - 1.0)
    widths = points[1:] - points[:-1]
    slopes = points.unsqueeze(0) - frequencies.unsqueeze(1)
    down, up = -slopes[:, :-2] / widths[:-1], slopes[:, 2:] / widths[1:]
    return torch.clamp(torch.min(down, up), min=0.0)


class Keywords(nn.Module):
    def __init__(self, n_fft=32, mels=10, classes=3):
        super().__init__()
        self.n_fft = n_fft
        self.register_buffer("window", torch.hann_window(n_fft))
        self.register_buffer("filters", mel_filters(n_fft // 2 + 1, mels, 800))
        self.net = nn.Sequential(
            nn.InstanceNorm1d(mels), nn.Conv1d(mels, 8, 3, padding="same"), nn.PReLU(), nn.MaxPool1d(2),
            nn.Conv1d(8, 8, 3, dilation=2), nn.Hardswish(), nn.AdaptiveMaxPool1d(2), nn.Flatten(), nn.Linear(16, classes),
        )  # fmt: skip

    def forward(self, sound):
        spectrum = torch.stft(
            sound, self.n_fft, hop_length=8, window=self.window, center=True, pad_mode="reflect", return_complex=True
        )
        power = spectrum.abs().pow(2.0)
        mel = torch.matmul(power.transpose(-1, -2), self.filters).transpose(-1, -2)
        return self.net(10.0 * torch.log10(torch.clamp(mel, min=1e-3)))


def keywords():
    model = filled(Keywords())
    t = torch.arange(200) / 800
    pitch = torch.tensor([[60.0], [110.0], [220.0], [350.0]])
    sound = torch.sin(2 * math.pi * pitch * t) + 0.5 * numbers([4, 200], 8)
    labels, optimizer = integers(3, [4]), optim.RAdam(model.parameters(), lr=0.01)

    def step(i):
        optimizer.zero_grad()
        logits = model(sound)
        loss = F.multi_margin_loss(logits, labels) + F.cross_entropy(logits, labels)
        loss.backward()
        optimizer.step()
        return loss, logits

    return model, step


class Transcriber(nn.Module):
    def __init__(self, features=5, hidden=6, letters=6):
        super().__init__()
        self.conv = nn.utils.parametrizations.weight_norm(nn.Conv1d(features, 8, 3, stride=2, padding=1))
        self.gru = nn.GRU(8, hidden, num_layers=2, bidirectional=True)
        self.fc = nn.Linear(2 * hidden, letters)

    def forward(self, x):
        h = F.glu(self.conv(x).repeat_interleave(2, dim=1), dim=1)
        out, _ = self.gru(h.permute(2, 0, 1))
        return F.log_softmax(self.fc(out), dim=-1)


def transcripts():
    model = filled(Transcriber())
    x, targets = numbers([2, 5, 18], 6), integers(5, [2, 4], 90) + 1
    input_lengths, target_lengths = torch.tensor([9, 7]), torch.tensor([4, 2])
    criterion = nn.CTCLoss(blank=0, zero_infinity=True)
    optimizer = optim.SGD(model.parameters(), lr=0.05, momentum=0.9, weight_decay=1e-3)
    scheduler = optim.lr_scheduler.OneCycleLR(optimizer, max_lr=0.1, total_steps=6)

    def step(i):
        optimizer.zero_grad()
        log_probs = model(x)
        loss = criterion(log_probs, targets, input_lengths, target_lengths)
        loss.backward()
        optimizer.step()
        scheduler.step()
        return loss, log_probs

    return model, step


EDGES = [[0, 1, 1, 2, 3, 3, 4, 5, 5, 0], [1, 0, 2, 3, 1, 4, 5, 3, 0, 5]]


class GCNConv(nn.Module):
    def __init__(self, c_in, c_out):
        super().__init__()
        self.lin = nn.Linear(c_in, c_out, bias=False)
        self.bias = nn.Parameter(torch.zeros(c_out))

    def forward(self, x, edge_index):
        n = x.size(0)
        loops = torch.arange(n).unsqueeze(0).repeat(2, 1)
        row, col = torch.cat([edge_index, loops], dim=1)
        degree = torch.zeros(n).scatter_add_(0, col, torch.ones(col.size(0)))
        inverse = degree.pow(-0.5)
        inverse[inverse == float("inf")] = 0
        norm = inverse[row] * inverse[col]
        messages = self.lin(x)[row] * norm.view(-1, 1)
        return torch.zeros(n, messages.size(1)).index_add(0, col, messages) + self.bias


class GATConv(nn.Module):
    def __init__(self, c_in, c_out, heads):
        super().__init__()
        self.heads, self.c_out = heads, c_out
        self.lin = nn.Linear(c_in, heads * c_out, bias=False)
        self.att_src = nn.Parameter(torch.zeros(1, heads, c_out))
        self.att_dst = nn.Parameter(torch.zeros(1, heads, c_out))

    def forward(self, x, edge_index):
        n, (src, dst) = x.size(0), edge_index
        h = self.lin(x).view(n, self.heads, self.c_out)
        alpha = (h * self.att_src).sum(-1)[src] + (h * self.att_dst).sum(-1)[dst]
        alpha = F.leaky_relu(alpha, 0.2)
        index = dst.unsqueeze(-1).expand_as(alpha)
        highest = torch.full((n, self.heads), float("-inf")).scatter_reduce(0, index, alpha, "amax")
        alpha = torch.exp(alpha - highest[dst].detach())
        total = torch.zeros(n, self.heads).scatter_add(0, index, alpha)
        alpha = alpha / (total.index_select(0, dst) + 1e-16)
        out = torch.zeros(n, self.heads, self.c_out)
        out.index_add_(0, dst, h[src] * alpha.unsqueeze(-1))
        return out.mean(dim=1)


class GNN(nn.Module):
    def __init__(self):
        super().__init__()
        self.gcn, self.gat, self.out = GCNConv(5, 8), GATConv(8, 6, 2), nn.Linear(12, 2)

    def forward(self, x, edge_index, batch):
        x = F.relu(self.gcn(x, edge_index))
        x = F.elu(self.gat(x, edge_index))
        index = batch[:, None].expand(-1, x.size(1))
        mean = torch.zeros(2, x.size(1)).scatter_reduce(0, index, x, reduce="mean", include_self=False)
        highest = torch.zeros(2, x.size(1)).scatter_reduce(0, index, x, reduce="amax", include_self=False)
        return self.out(torch.cat([mean, highest], dim=-1))


def graphs():
    model = filled(GNN())
    x, edge_index = numbers([6, 5], 13), torch.tensor(EDGES)
    batch, labels = torch.tensor([0, 0, 0, 1, 1, 1]), torch.tensor([1, 0])
    optimizer = optim.Adam(model.parameters(), lr=0.01, weight_decay=5e-4, eps=1e-4)

    def step(i):
        optimizer.zero_grad()
        out = model(x, edge_index, batch)
        loss = F.nll_loss(F.log_softmax(out, dim=1), labels)
        loss.backward()
        optimizer.step()
        return loss, out

    return model, step


PROGRAMS = [keywords, transcripts, graphs]
