"""Idioms of transformers and of audio: caches, tied weights, adapters, random fields, packed rows, causal convolutions."""

import math

import torch
import torch.nn.functional as F
from given import filled, integers, numbers
from torch import nn, optim
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence


def rotate_half(x):
    x1, x2 = x.chunk(2, dim=-1)
    return torch.cat((-x2, x1), dim=-1)


class CausalAttention(nn.Module):
    def __init__(self, dim=12, heads=2):
        super().__init__()
        self.heads = heads
        self.c_attn, self.c_proj = nn.Linear(dim, 3 * dim), nn.Linear(dim, dim, bias=False)

    def forward(self, x, past=None):
        B, T, C = x.shape
        q, k, v = (y.view(B, T, self.heads, -1).transpose(1, 2) for y in self.c_attn(x).split(C, dim=2))
        start = 0 if past is None else past[0].size(-2)
        freqs = torch.outer(torch.arange(start, start + T).to(x.dtype), 100 ** -(torch.arange(0, 6, 2).to(x.dtype) / 6))
        cos, sin = torch.cat((freqs, freqs), -1).cos(), torch.cat((freqs, freqs), -1).sin()
        q, k = q * cos + rotate_half(q) * sin, k * cos + rotate_half(k) * sin
        if past is not None:
            k, v = torch.cat([past[0], k], dim=-2), torch.cat([past[1], v], dim=-2)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=past is None)
        return self.c_proj(y.transpose(1, 2).contiguous().view(B, T, C)), (k, v)


class GPT(nn.Module):
    def __init__(self, vocab=11, dim=12):
        super().__init__()
        self.transformer = nn.ModuleDict(dict(
            wte=nn.Embedding(vocab, dim), h=nn.ModuleList([CausalAttention(dim) for _ in range(2)]), ln_f=nn.LayerNorm(dim),
        ))  # fmt: skip
        self.lm_head = nn.Linear(dim, vocab, bias=False)
        self.transformer.wte.weight = self.lm_head.weight

    def forward(self, idx, past=(None, None)):
        x, kept = self.transformer.wte(idx), []
        for attention, own in zip(self.transformer.h, past):
            y, own = attention(F.layer_norm(x, x.shape[-1:]), own)
            x = x + y
            kept.append(own)
        return self.lm_head(self.transformer.ln_f(x)), kept

    @torch.no_grad()
    def generate(self, idx, n):
        logits, past = self(idx)
        for _ in range(n):
            idx = torch.cat((idx, logits[:, -1].argmax(-1, keepdim=True)), dim=1)
            logits, past = self(idx[:, -1:], past)
        return idx, logits


def gpt():
    """Tied weights, rotated keys, a cache of keys and values."""
    model = filled(GPT())
    idx = integers(11, [2, 9], 5)
    optimizer = optim.AdamW(model.parameters(), lr=3e-3, betas=(0.9, 0.95), weight_decay=0.1, eps=1e-4)
    lr_of = lambda it: min(1.0, (it + 1) / 2) * 0.5 * (1.0 + math.cos(math.pi * it / 4))
    scheduler = optim.lr_scheduler.LambdaLR(optimizer, lr_of)

    def step(i):
        logits, _ = model(idx[:, :-1])
        loss = F.cross_entropy(logits.view(-1, logits.size(-1)), idx[:, 1:].reshape(-1), ignore_index=3)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        scheduler.step()
        text, logits = model.generate(idx[:, :3], 4)
        return loss, torch.cat([text.to(logits.dtype).unsqueeze(1), logits], dim=-1)

    return model, step


def masked_language():
    """An encoder layer of PyTorch's own, masks of padding, a target that is mostly ignored."""
    layer = nn.TransformerEncoderLayer(8, 2, 16, 0.0, activation="gelu", batch_first=True, norm_first=True)
    model = filled(nn.ModuleDict({
        "embed": nn.Embedding(9, 8, padding_idx=0), "encoder": nn.TransformerEncoder(layer, 2, nn.LayerNorm(8)),
        "head": nn.Linear(8, 9),
    }))  # fmt: skip
    input_ids = integers(8, [3, 6], 21) + 1
    lengths = torch.tensor([6, 4, 2])
    attention_mask = torch.arange(6)[None, :] < lengths[:, None]
    input_ids = input_ids.masked_fill(~attention_mask, 0)
    masked = (numbers([3, 6], 13) < -0.2) & attention_mask
    optimizer = optim.RAdam(model.parameters(), lr=5e-3, decoupled_weight_decay=True, weight_decay=0.01, eps=1e-4)

    def step(i):
        hidden = model["encoder"](
            model["embed"](torch.where(masked, 8, input_ids)), src_key_padding_mask=~attention_mask
        )
        logits = model["head"](hidden)
        loss = F.cross_entropy(logits.transpose(1, 2), torch.where(masked, input_ids, -100))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss, logits.masked_fill(~attention_mask.unsqueeze(-1), 0.0).log_softmax(dim=-1)

    return model, step


class LoRALinear(nn.Module):
    def __init__(self, base, r=2, alpha=4):
        super().__init__()
        self.base = base
        self.lora_A = nn.Parameter(torch.empty(r, base.in_features))
        self.lora_B = nn.Parameter(torch.empty(base.out_features, r))
        self.scaling = alpha / r

    def forward(self, x):
        return self.base(x) + (x @ self.lora_A.T @ self.lora_B.T) * self.scaling

    def merged(self):
        return self.base.weight + self.scaling * self.lora_B @ self.lora_A


def adapters():
    """Layers of a model are replaced by ones that train two narrow matrices."""
    model = nn.Sequential(nn.Linear(5, 8), nn.Tanh(), nn.Sequential(nn.Linear(8, 8), nn.ReLU()), nn.Linear(8, 3))
    for name, module in list(model.named_modules()):
        if isinstance(module, nn.Linear):
            *path, last = name.split(".")
            setattr(model.get_submodule(".".join(path)), last, LoRALinear(module))
    filled(model)
    for name, p in model.named_parameters():
        p.requires_grad_("lora_" in name)
    x, y = numbers([6, 5], 4), integers(3, [6], 9)
    optimizer = optim.NAdam(filter(lambda p: p.requires_grad, model.parameters()), lr=1e-2, eps=1e-4)

    def step(i):
        loss = F.nll_loss(F.log_softmax(model(x), dim=1), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        trained = sum(p.numel() for p in model.parameters() if p.requires_grad)
        with torch.no_grad():
            return loss, torch.cat([model[2][0].merged().flatten(), torch.tensor([float(trained)])])

    return model, step


class CRF(nn.Module):
    def __init__(self, tags=4):
        super().__init__()
        self.lstm = nn.LSTM(3, 4, bidirectional=True)
        self.emit = nn.Linear(8, tags)
        self.transitions = nn.Parameter(torch.zeros(tags, tags))
        self.start, self.end = nn.Parameter(torch.zeros(tags)), nn.Parameter(torch.zeros(tags))

    def score(self, emissions, tags, mask):
        length, batch = tags.shape
        each = torch.arange(batch)
        score = self.start[tags[0]] + emissions[0, each, tags[0]]
        for i in range(1, length):
            score = score + (self.transitions[tags[i - 1], tags[i]] + emissions[i, each, tags[i]]) * mask[i]
        return score + self.end[tags[mask.long().sum(dim=0) - 1, each]]

    def normalizer(self, emissions, mask):
        score = self.start + emissions[0]
        for i in range(1, emissions.size(0)):
            following = torch.logsumexp(score.unsqueeze(2) + self.transitions + emissions[i].unsqueeze(1), dim=1)
            score = torch.where(mask[i].unsqueeze(1), following, score)
        return torch.logsumexp(score + self.end, dim=1)

    def decode(self, emissions):
        score, history = self.start + emissions[0], []
        for e in emissions[1:]:
            score, indices = (score.unsqueeze(2) + self.transitions + e.unsqueeze(1)).max(dim=1)
            history.append(indices)
        best = [(score + self.end).argmax(dim=1)]
        for indices in reversed(history):
            best.append(indices.gather(1, best[-1].unsqueeze(1)).squeeze(1))
        return torch.stack(best[::-1])


def random_field():
    """A linear chain over a bidirectional LSTM of packed rows, and its best path."""
    model = filled(CRF())
    rows = [numbers([n, 3], 10 * n) for n in (5, 3, 2)]
    x, lengths = pad_sequence(rows), torch.tensor([5, 3, 2])
    tags, mask = integers(4, [5, 3], 8), torch.arange(5)[:, None] < lengths
    optimizer = optim.Adagrad(model.parameters(), lr=0.05, eps=1e-6)

    def step(i):
        packed, _ = model.lstm(pack_padded_sequence(x, lengths))
        hidden, _ = pad_packed_sequence(packed)
        emissions = model.emit(hidden)
        loss = (model.normalizer(emissions, mask) - model.score(emissions, tags, mask)).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        with torch.no_grad():
            best = model.decode(emissions)
        return loss, torch.cat([emissions.flatten(0, 1), best.to(emissions.dtype).flatten().view(-1, 1).expand(-1, 4)])

    return model, step


class Gated(nn.Module):
    def __init__(self, channels, dilation):
        super().__init__()
        self.pad = dilation
        self.conv = nn.utils.parametrizations.weight_norm(nn.Conv1d(channels, 2 * channels, 2, dilation=dilation))
        self.skip = nn.Conv1d(channels, channels, 1)

    def forward(self, x):
        y = F.glu(self.conv(F.pad(x, (self.pad, 0))), dim=1)
        return x + y, self.skip(y)


class WaveNet(nn.Module):
    def __init__(self, classes=16, channels=4):
        super().__init__()
        self.embed = nn.Embedding(classes, channels)
        self.layers = nn.ModuleList(Gated(channels, 2**i) for i in range(3))
        self.out = nn.Sequential(nn.ReLU(), nn.Conv1d(channels, classes, 1))

    def forward(self, x):
        x, total = self.embed(x).mT, 0
        for layer in self.layers:
            x, skip = layer(x)
            total = total + skip
        return self.out(total)


def wavenet():
    """Companded samples, causal convolutions whose weights are norms and directions."""
    model = filled(WaveNet())
    wave = torch.sin(torch.arange(0, 24) * 0.7).view(2, 12)
    mu = 15.0
    companded = torch.sign(wave) * torch.log1p(mu * wave.abs()) / math.log1p(mu)
    codes = ((companded + 1) / 2 * mu + 0.5).long()
    optimizer = optim.Adam(model.parameters(), lr=1e-2, eps=1e-4)
    scheduler = optim.lr_scheduler.SequentialLR(optimizer, [
        optim.lr_scheduler.LinearLR(optimizer, 0.5, total_iters=1), optim.lr_scheduler.CosineAnnealingLR(optimizer, 4),
    ], milestones=[1])  # fmt: skip

    def step(i):
        logits = model(codes[:, :-1])
        loss = F.cross_entropy(logits, codes[:, 1:])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        scheduler.step()
        probs = F.softmax(logits, dim=1)
        levels = torch.linspace(-1, 1, 16)
        return loss, torch.cat([torch.einsum("bct,c->bt", probs, levels), -(probs * probs.log()).sum(1)])

    return model, step


class Harmonics(nn.Module):
    def __init__(self):
        super().__init__()
        self.amplitudes = nn.Parameter(torch.zeros(5))
        self.register_buffer("window", torch.hann_window(16))
        self.filter = nn.Linear(5, 9)


def vocoder():
    """Losses of spectra in several resolutions, a filter in frequencies, windows that overlap."""
    model = filled(Harmonics())
    t = torch.arange(64) / 64
    wanted = torch.sin(2 * math.pi * 6 * t) + 0.3 * torch.cos(2 * math.pi * 13 * t)
    optimizer = optim.SGD(model.parameters(), lr=0.02, momentum=0.9)

    def step(i):
        tones = torch.sin(2 * math.pi * torch.arange(1, 6)[:, None] * 3 * t)
        wave = (model.amplitudes.tanh()[:, None] * tones).sum(0)
        S = torch.stft(wave, 16, 4, window=model.window, return_complex=True)
        gains = F.softplus(model.filter(model.amplitudes)).unsqueeze(-1)
        wave = torch.istft(S * gains, 16, 4, window=model.window, length=64)
        loss = 0
        for n in (16, 32):
            a, b = (torch.stft(x, n, n // 4, window=torch.hann_window(n), return_complex=True).abs().clamp(min=0.1)
                    for x in (wave, wanted))  # fmt: skip
            loss = loss + torch.linalg.norm(a - b) / torch.linalg.norm(b) + F.l1_loss(a.log(), b.log())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss, torch.fft.irfft(torch.fft.rfft(wave)[:12], n=32)

    return model, step


PROGRAMS = [gpt, masked_language, adapters, random_field, wavenet, vocoder]
