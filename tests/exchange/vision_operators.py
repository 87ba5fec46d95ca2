"""torchvision's operators of detectors in plain PyTorch, one place after the other: what recordings ask.

They are those of torchvision by name and by arguments, so torch.export writes what it writes with torchvision, whose
compiled library need not be there."""

import itertools

import torch

ALIGN = """(Tensor input, Tensor rois, float spatial_scale, SymInt pooled_height, SymInt pooled_width,
    int sampling_ratio, bool aligned) -> Tensor"""
DEFORM = """(Tensor input, Tensor weight, Tensor offset, Tensor mask, Tensor bias, SymInt stride_h, SymInt stride_w,
    SymInt pad_h, SymInt pad_w, SymInt dilation_h, SymInt dilation_w, SymInt groups, SymInt offset_groups,
    bool use_mask) -> Tensor"""


def differentiable(name: str, schema: str, formula, shape):
    """An operator that stays one in programs, with the gradients of its formula."""
    made = torch.library.custom_op(name, formula, mutates_args=(), schema=schema)
    made.register_fake(lambda x, *rest: x.new_empty(shape(x, *rest)))

    def keep(ctx, inputs, output):
        ctx.args = inputs

    def backward(ctx, g):
        args = [a.detach().requires_grad_() if torch.is_tensor(a) else a for a in ctx.args]
        given = [a for a in args if torch.is_tensor(a)]
        with torch.enable_grad():
            found = iter(torch.autograd.grad(formula(*args), given, g, allow_unused=True))
        return tuple(next(found) if torch.is_tensor(a) else None for a in args)

    made.register_autograd(backward, setup_context=keep)
    return made


@torch.library.custom_op(
    "torchvision::nms", mutates_args=(), schema="(Tensor dets, Tensor scores, float iou_threshold) -> Tensor"
)
def nms(dets, scores, iou_threshold):
    kept: list[int] = []
    area = (dets[:, 2:] - dets[:, :2]).prod(1)
    for i in scores.argsort(descending=True, stable=True).tolist():
        both = (torch.minimum(dets[i, 2:], dets[kept, 2:]) - torch.maximum(dets[i, :2], dets[kept, :2])).clamp(min=0)
        if not (both.prod(1) / (area[i] + area[kept] - both.prod(1)) > iou_threshold).any():
            kept.append(i)
    return torch.tensor(kept, dtype=torch.int64)


@nms.register_fake
def _(dets, scores, iou_threshold):
    return dets.new_empty(torch.library.get_ctx().new_dynamic_size(), dtype=torch.int64)


def between(image, y, x):
    """What lies at (y, x) between the pixels of an image (C, H, W); beyond its edge is 0."""
    total = image.new_zeros(image.shape[0])
    for row, column in itertools.product((y.floor(), y.floor() + 1), (x.floor(), x.floor() + 1)):
        if 0 <= row < image.shape[1] and 0 <= column < image.shape[2]:
            total = total + image[:, int(row), int(column)] * (1 - (y - row).abs()) * (1 - (x - column).abs())
    return total


def aligned_regions(x, rois, scale, rows, columns, ratio, aligned):
    out = []
    for image, *corners in rois.detach():
        left, top, right, bottom = (corner * scale - (0.5 if aligned else 0) for corner in corners)
        size = [bottom - top, right - left] if aligned else [(bottom - top).clamp(min=1), (right - left).clamp(min=1)]
        each = [ratio if ratio > 0 else int((s / n).ceil()) for s, n in zip(size, (rows, columns), strict=True)]
        edge = torch.tensor(x.shape[2:]) - 1
        for p, q in itertools.product(range(rows), range(columns)):
            part = x.new_zeros(x.shape[1])
            for a, b in itertools.product(range(each[0]), range(each[1])):
                v = top + (p + (a + 0.5) / each[0]) * size[0] / rows
                u = left + (q + (b + 0.5) / each[1]) * size[1] / columns
                if -1 <= v <= x.shape[2] and -1 <= u <= x.shape[3]:
                    at = v.clamp(torch.tensor(0), edge[0]), u.clamp(torch.tensor(0), edge[1])
                    part = part + between(x[int(image)], *at)
            out.append(part / max(each[0] * each[1], 1))
    made = torch.stack(out) if out else x.new_zeros(0, x.shape[1])
    return made.reshape(len(rois), rows, columns, x.shape[1]).permute(0, 3, 1, 2).contiguous()


def deformed(x, weight, offset, mask, bias, sh, sw, ph, pw, dh, dw, groups, parts, masked):
    (n, c), (outputs, inner, kh, kw), (oh, ow) = x.shape[:2], weight.shape, offset.shape[2:]
    moved = offset.reshape(n, parts, kh * kw, 2, oh, ow)
    columns = []
    for i, part, t, p, q in itertools.product(range(n), range(parts), range(kh * kw), range(oh), range(ow)):
        y = p * sh - ph + t // kw * dh + moved[i, part, t, 0, p, q]
        z = q * sw - pw + t % kw * dw + moved[i, part, t, 1, p, q]
        found = between(x[i, part * c // parts : (part + 1) * c // parts], y, z)
        columns.append(found * mask.reshape(n, parts, kh * kw, oh, ow)[i, part, t, p, q] if masked else found)
    made = torch.stack(columns).reshape(n, parts, kh * kw, oh * ow, c // parts).permute(0, 1, 4, 2, 3)
    made = weight.reshape(groups, outputs // groups, inner * kh * kw) @ made.reshape(
        n, groups, inner * kh * kw, oh * ow
    )
    return made.reshape(n, outputs, oh, ow) + bias[:, None, None]


roi_align = differentiable(
    "torchvision::roi_align",
    ALIGN,
    aligned_regions,
    lambda x, rois, scale, rows, columns, *rest: (rois.shape[0], x.shape[1], rows, columns),
)
deform_conv2d = differentiable(
    "torchvision::deform_conv2d",
    DEFORM,
    deformed,
    lambda x, w, offset, *rest: (x.shape[0], w.shape[0], *offset.shape[2:]),
)


POOLED = "(Tensor input, Tensor rois, float spatial_scale, SymInt pooled_height, SymInt pooled_width"


def cells(corners, scale, parts, last, limits):
    """Where the cells of a region begin and end, by axis; corners are rounded, halves away from zero."""
    left, top, right, bottom = (int((c.abs() + 0.5).floor() * c.sign()) for c in (c * scale for c in corners))
    found = []
    for begin, end, n, limit in ((top, bottom, parts[0], limits[0]), (left, right, parts[1], limits[1])):
        each = corners.new_tensor(max(end - begin + last, 1)) / n
        at = lambda edge, begin=begin, limit=limit: min(max(int(edge) + begin, 0), limit)  # noqa: E731
        found.append([slice(at((i * each).floor()), at(((i + 1) * each).ceil())) for i in range(n)])
    return found


@torch.library.custom_op("torchvision::roi_pool", mutates_args=(), schema=f"{POOLED}) -> (Tensor, Tensor)")
def roi_pool(x, rois, scale, rows, columns):
    """The largest pixel of each cell, and where it is."""
    out = x.new_zeros(len(rois), x.shape[1], rows, columns)
    places = torch.full(out.shape, -1, dtype=torch.int32)
    for k, (image, *corners) in enumerate(rois):
        each = cells(torch.stack(corners), scale, (rows, columns), 1, x.shape[2:])
        for (p, down), (q, across) in itertools.product(*map(enumerate, each)):
            cell = x[int(image), :, down, across]
            if cell.numel():
                out[k, :, p, q], first = cell.flatten(1).max(1)
                row, column = first // cell.shape[2] + down.start, first % cell.shape[2] + across.start
                places[k, :, p, q] = row * x.shape[3] + column
    return out, places


def by_position(x, rows, columns):
    """(N, C, rows, columns, H, W): the channel that each part of a region reads; and which that is, for one region."""
    channels = torch.arange(x.shape[1], dtype=torch.int32).reshape(1, -1, rows, columns)
    return x.reshape(x.shape[0], -1, rows, columns, *x.shape[2:]), channels


@torch.library.custom_op("torchvision::ps_roi_pool", mutates_args=(), schema=f"{POOLED}) -> (Tensor, Tensor)")
def ps_roi_pool(x, rois, scale, rows, columns):
    """The mean of each cell; the last row and column of an image do not count."""
    parts, channels = by_position(x, rows, columns)
    out = x.new_zeros(len(rois), *parts.shape[1:4])
    for k, (image, *corners) in enumerate(rois):
        each = cells(torch.stack(corners), scale, (rows, columns), 0, (x.shape[2] - 1, x.shape[3] - 1))
        for (p, down), (q, across) in itertools.product(*map(enumerate, each)):
            cell = parts[int(image), :, p, q, down, across]
            if cell.numel():
                out[k, :, p, q] = cell.mean((1, 2))
    return out, channels.repeat(len(rois), 1, 1, 1)


@torch.library.custom_op(
    "torchvision::ps_roi_align", mutates_args=(), schema=f"{POOLED}, int sampling_ratio) -> (Tensor, Tensor)"
)
def ps_roi_align(x, rois, scale, rows, columns, ratio):
    parts, channels = by_position(x, rows, columns)
    out = x.new_zeros(len(rois), *parts.shape[1:4])
    for p, q in itertools.product(range(rows), range(columns)):
        out[:, :, p, q] = aligned_regions(parts[:, :, p, q], rois, scale, rows, columns, ratio, True)[:, :, p, q]
    return out, channels.repeat(len(rois), 1, 1, 1)
