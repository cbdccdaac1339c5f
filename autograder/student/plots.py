"""One look for every plot of the course."""

from __future__ import annotations

from autograder.student import session

# After Okabe and Ito, told apart by readers with any colour vision; the light ones are darkened until every line has
# 3:1 against the paper, and yellow is left out.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#A8527F", "#000000", "#8C6A00", "#3A8FC4")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
PAPER, INK, SOFT, GRID = "#fcfcfb", "#1a1f26", "#56606b", "#dfe3e7"


def plot_style() -> None:
    """Set matplotlib to the course's style: figures on their own paper, readable in light and dark themes.

    Lines differ in colour, dash and marker at once, so that no plot is told by colour alone.
    """
    if session.quiet():
        return
    import matplotlib
    from cycler import cycler

    dashes = ("-", "--", "-.", ":", "-", "--", "-.")
    matplotlib.rcParams.update(
        {
            "figure.figsize": (6.4, 3.8),
            "figure.dpi": 110,
            "figure.facecolor": PAPER,
            "figure.constrained_layout.use": True,
            "savefig.facecolor": PAPER,
            "savefig.dpi": 200,
            "axes.facecolor": PAPER,
            "axes.edgecolor": SOFT,
            "axes.labelcolor": INK,
            "axes.titlecolor": INK,
            "axes.titlelocation": "left",
            "axes.titlesize": 12,
            "axes.titleweight": "bold",
            "axes.titlepad": 10,
            "axes.labelsize": 11,
            "axes.spines.top": False,
            "axes.spines.right": False,
            "axes.grid": True,
            "axes.axisbelow": True,
            "axes.prop_cycle": cycler(color=COLOURS) + cycler(linestyle=dashes) + cycler(marker=MARKERS),
            "grid.color": GRID,
            "grid.linewidth": 0.8,
            "lines.linewidth": 1.9,
            "lines.markersize": 5,
            "xtick.color": SOFT,
            "ytick.color": SOFT,
            "xtick.labelcolor": INK,
            "ytick.labelcolor": INK,
            "xtick.labelsize": 10,
            "ytick.labelsize": 10,
            "legend.frameon": False,
            "legend.fontsize": 10,
            "font.size": 11,
            "image.cmap": "cividis",
        }
    )
    try:
        from matplotlib_inline.backend_inline import set_matplotlib_formats
    except ImportError:
        return
    try:
        set_matplotlib_formats("retina")
    except Exception:  # outside IPython there is no display to sharpen
        return
