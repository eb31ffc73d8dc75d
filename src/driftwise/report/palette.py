"""The colours of all figures, and Matplotlib settings for figures of one's own that look like them."""

from __future__ import annotations

__all__ = ["COLOURS", "DARK_COLOURS", "DARK_GREY", "GREY", "STYLE"]

# Okabe and Ito's palette, which most colour-blind readers can distinguish.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
# The same hues, lighter, for a dark background.
DARK_COLOURS = ("#3D97DB", "#EF7B32", "#1FBF92", "#DE9CC0", "#F2B435", "#94D5FA", "#E8E8E8")
# Baselines are grey.
GREY, DARK_GREY = "#6E7781", "#9BA3AD"
# For `matplotlib.rc_context`.
STYLE = {
    "axes.grid": True,
    "axes.prop_cycle": f"cycler('color', {list(COLOURS)})",
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlesize": "medium",
    "figure.constrained_layout.use": True,
    "figure.figsize": (7.0, 3.5),
    "grid.alpha": 0.25,
    "grid.linewidth": 0.6,
    "legend.frameon": False,
    "lines.linewidth": 1.8,
    "savefig.dpi": 170,
}
