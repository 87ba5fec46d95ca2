"""Networks over texts, sounds and other sequences."""

import torch
import torch.nn.functional as F
from torch import nn

from .parts import Apply, Attention, block, model, tokens


@model
def gpt():
    emb = nn.Embedding(20, 16)
    net = Apply(
        lambda m, t: m.head(m.n(m.b(m.e(t) + m.p(torch.arange(t.shape[1]))))),
        e=emb, p=nn.Embedding(8, 16), b=block(16, 4, True), n=nn.LayerNorm(16), head=nn.Linear(16, 20, bias=False),
    )  # fmt: skip
    net.head.weight = emb.weight
    return net, (tokens(2, 7),), {}


@model
def bert_with_mask():
    layer = nn.TransformerEncoderLayer(16, 4, 32, batch_first=True, dropout=0.0)

    def forward(m, input_ids, attention_mask):
        mask = (1.0 - attention_mask[:, None, None, :].float()) * -10000.0
        x = m.e(input_ids)
        q = m.q(x).unflatten(-1, (4, -1)).transpose(1, 2)
        w = (q @ q.transpose(-1, -2) / 2 + mask).softmax(-1)
        return {"hidden": m.l(x + (w @ q).transpose(1, 2).flatten(2)), "weights": w}

    return (
        Apply(forward, e=nn.Embedding(20, 16), q=nn.Linear(16, 16), l=layer),
        (),
        {
            "input_ids": tokens(2, 5),
            "attention_mask": torch.tensor([[1, 1, 1, 1, 0], [1, 1, 0, 0, 0]]),
        },
    )


def rotary(length, d):
    angle = torch.outer(torch.arange(length).float(), 10000.0 ** -(torch.arange(0, d, 2).float() / d)).repeat(1, 2)
    half = lambda x: torch.cat([-x[..., d // 2 :], x[..., : d // 2]], -1)
    return lambda x: x * angle.cos() + half(x) * angle.sin()


@model
def llama():
    norm = lambda: Apply(
        lambda m, x: m.w * x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6), w=nn.Parameter(torch.rand(16))
    )
    net = Apply(
        lambda m, t: m.out(m.n3((lambda x: x + m.d(F.silu(m.g(m.n2(x))) * m.u(m.n2(x))))((lambda x: x + m.a(m.n1(x), rotate=rotary(6, 4)))(m.e(t))))),
        e=nn.Embedding(20, 16), n1=norm(), n2=norm(), n3=norm(), a=Attention(16, 4, 2, True),
        g=nn.Linear(16, 24, bias=False), u=nn.Linear(16, 24, bias=False), d=nn.Linear(24, 16, bias=False), out=nn.Linear(16, 20, bias=False),
    )  # fmt: skip
    return net, (tokens(1, 6),), {}


@model
def relative_attention():
    def forward(m, x):
        n = x.shape[1]
        away = torch.arange(n)[None] - torch.arange(n)[:, None]
        bias = m.bias(away.abs().clamp(max=4) + 5 * (away > 0).long()).permute(2, 0, 1)
        q = m.q(x).unflatten(-1, (2, -1)).transpose(1, 2)
        return torch.einsum("bhij,bhjd->bihd", (torch.einsum("bhid,bhjd->bhij", q, q) + bias).softmax(-1), q).flatten(2)

    return Apply(forward, q=nn.Linear(8, 8), bias=nn.Embedding(10, 2)), (torch.randn(2, 6, 8),), {}


@model
def encoder_decoder():
    return (
        Apply(
            lambda m, source, target: m.out(m.t(m.e(source), m.e(target), tgt_mask=nn.Transformer.generate_square_subsequent_mask(4), tgt_is_causal=True)),
            e=nn.Embedding(20, 8), t=nn.Transformer(8, 2, 1, 1, 16, 0.0, batch_first=True), out=nn.Linear(8, 20),
        ),
        (tokens(2, 5), tokens(2, 4)),
        {},
    )  # fmt: skip


@model
def speech_convolutions():
    net = nn.Sequential(
        nn.Conv1d(1, 8, 10, 5, bias=False), nn.GroupNorm(8, 8), nn.GELU(), nn.Conv1d(8, 12, 3, 2), nn.GELU()
    )
    return Apply(lambda m, x: m.b(m.c(x).transpose(1, 2)).mean(1), c=net, b=block(12, 2)), (torch.randn(1, 1, 90),), {}


@model
def wavenet():
    layer = lambda d: Apply(
        lambda m, x: x + m.o(torch.tanh(m.f(F.pad(x, (d, 0)))) * torch.sigmoid(m.g(F.pad(x, (d, 0))))),
        f=nn.Conv1d(6, 6, 2, dilation=d), g=nn.Conv1d(6, 6, 2, dilation=d), o=nn.Conv1d(6, 6, 1),
    )  # fmt: skip
    return (
        nn.Sequential(nn.Conv1d(1, 6, 1), layer(1), layer(2), layer(4), nn.Conv1d(6, 4, 1)),
        (torch.randn(2, 1, 20),),
        {},
    )


@model
def lstm_tagger():
    return (
        Apply(
            lambda m, t: m.o(m.r(m.e(t))[0]),
            e=nn.Embedding(20, 8),
            r=nn.LSTM(8, 6, 2, bidirectional=True, batch_first=True),
            o=nn.Linear(12, 4),
        ),
        (tokens(2, 5),),
        {},
    )


@model
def gru_forecast():
    return (
        Apply(lambda m, x: m.o(m.r(x)[1][-1]), r=nn.GRU(3, 8, 2, batch_first=True), o=nn.Linear(8, 1)),
        (torch.randn(4, 6, 3),),
        {},
    )


@model
def rnn_classifier():
    return (
        Apply(lambda m, x: m.o(m.r(x)[0][:, -1]), r=nn.RNN(3, 8, batch_first=True), o=nn.Linear(8, 3)),
        (torch.randn(2, 5, 3),),
        {},
    )


@model
def selective_scan():
    def forward(m, x):
        a, u = torch.sigmoid(m.a(x)), m.u(x)
        decay = torch.cumsum(torch.log(a), 1)
        return m.o(torch.exp(decay) * torch.cumsum(u * torch.exp(-decay), 1))

    return Apply(forward, a=nn.Linear(4, 6), u=nn.Linear(4, 6), o=nn.Linear(6, 4)), (torch.randn(2, 5, 4),), {}


@model
def experts():
    def forward(m, x):
        weight, at = m.gate(x).softmax(-1).topk(2, -1)
        dense = torch.zeros(x.shape[0], 3).scatter(1, at, weight)
        return torch.einsum("be,beo->bo", dense, torch.einsum("bi,eio->beo", x, m.w))

    return Apply(forward, gate=nn.Linear(6, 3), w=nn.Parameter(torch.randn(3, 6, 4))), (torch.randn(5, 6),), {}
