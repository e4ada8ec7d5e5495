import numpy as np
import pytest

from paper import block_model


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.fixture
def small_blocks(monkeypatch):
    """Figures 2 and 3 on graphs of a size for tests."""
    monkeypatch.setattr(block_model, "N_NODES", 200)
    monkeypatch.setattr(block_model, "P", 0.2)
    monkeypatch.setattr(block_model, "Q", 0.02)
    monkeypatch.setattr(block_model, "RATIOS", range(1, 3))
