"""Detectors, with torchvision's operators: how many boxes stay, values decide."""

import torch
import vision_operators  # noqa: F401  defines them
from torch import nn

from .parts import Apply, conv, image

DETECTORS = {}


def detector(make):
    DETECTORS[make.__name__] = make
    return make


@detector
def two_stages():
    """Boxes are proposed, thinned out by classes, pooled from the image's features, and judged."""

    def forward(m, x):
        features = m.trunk(x)
        sizes, scores = m.boxes(features).flatten(2)[0].T.split([4, 2], 1)
        rows, columns = torch.meshgrid(torch.arange(5.0), torch.arange(5.0), indexing="ij")
        middle = torch.stack([columns, rows], -1).reshape(-1, 2) * 2 + sizes[:, :2]
        reach = sizes[:, 2:].exp() + 0.6
        boxes = torch.cat([middle - reach, middle + reach], 1)
        score, kind = scores.sigmoid().max(1)
        apart = boxes + (kind * (boxes.max() + 1))[:, None]  # boxes of other kinds share nothing
        kept = torch.ops.torchvision.nms(apart.detach(), score.detach(), 0.3)
        found = boxes[kept]
        rois = torch.cat([torch.zeros_like(found[:, :1]), found], 1)
        pooled = torch.ops.torchvision.roi_align(features, rois, 0.5, 3, 2, 2, True)
        each = torch.ops.torchvision.roi_align(features, rois, 0.5, 2, 2, 0, False)  # as many places as pixels
        return found, score[kept], m.judge(torch.cat([pooled.flatten(1), each.flatten(1)], 1))

    return (
        Apply(forward, trunk=conv(3, 6, s=2), boxes=nn.Conv2d(6, 6, 1), judge=nn.Linear(60, 3)),
        (image(1, 3, 10),),
        {},
    )


@detector
def deformed():
    """A convolution that learns where to look, with two groups of offsets, and how much what it sees counts."""

    def forward(m, x):
        moved, shown = m.moves(x).split([36, 18], 1)
        none = torch.zeros(6)
        y = torch.ops.torchvision.deform_conv2d(x, m.weight, moved, shown.sigmoid(), none, 2, 1, 1, 0, 1, 2, 2, 2, True)
        return torch.ops.torchvision.deform_conv2d(
            y.relu(), m.other, torch.zeros(1, 2, *y.shape[2:]), none, m.bias, 1, 1, 0, 0, 1, 1, 1, 1, False
        )

    return (
        Apply(
            forward,
            moves=nn.Conv2d(4, 54, (3, 5), stride=(2, 1), padding=(1, 0)),
            weight=nn.Parameter(torch.randn(6, 2, 3, 3) * 0.3),
            other=nn.Parameter(torch.randn(3, 6, 1, 1)),
            bias=nn.Parameter(torch.randn(3)),
        ),
        (image(1, 4, 6),),
        {},
    )
