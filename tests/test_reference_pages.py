"""The website's pages of functions and classes show examples, and say what parameters are."""

import re

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
