"""scikit-learn's part in the estimators: its base class, and what it is told of them."""

from __future__ import annotations

from typing import Any

from sklearn.base import BaseEstimator


class Estimator(BaseEstimator):
    """Base of the estimators, after all others and the mixins of scikit-learn."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # What is fitted is a matrix of weights between samples: cross-validation must cut
        # both its rows and its columns.
        tags.input_tags.pairwise = True
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True  # heat does not flow through negative weights
        return tags

    # scikit-learn looks at every attribute to list their names, or to show the estimator in a
    # notebook. Some take seeds left out to find: to look must not start that.

    def __dir__(self) -> list[str]:
        return list(object.__dir__(self))

    def _get_fitted_attr_html(self, doc_link: str = "") -> Any:
        """What a notebook shows of a fitted estimator: the attributes that are there already."""
        stored = BaseEstimator()
        vars(stored).update(vars(self))
        return BaseEstimator._get_fitted_attr_html(stored, doc_link)
