"""Run rules of opera on forecasts and truths from a file; `opera_weights.py` starts this program.

Arguments: an .npz file with forecasts and truths, the name of the rule, how to mark missing forecasts ("nan": leave
NaN; "awake": NaN and a coefficient 0; "zero": 0 and a coefficient 0), the file for the weights. It prints the seconds.
"""

from __future__ import annotations

import sys
import time

import numpy as np
import pandas as pd
from opera import Mixture


def main(source: str, rule: str, missing: str, out: str) -> None:
    with np.load(source) as data:
        forecasts, truths = data["forecasts"], data["truths"]
    awake = np.where(np.isnan(forecasts), 0.0, 1.0)
    experts = pd.DataFrame(np.nan_to_num(forecasts) if missing == "zero" else forecasts)
    began = time.process_time()
    mixture = Mixture(truths, experts, None if missing == "nan" else awake, model=rule, loss_type="mse")
    taken = time.process_time() - began
    np.save(out, mixture.weights)
    print(taken)


if __name__ == "__main__":
    main(*sys.argv[1:])
