"""Idioms of torchvision and timm: squeezed and inverted blocks, skips, frozen layers, focal losses, hooks, averages."""

from collections import OrderedDict

import torch
import torch.nn.functional as F
from given import filled, integers, numbers
from torch import nn, optim


class SqueezeExcitation(nn.Module):
    def __init__(self, channels, squeeze):
        super().__init__()
        self.avgpool = nn.AdaptiveAvgPool2d(1)
        self.fc1 = nn.Conv2d(channels, squeeze, 1)
        self.fc2 = nn.Conv2d(squeeze, channels, 1)

    def forward(self, x):
        scale = F.relu(self.fc1(self.avgpool(x)), inplace=True)
        return F.hardsigmoid(self.fc2(scale), inplace=True) * x


class InvertedResidual(nn.Module):
    def __init__(self, inp, hidden, out, stride):
        super().__init__()
        norm = lambda n: nn.BatchNorm2d(n, eps=0.001, momentum=0.01)
        self.use_res_connect = stride == 1 and inp == out
        self.block = nn.Sequential(
            nn.Conv2d(inp, hidden, 1, bias=False), norm(hidden), nn.Hardswish(inplace=True),
            nn.Conv2d(hidden, hidden, 3, stride, 1, groups=hidden, bias=False), norm(hidden), nn.Hardswish(),
            SqueezeExcitation(hidden, max(hidden // 4, 2)),
            nn.Conv2d(hidden, out, 1, bias=False), norm(out),
        )  # fmt: skip

    def forward(self, x):
        result = self.block(x)
        return result + x if self.use_res_connect else result


def mobilenet():
    """MobileNetV3's blocks, one cycle of rates and of momentums."""
    model = filled(nn.Sequential(
        InvertedResidual(3, 8, 4, 2), InvertedResidual(4, 12, 4, 1), nn.Flatten(), nn.Linear(64, 5),
    ))  # fmt: skip
    images, labels = numbers([4, 3, 8, 8], 5), integers(5, [4], 2)
    optimizer = optim.SGD(model.parameters(), lr=0.05, momentum=0.9, weight_decay=1e-4, nesterov=True)
    scheduler = optim.lr_scheduler.OneCycleLR(optimizer, max_lr=0.05, total_steps=6, pct_start=0.5)

    def step(i):
        model.train()
        optimizer.zero_grad(set_to_none=True)
        loss = F.cross_entropy(model(images), labels, weight=torch.linspace(0.5, 1.5, 5))
        loss.backward()
        optimizer.step()
        scheduler.step()
        model.eval()
        with torch.inference_mode():
            out = model(images).softmax(-1)
        group = optimizer.param_groups[0]
        return loss, torch.cat([out.flatten(), torch.tensor([group["lr"], group["momentum"]])])

    return model, step


class DoubleConv(nn.Module):
    def __init__(self, inp, out):
        super().__init__()
        self.double_conv = nn.Sequential(
            nn.Conv2d(inp, out, kernel_size=3, padding=1, bias=False), nn.GroupNorm(2, out), nn.SiLU(inplace=True),
            nn.Conv2d(out, out, kernel_size=3, padding="same", padding_mode="replicate"), nn.LeakyReLU(0.1),
        )  # fmt: skip

    def forward(self, x):
        return self.double_conv(x)


class UNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.down = nn.ModuleList([DoubleConv(1, 4), DoubleConv(4, 8)])
        self.pool = nn.MaxPool2d(2)
        self.middle = DoubleConv(8, 8)
        self.up = nn.ModuleDict(
            {"a": nn.ConvTranspose2d(8, 8, 2, stride=2), "b": nn.ConvTranspose2d(8, 4, 2, stride=2)}
        )
        self.merge = nn.ModuleDict({"a": DoubleConv(16, 8), "b": DoubleConv(8, 4)})
        self.outc = nn.Conv2d(4, 1, 1)

    def forward(self, x):
        skips = []
        for layer in self.down:
            x = layer(x)
            skips.append(x)
            x = self.pool(x)
        x = self.middle(x)
        for name, up in self.up.items():
            x, skip = up(x), skips.pop()
            dy, dx = skip.size(2) - x.size(2), skip.size(3) - x.size(3)
            x = F.pad(x, [dx // 2, dx - dx // 2, dy // 2, dy - dy // 2])
            x = self.merge[name](torch.cat([skip, x], dim=1))
        return self.outc(x)


def dice_loss(logits, target, smooth=1.0):
    probs = torch.sigmoid(logits)
    overlap = (probs * target).sum(dim=(2, 3))
    union = probs.sum(dim=(2, 3)) + target.sum(dim=(2, 3))
    return 1 - ((2.0 * overlap + smooth) / (union + smooth)).mean()


def unet():
    """Sizes that are odd, dice and cross entropy, a rate that falls on a plateau."""
    model = filled(UNet())
    images, masks = numbers([2, 1, 7, 9], 11), (numbers([2, 1, 7, 9], 3) > 0).to(torch.get_default_dtype())
    optimizer = optim.RMSprop(model.parameters(), lr=1e-3, weight_decay=1e-8, momentum=0.5, eps=1e-4)
    scheduler = optim.lr_scheduler.ReduceLROnPlateau(optimizer, "max", patience=0, factor=0.3)
    criterion = nn.BCEWithLogitsLoss(pos_weight=torch.tensor([1.5]))

    def step(i):
        optimizer.zero_grad()
        logits = model(images)
        loss = criterion(logits, masks) + dice_loss(logits, masks)
        loss.backward()
        nn.utils.clip_grad_value_(model.parameters(), 0.05)
        optimizer.step()
        scheduler.step(0.5)
        return loss, torch.cat([logits.sigmoid().flatten(), torch.tensor(scheduler.get_last_lr())])

    return model, step


class BasicBlock(nn.Module):
    def __init__(self, inp, planes, stride=1):
        super().__init__()
        self.conv1 = nn.Conv2d(inp, planes, 3, stride=stride, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(planes)
        self.conv2 = nn.Conv2d(planes, planes, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(planes)
        self.downsample = None
        if stride != 1 or inp != planes:
            self.downsample = nn.Sequential(nn.Conv2d(inp, planes, 1, stride, bias=False), nn.BatchNorm2d(planes))

    def forward(self, x):
        identity = x if self.downsample is None else self.downsample(x)
        out = F.relu(self.bn1(self.conv1(x)))
        out = self.bn2(self.conv2(out))
        out += identity
        return F.relu(out)


class ResNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Sequential(OrderedDict([("conv", nn.Conv2d(3, 4, 3)), ("bn", nn.BatchNorm2d(4))]))
        self.layer1 = BasicBlock(4, 4)
        self.layer2 = BasicBlock(4, 8, stride=2)
        self.fc = nn.Linear(8, 3)

    def forward(self, x):
        x = self.layer2(self.layer1(F.max_pool2d(self.stem(x).relu_(), 3, 2, 1)))
        return self.fc(torch.flatten(F.adaptive_avg_pool2d(x, (1, 1)), 1))


def finetuned():
    """Frozen layers, norms whose last scale begins at zero, rates by layer, weights that are averaged."""
    model = filled(ResNet())
    for m in model.modules():
        if isinstance(m, BasicBlock):
            nn.init.constant_(m.bn2.weight, 0.2)
    for p in model.stem.parameters():
        p.requires_grad = False
    averaged = optim.swa_utils.AveragedModel(model, multi_avg_fn=optim.swa_utils.get_ema_multi_avg_fn(0.9))
    optimizer = optim.AdamW([
        {"params": [p for n, p in model.named_parameters() if p.requires_grad and not n.startswith("fc.")]},
        {"params": model.fc.parameters(), "lr": 1e-2},
    ], lr=1e-3, eps=1e-4, amsgrad=True)  # fmt: skip
    images, labels = numbers([4, 3, 10, 10], 2), integers(3, [4])

    def step(i):
        model.train()
        model.stem.eval()
        loss = F.cross_entropy(model(images), labels, label_smoothing=0.1)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        averaged.update_parameters(model)
        averaged.eval()
        with torch.no_grad():
            return loss, averaged(images)

    return model, step


class Pyramid(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.ModuleDict(OrderedDict(c2=nn.Conv2d(3, 4, 3, 2, 1), c3=nn.Conv2d(4, 6, 3, 2, 1)))
        self.inner = nn.ModuleList([nn.Conv2d(n, 4, 1) for n in (4, 6)])
        self.layer = nn.ModuleList([nn.Conv2d(4, 4, 3, padding=1) for _ in range(2)])
        self.cls, self.box = nn.Conv2d(4, 2, 1), nn.Conv2d(4, 4, 1)

    def forward(self, x):
        features = OrderedDict()
        for name, layer in self.body.items():
            x = F.relu(layer(x))
            features[name] = x
        inner = [layer(f) for layer, f in zip(self.inner, features.values())]
        top = F.interpolate(inner[1], size=inner[0].shape[-2:], mode="nearest")
        levels = [self.layer[0](inner[0] + top), self.layer[1](inner[1])]
        flat = lambda head: torch.cat([head(f).permute(0, 2, 3, 1).flatten(1, 2) for f in levels], dim=1)
        return flat(self.cls), flat(self.box).sigmoid()


def sigmoid_focal_loss(inputs, targets, alpha=0.25, gamma=2.0):
    p = torch.sigmoid(inputs)
    ce_loss = F.binary_cross_entropy_with_logits(inputs, targets, reduction="none")
    p_t = p * targets + (1 - p) * (1 - targets)
    loss = ce_loss * ((1 - p_t) ** gamma)
    return (alpha * targets + (1 - alpha) * (1 - targets)) * loss


def generalized_box_iou_loss(boxes1, boxes2, eps=1e-7):
    x1, y1, x2, y2 = boxes1.unbind(dim=-1)
    x1g, y1g, x2g, y2g = boxes2.unbind(dim=-1)
    xkis1, ykis1, xkis2, ykis2 = torch.max(x1, x1g), torch.max(y1, y1g), torch.min(x2, x2g), torch.min(y2, y2g)
    intsctk = torch.zeros_like(x1)
    mask = (ykis2 > ykis1) & (xkis2 > xkis1)
    intsctk[mask] = (xkis2[mask] - xkis1[mask]) * (ykis2[mask] - ykis1[mask])
    unionk = (x2 - x1) * (y2 - y1) + (x2g - x1g) * (y2g - y1g) - intsctk
    xc1, yc1, xc2, yc2 = torch.min(x1, x1g), torch.min(y1, y1g), torch.max(x2, x2g), torch.max(y2, y2g)
    area_c = (xc2 - xc1) * (yc2 - yc1)
    return 1 - intsctk / (unionk + eps) + (area_c - unionk) / (area_c + eps)


def retina():
    """A pyramid of features, focal losses, overlaps of boxes."""
    model = filled(Pyramid())
    images = numbers([2, 3, 8, 8], 9)
    labels = F.one_hot(integers(3, [2, 20], 4), 3)[..., 1:].to(torch.get_default_dtype())
    anchors = torch.tensor([0.2, 0.3, 0.6, 0.8]) + 0.05 * numbers([2, 20, 4], 1)
    optimizer = optim.Adam(model.parameters(), lr=2e-3, betas=(0.9, 0.99), eps=1e-4)

    def step(i):
        logits, boxes = model(images)
        ordered = torch.cat([boxes[..., :2] * 0.5, 0.5 + boxes[..., 2:] * 0.5], dim=-1)
        found = (labels.sum(-1) > 0).nonzero(as_tuple=True)
        losses = {
            "classification": sigmoid_focal_loss(logits, labels).sum() / max(1, found[0].numel()),
            "bbox_regression": generalized_box_iou_loss(ordered[found], anchors[found]).mean(),
        }
        loss = sum(losses.values())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        scores, indices = logits.sigmoid().flatten(1).topk(5, dim=1)
        return loss, torch.cat([scores, indices.to(scores.dtype)], dim=1)

    return model, step


def grad_cam():
    """Hooks forward and backward, and what they see, beside ordinary training."""
    model = filled(nn.Sequential(
        nn.Conv2d(3, 6, 3), nn.ReLU(), nn.Conv2d(6, 6, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(),
        nn.Linear(6, 4),
    ))  # fmt: skip
    images, labels = numbers([2, 3, 9, 9], 8), integers(4, [2], 6)
    optimizer = optim.Adamax(model.parameters(), lr=1e-2)
    seen = {}
    model[2].register_forward_hook(lambda m, inputs, output: seen.update(activation=output.detach()))
    model[2].register_full_backward_hook(lambda m, into, out: seen.update(gradient=out[0].detach()))

    def step(i):
        model.zero_grad()
        logits = model(images)
        best = logits.argmax(dim=1, keepdim=True)
        logits.gather(1, best).sum().backward(retain_graph=True)
        weights = seen["gradient"].mean(dim=[2, 3], keepdim=True)
        cam = F.relu((weights * seen["activation"]).sum(1, keepdim=True))
        cam = F.interpolate(cam, size=(9, 9), mode="bilinear", align_corners=False)
        low, high = cam.amin((1, 2, 3), keepdim=True), cam.amax((1, 2, 3), keepdim=True)
        optimizer.zero_grad()
        loss = F.multi_margin_loss(logits, labels)
        loss.backward()
        optimizer.step()
        return loss, (cam - low) / (high - low).clamp_min(1e-3)

    return model, step


class Pixels(nn.Module):
    def __init__(self):
        super().__init__()
        self.image = nn.Parameter(numbers([1, 3, 8, 8], 77) * 0.5)


def style_transfer():
    """Gram matrices of features, and an image that is the parameter."""
    features = filled(nn.Sequential(nn.Conv2d(3, 4, 3, padding=1), nn.ELU(), nn.AvgPool2d(2), nn.Conv2d(4, 5, 3)))
    features.requires_grad_(False).eval()
    model = Pixels()
    optimizer = optim.LBFGS([model.image], max_iter=4, history_size=3)

    def gram_matrix(x):
        a, b, c, d = x.size()
        flat = x.view(a * b, c * d)
        return torch.mm(flat, flat.t()).div(a * b * c * d)

    content, style = features(numbers([1, 3, 8, 8], 1)), gram_matrix(features(numbers([1, 3, 8, 8], 500)))

    def step(i):
        def closure():
            with torch.no_grad():
                model.image.clamp_(-1, 1)
            optimizer.zero_grad()
            y = features(model.image)
            loss = F.mse_loss(y, content) + 10 * F.mse_loss(gram_matrix(y), style)
            across = (model.image[..., 1:] - model.image[..., :-1]).abs().mean()
            loss = loss + 0.01 * across
            loss.backward()
            return loss

        loss = optimizer.step(closure)
        return loss, model.image.detach().clone()

    return model, step


PROGRAMS = [mobilenet, unet, finetuned, retina, grad_cam, style_transfer]
