"""Run learners in environments: `simulate` plays many runs, `record` one run, and `Session` a live stream.

`preview` shows a run of an environment without a learner.
"""

from driftwise.engine.run_history import History as History, Preview as Preview, preview as preview, record as record
from driftwise.engine.session import Session as Session
from driftwise.engine.simulation import simulate as simulate
