"""Language models, as Llama's, transformers' and Mamba's authors write them."""

import math

import torch
import torch.nn.functional as F
from given import filled, integers, numbers
from torch import nn, optim


class RMSNorm(nn.Module):
    def __init__(self, dim, eps=1e-6):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(dim))

    def forward(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.eps) * self.weight


def rotate_half(x):
    x1, x2 = x.chunk(2, dim=-1)
    return torch.cat((-x2, x1), dim=-1)


class Attention(nn.Module):
    """Grouped queries with rotary positions; the cache keeps keys and values of what was said."""

    def __init__(self, dim, heads, kv_heads):
        super().__init__()
        self.heads, self.kv_heads, self.head_dim = heads, kv_heads, dim // heads
        self.q_proj = nn.Linear(dim, heads * self.head_dim, bias=False)
        self.k_proj = nn.Linear(dim, kv_heads * self.head_dim, bias=False)
        self.v_proj = nn.Linear(dim, kv_heads * self.head_dim, bias=False)
        self.o_proj = nn.Linear(heads * self.head_dim, dim, bias=False)

    def forward(self, x, cos, sin, cache=None):
        B, T, _ = x.shape
        q = self.q_proj(x).view(B, T, self.heads, -1).transpose(1, 2)
        k = self.k_proj(x).view(B, T, self.kv_heads, -1).transpose(1, 2)
        v = self.v_proj(x).view(B, T, self.kv_heads, -1).transpose(1, 2)
        q, k = q * cos + rotate_half(q) * sin, k * cos + rotate_half(k) * sin
        if cache is not None:
            if "k" in cache:
                k, v = torch.cat([cache["k"], k], dim=2), torch.cat([cache["v"], v], dim=2)
            cache["k"], cache["v"] = k, v
        repeats = self.heads // self.kv_heads
        k, v = k.repeat_interleave(repeats, dim=1), v.repeat_interleave(repeats, dim=1)
        out = F.scaled_dot_product_attention(q, k, v, is_causal=T > 1)
        return self.o_proj(out.transpose(1, 2).contiguous().view(B, T, -1))


class Layer(nn.Module):
    def __init__(self, dim, heads, kv_heads):
        super().__init__()
        self.attention_norm = RMSNorm(dim)
        self.attention = Attention(dim, heads, kv_heads)
        self.ffn_norm = RMSNorm(dim)
        self.w1, self.w3 = nn.Linear(dim, 2 * dim, bias=False), nn.Linear(dim, 2 * dim, bias=False)
        self.w2 = nn.Linear(2 * dim, dim, bias=False)

    def forward(self, x, cos, sin, cache=None):
        h = x + self.attention(self.attention_norm(x), cos, sin, cache)
        n = self.ffn_norm(h)
        return h + self.w2(F.silu(self.w1(n)) * self.w3(n))


class Llama(nn.Module):
    def __init__(self, words=11, dim=16, layers=2, heads=4, kv_heads=2):
        super().__init__()
        self.embed = nn.Embedding(words, dim)
        self.layers = nn.ModuleList(Layer(dim, heads, kv_heads) for _ in range(layers))
        self.norm = RMSNorm(dim)
        self.lm_head = nn.Linear(dim, words, bias=False)
        self.lm_head.weight = self.embed.weight
        d = dim // heads
        self.register_buffer("inv_freq", 1.0 / (10000 ** (torch.arange(0, d, 2).float() / d)), persistent=False)

    def forward(self, ids, start=0, caches=None):
        angles = torch.outer(torch.arange(start, start + ids.shape[1]).to(self.inv_freq), self.inv_freq)
        angles = torch.cat((angles, angles), dim=-1)
        cos, sin, x = angles.cos(), angles.sin(), self.embed(ids)
        for i, layer in enumerate(self.layers):
            x = layer(x, cos, sin, caches[i] if caches else None)
        return self.lm_head(self.norm(x))


@torch.no_grad()
def generate(model, ids, count):
    caches = [{} for _ in model.layers]
    logits = model(ids, 0, caches)
    for _ in range(count):
        following = logits[:, -1].argmax(-1, keepdim=True)
        ids = torch.cat([ids, following], dim=1)
        logits = model(following, ids.shape[1] - 1, caches)
    return logits[:, -1]


def llama():
    model = filled(Llama())
    ids = integers(11, [2, 9])
    optimizer = optim.AdamW(model.parameters(), lr=3e-3, betas=(0.9, 0.95), weight_decay=0.1)

    def step(i):
        logits = model(ids[:, :-1])
        loss = F.cross_entropy(logits.reshape(-1, logits.size(-1)), ids[:, 1:].reshape(-1), ignore_index=0)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        return loss, generate(model, ids[:, :4], 3)

    return model, step


class T5Attention(nn.Module):
    """Without a scale, with a bias for each distance, in buckets."""

    def __init__(self, dim, heads, relative, bidirectional=False):
        super().__init__()
        self.heads, self.bidirectional = heads, bidirectional
        self.q, self.k, self.v, self.o = (nn.Linear(dim, dim, bias=False) for _ in range(4))
        if relative:
            self.relative_attention_bias = nn.Embedding(8, heads)

    def bucket(self, distance, buckets=8, furthest=20):
        result = torch.zeros_like(distance)
        if self.bidirectional:
            buckets //= 2
            result += (distance > 0).to(torch.long) * buckets
            distance = torch.abs(distance)
        else:
            distance = -torch.min(distance, torch.zeros_like(distance))
        exact = buckets // 2
        far = exact + (torch.log(distance.float() / exact) / math.log(furthest / exact) * (buckets - exact)).to(
            torch.long
        )
        far = torch.min(far, torch.full_like(far, buckets - 1))
        return result + torch.where(distance < exact, distance, far)

    def bias(self, q, k):
        distance = torch.arange(k)[None, :] - torch.arange(q)[:, None]
        return self.relative_attention_bias(self.bucket(distance)).permute(2, 0, 1).unsqueeze(0)

    def forward(self, x, memory, bias=None):
        split = lambda t: t.unflatten(-1, (self.heads, -1)).transpose(1, 2)
        q, k, v = split(self.q(x)), split(self.k(memory)), split(self.v(memory))
        scores = torch.einsum("bhid,bhjd->bhij", q, k)
        if bias is not None:
            scores = scores + bias
        attended = torch.einsum("bhij,bhjd->bhid", F.softmax(scores.float(), dim=-1).type_as(scores), v)
        return self.o(attended.transpose(1, 2).flatten(-2))


class T5(nn.Module):
    def __init__(self, words=9, dim=12, heads=3):
        super().__init__()
        self.shared = nn.Embedding(words, dim)
        self.encoder = T5Attention(dim, heads, True, bidirectional=True)
        self.decoder = T5Attention(dim, heads, True)
        self.cross = T5Attention(dim, heads, False)
        self.norms = nn.ModuleList(nn.RMSNorm(dim, eps=1e-6) for _ in range(4))
        self.wi_0, self.wi_1 = nn.Linear(dim, 2 * dim, bias=False), nn.Linear(dim, 2 * dim, bias=False)
        self.wo = nn.Linear(2 * dim, dim, bias=False)

    def forward(self, ids, mask, targets):
        x = self.shared(ids)
        padding = (1.0 - mask[:, None, None, :].to(x)) * torch.finfo(x.dtype).min
        n = self.norms[0](x)
        x = x + self.encoder(n, n, self.encoder.bias(ids.size(1), ids.size(1)) + padding)
        y = self.shared(F.pad(targets[:, :-1], (1, 0)))
        T = y.size(1)
        causal = torch.full((T, T), float("-inf")).triu(1)
        n = self.norms[1](y)
        y = y + self.decoder(n, n, self.decoder.bias(T, T) + causal)
        y = y + self.cross(self.norms[2](y), x, padding)
        n = self.norms[3](y)
        y = y + self.wo(F.gelu(self.wi_0(n), approximate="tanh") * self.wi_1(n))
        return (y * y.size(-1) ** -0.5) @ self.shared.weight.T


def t5():
    model = filled(T5())
    ids, targets = integers(8, [2, 7]) + 1, integers(8, [2, 5], 50) + 1
    mask = torch.arange(7)[None, :] < torch.tensor([7, 4])[:, None]
    optimizer = optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    scheduler = optim.lr_scheduler.LambdaLR(optimizer, lambda epoch: min(1.0, (epoch + 1) / 2))

    def step(i):
        optimizer.zero_grad()
        logits = model(ids, mask, targets)
        loss = F.cross_entropy(logits.flatten(0, 1), targets.flatten())
        loss.backward()
        optimizer.step()
        scheduler.step()
        return loss, F.log_softmax(logits, dim=-1)

    return model, step


class Mamba(nn.Module):
    """A selective state space, scanned step by step."""

    def __init__(self, d_model=6, d_state=4, d_conv=3, dt_rank=2):
        super().__init__()
        self.dt_rank, self.d_state = dt_rank, d_state
        d = 2 * d_model
        self.in_proj = nn.Linear(d_model, 2 * d, bias=False)
        self.conv1d = nn.Conv1d(d, d, d_conv, groups=d, padding=d_conv - 1)
        self.x_proj = nn.Linear(d, dt_rank + 2 * d_state, bias=False)
        self.dt_proj = nn.Linear(dt_rank, d)
        self.A_log = nn.Parameter(torch.log(torch.arange(1, d_state + 1).float().repeat(d, 1)))
        self.D = nn.Parameter(torch.ones(d))
        self.out_proj = nn.Linear(d, d_model, bias=False)

    def forward(self, x):
        B, L, _ = x.shape
        x, z = self.in_proj(x).chunk(2, dim=-1)
        x = F.silu(self.conv1d(x.transpose(1, 2))[..., :L].transpose(1, 2))
        delta, b, c = self.x_proj(x).split([self.dt_rank, self.d_state, self.d_state], dim=-1)
        delta = F.softplus(self.dt_proj(delta))
        A = -torch.exp(self.A_log.float())
        dA = torch.exp(torch.einsum("bld,dn->bldn", delta, A))
        dBx = torch.einsum("bld,bln,bld->bldn", delta, b, x)
        h, ys = torch.zeros(B, *A.shape), []
        for t in range(L):
            h = dA[:, t] * h + dBx[:, t]
            ys.append(torch.einsum("bdn,bn->bd", h, c[:, t]))
        y = torch.stack(ys, dim=1) + x * self.D
        return self.out_proj(y * F.silu(z))


def mamba():
    model = filled(nn.Sequential(Mamba(), nn.RMSNorm(6, eps=1e-5), nn.Linear(6, 6)))
    x = numbers([2, 6, 6], 17)
    optimizer = optim.Adagrad(model.parameters(), lr=0.02, eps=1e-4)

    def step(i):
        optimizer.zero_grad()
        out = model(x[:, :-1])
        loss = F.mse_loss(out, x[:, 1:])
        loss.backward()
        optimizer.step()
        return loss, out

    return model, step


class Seq2Seq(nn.Module):
    """Two LSTMs and Bahdanau's attention; sequences of different lengths are packed."""

    def __init__(self, words=10, dim=6):
        super().__init__()
        self.embed = nn.Embedding(words, dim, padding_idx=0)
        self.encoder = nn.LSTM(dim, dim, batch_first=True, bidirectional=True)
        self.bridge = nn.Linear(2 * dim, dim)
        self.cell = nn.LSTMCell(3 * dim, dim)
        self.query, self.key = nn.Linear(dim, dim, bias=False), nn.Linear(2 * dim, dim, bias=False)
        self.energy = nn.Linear(dim, 1, bias=False)
        self.out = nn.Linear(dim, words)

    def forward(self, ids, lengths, targets):
        packed = nn.utils.rnn.pack_padded_sequence(self.embed(ids), lengths.cpu(), True, enforce_sorted=False)
        states, (h, _) = self.encoder(packed)
        states, _ = nn.utils.rnn.pad_packed_sequence(states, batch_first=True)
        mask = torch.arange(states.size(1))[None, :] >= lengths[:, None]
        h = torch.tanh(self.bridge(torch.cat([h[0], h[1]], dim=-1)))
        c, logits = torch.zeros_like(h), []
        for t in range(targets.size(1)):
            word = torch.zeros_like(targets[:, 0]) if t == 0 else targets[:, t - 1]
            scores = self.energy(torch.tanh(self.query(h).unsqueeze(1) + self.key(states))).squeeze(-1)
            weights = scores.masked_fill(mask, float("-inf")).softmax(-1)
            context = torch.bmm(weights.unsqueeze(1), states).squeeze(1)
            h, c = self.cell(torch.cat([self.embed(word), context], dim=-1), (h, c))
            logits.append(self.out(h))
        return torch.stack(logits, dim=1)


def seq2seq():
    model = filled(Seq2Seq())
    lengths = torch.tensor([3, 6, 4])
    ids, targets = integers(9, [3, 6]) + 1, integers(9, [3, 4], 70) + 1
    ids = ids.masked_fill(torch.arange(6)[None, :] >= lengths[:, None], 0)
    optimizer = optim.Adam(model.parameters(), lr=0.01, eps=1e-4)
    criterion = nn.NLLLoss(ignore_index=0, reduction="sum")

    def step(i):
        optimizer.zero_grad()
        logits = model(ids, lengths, targets)
        loss = criterion(logits.log_softmax(-1).transpose(1, 2), targets) / targets.numel()
        loss.backward()
        nn.utils.clip_grad_value_(model.parameters(), 0.1)
        optimizer.step()
        return loss, logits

    return model, step


PROGRAMS = [llama, t5, mamba, seq2seq]
