"""The estimators: a graph and a few labels or values → all of them."""

from isotherm.classifier.classify import DirichletClassifier
from isotherm.classifier.multilabel import MultiLabelDirichletClassifier
from isotherm.classifier.regress import DirichletRegressor

__all__ = ["DirichletClassifier", "DirichletRegressor", "MultiLabelDirichletClassifier"]
