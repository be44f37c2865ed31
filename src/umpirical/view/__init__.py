"""Studies, runs and trials in the browser, read and never changed; and a gallery of datasheets to publish."""
