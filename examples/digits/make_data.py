"""Writes digits.bin from scikit-learn's copy of the handwritten digits (needs scikit-learn; run once).

1,797 rows of 65 bytes: an 8x8 image row by row, 0 (paper) to 16 (ink), then the digit 0 to 9.
Source: E. Alpaydin, C. Kaynak, "Optical Recognition of Handwritten Digits", UCI, test part (CC BY 4.0)."""

from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits

digits = load_digits()
rows = np.concatenate([digits.data, digits.target[:, None]], axis=1).astype(np.uint8)
assert rows.shape == (1797, 65) and rows[:, :64].max() == 16
Path(__file__).with_name("digits.bin").write_bytes(rows.tobytes())
