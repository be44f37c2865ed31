"""Runs in the environment of the oracles: reads questions as JSON, and prints what the packages answer."""

import json
import sys
import warnings


def krippendorff_alphas(tables, metrics):
    import krippendorff
    import numpy as np

    def alpha(table, metric):
        return float(krippendorff.alpha(reliability_data=np.array(table, float), level_of_measurement=metric))

    return [[alpha(table, metric) for metric in metrics] for table in tables]


def bradley_terry(wins):
    import choix
    import numpy as np

    return [choix.ilsr_pairwise_dense(np.array(table, float)).tolist() for table in wins]


def prediction_powered(samples):
    import numpy as np
    from ppi_py import ppi_mean_ci, ppi_mean_pointestimate

    found = []
    for sample in samples:
        labels, judged, others = (np.array(each, float) for each in sample)
        low, high = ppi_mean_ci(labels, judged, others, alpha=0.05)
        value = ppi_mean_pointestimate(labels, judged, others)
        found.append([float(np.ravel(each)[0]) for each in (value, low, high)])
    return found


def dawid_skene(tables):
    import pandas as pd
    from crowdkit.aggregation import DawidSkene

    found = []
    for table in tables:
        rows = [(task, worker, label) for task, votes in enumerate(table) for worker, label in enumerate(votes)]
        frame = pd.DataFrame(rows, columns=["task", "worker", "label"])
        model = DawidSkene(n_iter=200, tol=1e-8).fit(frame[frame["label"] >= 0])
        labels = [int(label) for label in model.labels_.sort_index()]
        errors = model.errors_.stack().reset_index().to_numpy().tolist()
        found.append({"labels": labels, "errors": errors})
    return found


def yaml_values(texts):
    from ruamel.yaml import YAML

    found = []
    for text in texts:
        try:
            found.append(["read", repr(YAML(typ="safe", pure=True).load(text))])
        except Exception as error:  # noqa: BLE001  # whatever it raises is a refusal
            found.append(["refused", type(error).__name__])
    return found


QUESTIONS = (krippendorff_alphas, bradley_terry, prediction_powered, dawid_skene, yaml_values)

if __name__ == "__main__":
    warnings.simplefilter("ignore")
    [answer] = [each for each in QUESTIONS if each.__name__ == sys.argv[1]]
    sys.stdout.write("\n" + json.dumps(answer(*json.load(sys.stdin))))
