"""Frameworks that send reports of their use to their makers: switched off while a judge is measured.

A judge's prompts are the user's, and so is the fact that they are measured. Each variable was found by running the
framework with every other connection refused; it must be set before the framework is imported, or at least before its
first call.
"""

import os

QUIET = {
    "DEEPEVAL_TELEMETRY_OPT_OUT": "1",
    "DO_NOT_TRACK": "1",
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "MLFLOW_MODEL_CATALOG_URI": "",
    "OPIK_ANALYTICS_ENABLE": "false",
    "OPIK_SENTRY_ENABLE": "false",
    "OPIK_TRACK_DISABLE": "true",
    "PROMPTFOO_DISABLE_TELEMETRY": "1",
    "PROMPTFOO_DISABLE_UPDATE": "1",
    "RAGAS_DO_NOT_TRACK": "true",
    "WANDB_ERROR_REPORTING": "false",
    "WEAVE_DISABLED": "true",
}
"""Environment variables that switch telemetry off."""


def silence_telemetry() -> None:
    """Sets them for this process and those that it starts."""
    os.environ.update(QUIET)
