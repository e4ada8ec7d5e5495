"""scikit-learn's own checks of an estimator pass, but for those that cannot apply to a graph."""

import numpy as np
import pytest
from sklearn.utils.estimator_checks import _enforce_estimator_tags_y, parametrize_with_checks

from isotherm import (
    DirichletClassifier,
    DirichletRegressor,
    Graph,
    GraphError,
    MultiLabelDirichletClassifier,
    StackedDirichletClassifier,
)

NOT_NEAR = (
    "takes the inner products of points for weights: the point farthest from all is then the one "
    "that all are closest to, and rows of the fitted matrix are new nodes, whose own label is not "
    "looked at"
)
ONE_LABEL = {
    "check_classifiers_classes": "calls one of its two classes -1, which stands for unknown",
    "check_classifiers_train": NOT_NEAR,
}
TWO_VALUES = "gives a column of two numbers that are not 0 and 1, which is no indicator"
# Older versions give such a column to more of the checks.
MORE_OF_THEM = (
    "check_dtype_object",
    "check_estimators_fit_returns_self",
    "check_estimators_overwrite_params",
    "check_estimators_pickle",
    "check_fit_check_is_fitted",
    "check_pipeline_consistency",
    "check_readonly_memmap_input",
)
_given = _enforce_estimator_tags_y(MultiLabelDirichletClassifier(), np.array([1, 0])).ravel()
OLDER = dict.fromkeys(MORE_OF_THEM if _given.max() > 1 else (), TWO_VALUES)
ONE_DIMENSION = "gives a label per node, where several are expected"
EXPECTED = {
    DirichletClassifier: ONE_LABEL,
    StackedDirichletClassifier: ONE_LABEL,
    DirichletRegressor: {"check_regressors_train": NOT_NEAR},
    MultiLabelDirichletClassifier: {
        "check_classifier_data_not_an_array": TWO_VALUES,
        "check_classifier_multioutput": "wants labels where they are more probable than not, and a "
        "decision that is centred gives those above their mean",
        "check_classifier_not_supporting_multiclass": ONE_DIMENSION,
        "check_classifiers_classes": ONE_DIMENSION,
        "check_classifiers_multilabel_representation_invariance": "gives lists of 0 and 1, which "
        "may as well be collections of the labels 0 and 1",
        "check_classifiers_one_label": ONE_DIMENSION,
        "check_classifiers_train": "wants a label per node",
        "check_dict_unchanged": TWO_VALUES,
        "check_dont_overwrite_parameters": TWO_VALUES,
        "check_estimator_sparse_array": "wants two probabilities of one label",
        "check_estimator_sparse_matrix": "wants two probabilities of one label",
        "check_estimators_dtypes": TWO_VALUES,
        "check_f_contiguous_array_estimator": TWO_VALUES,
        "check_fit2d_1feature": "gives an indicator of no label at all",
        "check_fit2d_1sample": TWO_VALUES,
        "check_fit2d_predict1d": TWO_VALUES,
        "check_methods_sample_order_invariance": TWO_VALUES,
        "check_methods_subset_invariance": TWO_VALUES,
        **OLDER,
    },
}


@parametrize_with_checks(
    [kind() for kind in EXPECTED], expected_failed_checks=lambda one: EXPECTED[type(one)]
)
def test_scikit_learn_finds_nothing_to_complain_of(estimator, check):
    check(estimator)


# What the checks that a graph of several labels per node cannot have would have looked at.


@pytest.fixture
def several(rng):
    points = rng.random((20, 2))
    weights = points @ points.T
    has = np.column_stack([points[:, 0] > 0.5, points[:, 1] > 0.5]).astype(int)
    has[10:] = -1
    return weights, has, MultiLabelDirichletClassifier().fit(weights, has)


def test_predicting_several_labels_does_not_change_the_attributes(several):
    weights, _, model = several
    before = dict(vars(model))
    model.predict(weights), model.predict_proba(weights)
    assert vars(model) == before


def test_several_labels_of_one_new_node_need_a_row(several):
    weights, _, model = several
    for method in (model.predict, model.predict_proba):
        with pytest.raises(GraphError, match="Reshape your data"):
            method(weights[0])


def test_several_labels_of_new_nodes_do_not_depend_on_which_others_are_asked_for(several):
    weights, _, model = several
    P = model.predict_proba(weights)
    assert model.predict_proba(weights[::-1]) == pytest.approx(P[::-1], rel=0, abs=1e-12)
    assert model.predict_proba(weights[3:5]) == pytest.approx(P[3:5], rel=0, abs=1e-12)


@pytest.mark.parametrize("kind", EXPECTED)
def test_arguments_have_the_names_that_scikit_learn_gives_them(kind):
    y = np.array([[1.0], [0.0]]) if kind is MultiLabelDirichletClassifier else np.array([1.0, 0.0])
    model = kind().fit(X=Graph.from_edges([0], [1]), y=y)
    assert np.isfinite(model.predict(X=[[1, 2]])).all()
