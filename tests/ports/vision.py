"""Networks of images, as torchvision and timm write them."""

import torch
import torch.nn.functional as F
from given import filled, integers, numbers
from torch import nn, optim


class Block(nn.Module):
    """timm's transformer block, with a scale for each layer."""

    def __init__(self, dim, heads):
        super().__init__()
        self.norm1 = nn.LayerNorm(dim, eps=1e-6)
        self.attn = nn.MultiheadAttention(dim, heads, batch_first=True)
        self.ls1 = nn.Parameter(torch.full((dim,), 0.1))
        self.norm2 = nn.LayerNorm(dim, eps=1e-6)
        self.mlp = nn.Sequential(nn.Linear(dim, 4 * dim), nn.GELU(), nn.Dropout(0.0), nn.Linear(4 * dim, dim))
        self.ls2 = nn.Parameter(torch.full((dim,), 0.1))

    def forward(self, x):
        h = self.norm1(x)
        x = x + self.attn(h, h, h, need_weights=False)[0] * self.ls1
        return x + self.mlp(self.norm2(x)) * self.ls2


class ViT(nn.Module):
    def __init__(self, size=8, patch=4, dim=16, depth=2, heads=4, classes=5):
        super().__init__()
        self.patch = nn.Conv2d(3, dim, patch, stride=patch)
        self.cls_token = nn.Parameter(torch.zeros(1, 1, dim))
        self.pos_embed = nn.Parameter(torch.zeros(1, (size // patch) ** 2 + 1, dim))
        self.blocks = nn.ModuleList([Block(dim, heads) for _ in range(depth)])
        self.norm = nn.LayerNorm(dim)
        self.head = nn.Linear(dim, classes)

    def forward(self, images):
        x = self.patch(images).flatten(2).transpose(1, 2)
        x = torch.cat([self.cls_token.expand(x.shape[0], -1, -1), x], dim=1) + self.pos_embed
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x)[:, 0])


def vit():
    model = filled(ViT())
    images, labels = numbers([3, 3, 8, 8], 7), integers(5, [3])
    decay = [p for p in model.parameters() if p.dim() > 1]
    rest = [p for p in model.parameters() if p.dim() <= 1]
    groups = [{"params": decay}, {"params": rest, "weight_decay": 0}]
    # eps: the keys' biases have no gradient but rounding, which is to stay small.
    optimizer = optim.AdamW(groups, lr=1e-3, weight_decay=0.05, eps=1e-6)

    def step(i):
        optimizer.zero_grad()
        logits = model(images)
        loss = F.cross_entropy(logits, labels, label_smoothing=0.1)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        return loss, logits

    return model, step


class LayerNorm2d(nn.LayerNorm):
    def forward(self, x):
        return super().forward(x.permute(0, 2, 3, 1)).permute(0, 3, 1, 2)


class ConvNeXtBlock(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.dwconv = nn.Conv2d(dim, dim, kernel_size=7, padding=3, groups=dim)
        self.norm = nn.LayerNorm(dim, eps=1e-6)
        self.pwconv1 = nn.Linear(dim, 4 * dim)
        self.pwconv2 = nn.Linear(4 * dim, dim)
        self.gamma = nn.Parameter(torch.ones(dim))

    def forward(self, x):
        h = self.dwconv(x).permute(0, 2, 3, 1)
        h = self.pwconv2(F.gelu(self.pwconv1(self.norm(h))))
        return x + (self.gamma * h).permute(0, 3, 1, 2)


def convnext():
    model = filled(
        nn.Sequential(
            nn.Conv2d(3, 8, kernel_size=2, stride=2),
            LayerNorm2d(8),
            ConvNeXtBlock(8),
            LayerNorm2d(8),
            nn.Conv2d(8, 12, 2, 2),
            ConvNeXtBlock(12),
            nn.AdaptiveAvgPool2d(1),
            nn.Flatten(),
            nn.Linear(12, 4),
        )
    )
    images, labels = numbers([2, 3, 12, 12], 3), torch.tensor([1, 3])
    optimizer = optim.SGD(model.parameters(), lr=0.05, momentum=0.9, nesterov=True)
    scheduler = optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=5)
    criterion = nn.CrossEntropyLoss()

    def step(i):
        logits = model(images)
        loss = criterion(logits, labels)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        scheduler.step()
        return loss, logits

    return model, step


class SqueezeExcitation(nn.Module):
    def __init__(self, channels, squeeze):
        super().__init__()
        self.avgpool = nn.AdaptiveAvgPool2d(1)
        self.fc1 = nn.Conv2d(channels, squeeze, 1)
        self.fc2 = nn.Conv2d(squeeze, channels, 1)

    def forward(self, x):
        scale = F.silu(self.fc1(self.avgpool(x)), inplace=True)
        return torch.sigmoid(self.fc2(scale)) * x


def conv_bn(c_in, c_out, kernel, stride=1, groups=1, activation=True):
    conv = nn.Conv2d(c_in, c_out, kernel, stride, padding=kernel // 2, groups=groups, bias=False)
    layers = [conv, nn.BatchNorm2d(c_out, momentum=0.01, eps=1e-3)]
    return nn.Sequential(*layers, *([nn.SiLU(inplace=True)] if activation else []))


class MBConv(nn.Module):
    def __init__(self, c_in, c_out, expand, kernel, stride):
        super().__init__()
        hidden = c_in * expand
        self.use_res_connect = stride == 1 and c_in == c_out
        self.block = nn.Sequential(
            conv_bn(c_in, hidden, 1),
            conv_bn(hidden, hidden, kernel, stride, groups=hidden),
            SqueezeExcitation(hidden, max(1, c_in // 4)),
            conv_bn(hidden, c_out, 1, activation=False),
        )

    def forward(self, x):
        out = self.block(x)
        if self.use_res_connect:
            out += x
        return out


def efficientnet():
    model = filled(
        nn.Sequential(
            conv_bn(3, 8, 3, 2), MBConv(8, 8, 4, 3, 1), MBConv(8, 12, 2, 5, 2), nn.AdaptiveAvgPool2d((1, 1)),
            nn.Flatten(1), nn.Dropout(0.0), nn.Linear(12, 6),
        )
    )  # fmt: skip
    images, labels = numbers([4, 3, 16, 16], 11), integers(6, [4])
    optimizer = optim.RMSprop(model.parameters(), lr=0.002, alpha=0.9, momentum=0.9, eps=0.0316)

    def step(i):
        model.train()
        optimizer.zero_grad()
        loss = F.cross_entropy(model(images), labels)
        loss.backward()
        optimizer.step()
        model.eval()
        with torch.no_grad():
            probabilities = model(images).softmax(-1)
        return loss, probabilities

    return model, step


class WindowAttention(nn.Module):
    """Swin's, with a bias for each distance."""

    def __init__(self, dim, window, heads):
        super().__init__()
        self.heads, self.scale = heads, (dim // heads) ** -0.5
        self.relative_position_bias_table = nn.Parameter(torch.zeros((2 * window - 1) ** 2, heads))
        coords = torch.stack(torch.meshgrid(torch.arange(window), torch.arange(window), indexing="ij")).flatten(1)
        relative = (coords[:, :, None] - coords[:, None, :]).permute(1, 2, 0).contiguous()
        relative += window - 1
        relative[:, :, 0] *= 2 * window - 1
        self.register_buffer("relative_position_index", relative.sum(-1), persistent=False)
        self.qkv = nn.Linear(dim, 3 * dim)
        self.proj = nn.Linear(dim, dim)

    def forward(self, x, mask):
        B, N, C = x.shape
        q, k, v = self.qkv(x).reshape(B, N, 3, self.heads, C // self.heads).permute(2, 0, 3, 1, 4).unbind(0)
        attn = (q * self.scale) @ k.transpose(-2, -1)
        bias = self.relative_position_bias_table[self.relative_position_index.view(-1)].view(N, N, -1)
        attn = attn + bias.permute(2, 0, 1).unsqueeze(0)
        W = mask.shape[0]
        attn = attn.view(B // W, W, self.heads, N, N) + mask.unsqueeze(1).unsqueeze(0)
        attn = attn.view(-1, self.heads, N, N).softmax(-1)
        return self.proj((attn @ v).transpose(1, 2).reshape(B, N, C))


class SwinBlock(nn.Module):
    def __init__(self, dim=8, window=2, heads=2, shift=1):
        super().__init__()
        self.window, self.shift = window, shift
        self.norm = nn.LayerNorm(dim)
        self.attn = WindowAttention(dim, window, heads)

    def windows(self, x):
        B, H, W, C = x.shape
        w = self.window
        return x.view(B, H // w, w, W // w, w, C).permute(0, 1, 3, 2, 4, 5).contiguous().view(-1, w * w, C)

    def mask(self, H, W):
        regions = torch.zeros(1, H, W, 1)
        slices = (slice(0, -self.window), slice(-self.window, -self.shift), slice(-self.shift, None))
        for n, (h, w) in enumerate((h, w) for h in slices for w in slices):
            regions[:, h, w, :] = n
        regions = self.windows(regions).squeeze(-1)
        mask = regions.unsqueeze(1) - regions.unsqueeze(2)
        return mask.masked_fill(mask != 0, -100.0).masked_fill(mask == 0, 0.0)

    def forward(self, x):
        B, H, W, C = x.shape
        shifted = torch.roll(self.norm(x), shifts=(-self.shift, -self.shift), dims=(1, 2))
        out = self.attn(self.windows(shifted), self.mask(H, W))
        w = self.window
        out = out.view(B, H // w, W // w, w, w, C).permute(0, 1, 3, 2, 4, 5).reshape(B, H, W, C)
        return x + torch.roll(out, shifts=(self.shift, self.shift), dims=(1, 2))


def swin():
    model = filled(SwinBlock())
    x, wanted = numbers([2, 4, 6, 8], 5), numbers([2, 4, 6, 8], 900)
    optimizer = optim.SGD(model.parameters(), lr=0.1, momentum=0.9)

    def step(i):
        optimizer.zero_grad()
        out = model(x)
        loss = F.smooth_l1_loss(out, wanted, beta=0.5)
        loss.backward()
        optimizer.step()
        return loss, out

    return model, step


PROGRAMS = [vit, convnext, efficientnet, swin]
