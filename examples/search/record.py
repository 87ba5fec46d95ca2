"""Writes answers.json beside itself: what sentence-transformers makes of some sentences with the same weights.

In an environment of its own: pip install sentence-transformers, then python record.py (minilm/ is there after
`python3 build.py serve`, or a test that needs it)."""

import json
import tempfile
from pathlib import Path

from safetensors.torch import load_file
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer import modules as models
from transformers import BertConfig, BertModel, BertTokenizerFast

HERE = Path(__file__).parent
SENTENCES = [
    "The hotel keeps a room ready for guests who arrive after midnight.",
    "Somewhere to sleep.",
    "Ünïcode, naïve café — and 3.14 numbers!",
    "东京 is a city; so is Москва.",
    "unaffable antidisestablishmentarianism",
    " ".join(["A sentence that is much longer than a sentence should be, for it goes on."] * 20),
]

# The architecture is transformers' BertModel with the sizes of all-MiniLM-L6-v2's config.json.
config = BertConfig(hidden_size=384, num_hidden_layers=6, intermediate_size=1536)
bert = BertModel(config)
bert.load_state_dict(load_file(HERE / "minilm" / "model.safetensors"), strict=False)
tokenizer = BertTokenizerFast(tokenizer_file=str(HERE / "minilm" / "tokenizer.json"))
with tempfile.TemporaryDirectory() as folder:
    bert.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    word = models.Transformer(folder, max_seq_length=256)
    model = SentenceTransformer(
        modules=[word, models.Pooling(384, pooling_mode="mean"), models.Normalize()], device="cpu"
    )
embedded = model.encode(SENTENCES, batch_size=len(SENTENCES))
tokens = [tokenizer(s, truncation=True, max_length=256)["input_ids"] for s in SENTENCES]
answers = {
    "sentences": SENTENCES,
    "tokens": tokens,
    "embedded": [[round(float(x), 7) for x in row] for row in embedded],
}
(HERE / "answers.json").write_text(json.dumps(answers, ensure_ascii=False) + "\n", encoding="utf-8")
