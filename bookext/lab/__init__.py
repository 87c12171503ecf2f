"""The course in JupyterLab: a learner's own copies of the notebooks, or the chapters themselves."""
