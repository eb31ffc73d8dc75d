"""Tables of forecasts in files: reading them in blocks of rows, running mixtures over them, writing the results.

CSV, Parquet and JSON lines are read and written with Arrow; importing this package without it raises
`MissingDependency`.
"""

from driftwise.core.errors import MissingDependency

try:
    import pyarrow  # noqa: F401
except ImportError:
    raise MissingDependency("Reading and writing tables of forecasts", "pyarrow", "files") from None
