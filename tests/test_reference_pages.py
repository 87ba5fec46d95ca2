"""The website's pages of functions and classes show examples, and say what parameters are."""

import re

# Of these no example can be shown that prints the same everywhere, by reason.
WITHOUT_EXAMPLE = {
    "what it answers depends on the reader's GPU, or it needs one": (
        "torch.initWebGPUAsync",
        "torch.gpuDevice",
        "torch.from_gpu_buffer",
        "torch.gpu_buffer",
        "torch.webgpu.flush",
        "torch.webgpu.on_lost",
        "torch.webgpu.synchronize",
    ),
    "only pages have its object": ("torch.to_audio",),
    "needs a file that another program wrote": ("torch.export.load", "torch.onnx.load"),
    "needs an address that answers": ("torch.hub.download_url_to_file", "torch.hub.load_state_dict_from_url"),
}


def test_pages_of_the_reference_have_examples_and_say_what_parameters_are(documentation):
    """Whatever is called: a table without an empty cell beside a name, and an example, but for a few with a reason."""
    called = {"op", "method", "function", "module", "optimizer", "scheduler", "loader", "distribution"}
    bare, unsaid, kinds = [], [], set()
    for page in sorted((documentation / "reference").glob("*.html")):
        text = page.read_text(encoding="utf-8")
        kind = re.search(r'<p class="kind">\s*([a-z]+)', text)
        if kind is None or kind[1] not in called:
            continue
        kinds.add(kind[1])
        name = page.stem
        bare += [name] if not re.search("<h[2-4]>Example<", text) else []
        rows = re.findall(r'<tr><th scope="row"><code>(.*?)</code></th><td>(.*?)</td>', text, re.S)
        unsaid += [f"{name}: {parameter}" for parameter, what in rows if not what.strip()]
    assert kinds == called
    assert unsaid == []
    assert set(bare) == {name for names in WITHOUT_EXAMPLE.values() for name in names}


def test_modules_show_what_they_compute(documentation):
    """The formula of the op that each runs, and its gradient, but for modules that run no op of their own."""
    others = {
        "they hold others": {"Module", "ModuleDict", "ModuleList", "ParameterDict", "ParameterList", "Sequential"},
        "they are tensors": {"Buffer", "Parameter"},
        "they are made of the modules on the pages beside them": {
            "AdaptiveLogSoftmaxWithLoss",
            "SyncBatchNorm",
            "Transformer",
            "TransformerDecoder",
            "TransformerDecoderLayer",
            "TransformerEncoder",
            "TransformerEncoderLayer",
        },
        "what they answer is a view": {"Flatten", "Identity", "Unflatten"},
    }
    without = set()
    for page in (documentation / "reference").glob("torch.nn.*.html"):
        text = page.read_text(encoding="utf-8")
        formula = re.search(r"<h2>(?:What it computes|One step)", text) and 'class="katex"' in text
        if re.search(r'<p class="kind">\s*module', text) and not formula:
            without.add(page.stem.rpartition(".")[2])
    assert without == set().union(*others.values())


def test_options_come_with_what_they_are_and_what_they_are_by_default(documentation):
    """Read from the options' types, wherever a constructor takes them: shared ones, those of a list, those by name."""

    def rows(name):
        text = (documentation / "reference" / f"{name}.html").read_text(encoding="utf-8")
        found = re.findall(
            r'<tr><th scope="row"><code>(.*?)</code></th><td>(.*?)</td>(?:\s*<td>(.*?)</td>)?', text, re.S
        )
        plain = lambda html: re.sub(r"<[^>]*>", "", html).replace("&#34;", '"').strip()
        return {parameter: (plain(what), plain(default)) for parameter, what, default in found}

    for optimizer in ("Adam", "AdamW", "SGD", "RMSprop", "Muon", "Adafactor"):
        taken = rows(f"torch.optim.{optimizer}")
        assert "How strongly each step draws parameters towards 0." in taken["weight_decay"][0], optimizer
    assert rows("torch.optim.Adam")["eps"][1] == "1e-8"
    loader = rows("torch.utils.data.DataLoader")
    assert (loader["batch_size"][1], loader["shuffle"][1], loader["drop_last"][1]) == ("1", "false", "false")
    assert list(loader)[:3] == ["dataset", "batch_size", "shuffle"]  # PyTorch's order
    assert rows("torch.nn.GRU")["batch_first"] == (
        "true or false. Whether sequences are (batch, time, features) and not (time, batch, features).",
        "false",
    )
    assert rows("torch.nn.LazyConv1d")["padding_mode"][1] == '"zeros"'
    steps = rows("torch.optim.lr_scheduler.LinearLR")
    assert (steps["start_factor"][1], steps["end_factor"][1]) == ("1 / 3", "1")
    # What must be given is an argument by place, what may be left out an option.
    text = (documentation / "reference" / "torch.optim.lr_scheduler.StepLR.html").read_text(encoding="utf-8")
    assert "StepLR(optimizer, step_size, { gamma, last_epoch })" in re.sub(r"<[^>]*>", "", text)


def test_every_parameter_says_what_it_is_by_default_or_that_it_must_be_given(documentation):
    """But for those of which a call gives any number, among them sizes one by one."""
    any_number = {
        "Tensor.expand: size",
        "Tensor.index: specs",
        "Tensor.repeat: repeats",
        "Tensor.resize_: size",
        "Tensor.sum_to_size: size",
        "Tensor.view: size",
        "torch.Size: sizes",
        "torch.utils._pytree.tree_map: rests",
        "torch.Tensor: shape",
        "torch.atleast_1d: tensors",
        "torch.atleast_2d: tensors",
        "torch.atleast_3d: tensors",
        "torch.broadcast_shapes: shapes",
        "torch.chain_matmul: matrices",
        "torch.einsum: more",
        "torch.einsum: operands",
        "torch.func.linearize: primals",
        "torch.func.vjp: primals",
        "torch.nn.attention.flex_attention.and_masks: mask_mods",
        "torch.nn.attention.flex_attention.or_masks: mask_mods",
        "torch.nn.utils.prune.PruningContainer: methods",
        "torch.testing.make_tensor: shape",
        "torch.utils.data.TensorDataset: tensors",
    }
    found, cells = set(), 0
    for page in sorted((documentation / "reference").glob("*.html")):
        rows = re.findall(
            r'<tr><th scope="row"><code>(.*?)</code></th><td>.*?</td>\s*<td>(.*?)</td></tr>',
            page.read_text(encoding="utf-8"),
            re.S,
        )
        cells += len(rows)
        for parameter, default in rows:
            assert default, f"{page.stem}: {parameter}"
            if default == "any number":
                found.add(f"{page.stem}: {parameter}")
    assert cells > 4000
    assert found == any_number
