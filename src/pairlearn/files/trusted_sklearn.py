"""The types of scikit-learn that a model file may hold, and why each is safe.

A forged file chooses every number in an object. NumPy looks at the numbers that it is
given; compiled code of scikit-learn often does not. So a type is listed here only after
a look at what its methods for new points do with its attributes: `predict`,
`predict_proba`, `decision_function`, `transform`, `inverse_transform`, `score`. What is
missing, such as all that a later scikit-learn brings, is refused unless the user trusts
it. `tests/fuzz/forged.py` tries to prove this list wrong.

Learning calls compiled code in almost every estimator. `fit` begins anew, from the data
it is given; about `partial_fit` and `warm_start` of a forged model nothing is said.
"""

from __future__ import annotations

__all__ = ["REVIEWED", "why_not"]


def _of(home: str, names: str) -> frozenset[str]:
    return frozenset(f"sklearn.{home}{name}" for name in names.split())


# Scores are X @ coef_ + intercept_, whatever was learnt: NumPy, or SciPy for a sparse
# coef_, whose indices are checked when it is read. A link or a threshold follows, in
# NumPy too. LinearSVC and SGD differ from the others in `fit` alone.
_LINEAR = _of(
    "linear_model._",
    "base.LinearRegression bayes.ARDRegression bayes.BayesianRidge "
    "coordinate_descent.ElasticNet coordinate_descent.ElasticNetCV "
    "coordinate_descent.Lasso coordinate_descent.LassoCV "
    "coordinate_descent.MultiTaskElasticNet coordinate_descent.MultiTaskElasticNetCV "
    "coordinate_descent.MultiTaskLasso coordinate_descent.MultiTaskLassoCV "
    "glm.glm.GammaRegressor glm.glm.PoissonRegressor glm.glm.TweedieRegressor "
    "huber.HuberRegressor least_angle.Lars least_angle.LarsCV least_angle.LassoLars "
    "least_angle.LassoLarsCV least_angle.LassoLarsIC logistic.LogisticRegression "
    "logistic.LogisticRegressionCV omp.OrthogonalMatchingPursuit "
    "omp.OrthogonalMatchingPursuitCV passive_aggressive.PassiveAggressiveClassifier "
    "passive_aggressive.PassiveAggressiveRegressor perceptron.Perceptron "
    "quantile.QuantileRegressor ransac.RANSACRegressor ridge.Ridge ridge.RidgeCV "
    "ridge.RidgeClassifier ridge.RidgeClassifierCV stochastic_gradient.SGDClassifier "
    "stochastic_gradient.SGDOneClassSVM stochastic_gradient.SGDRegressor "
    "theil_sen.TheilSenRegressor",
) | _of("svm._classes.", "LinearSVC LinearSVR")
# Sums, products, exponentials and lookups of NumPy, and linear algebra of SciPy, which
# both check shapes and indices. Kernels and distances to stored points go through
# check_pairwise_arrays, which compares the numbers of features.
_NUMPY = (
    _of("", "kernel_ridge.KernelRidge dummy.DummyClassifier dummy.DummyRegressor")
    | _of("calibration.", "_CalibratedClassifier _SigmoidCalibration")
    | _of("covariance._", "elliptic_envelope.EllipticEnvelope")
    | _of("covariance._", "empirical_covariance.EmpiricalCovariance")
    | _of("covariance._", "graph_lasso.GraphicalLasso graph_lasso.GraphicalLassoCV")
    | _of("covariance._", "robust_covariance.MinCovDet")
    | _of("covariance._shrunk_covariance.", "LedoitWolf OAS ShrunkCovariance")
    | _of("cross_decomposition._pls.", "CCA PLSCanonical PLSRegression PLSSVD")
    | _of(
        "decomposition._",
        "factor_analysis.FactorAnalysis fastica.FastICA incremental_pca.IncrementalPCA "
        "kernel_pca.KernelPCA pca.PCA sparse_pca.MiniBatchSparsePCA "
        "sparse_pca.SparsePCA truncated_svd.TruncatedSVD",
    )
    | _of(
        "discriminant_analysis.",
        "LinearDiscriminantAnalysis QuadraticDiscriminantAnalysis",
    )
    | _of(
        "feature_selection._",
        "from_model.SelectFromModel rfe.RFE rfe.RFECV "
        "sequential.SequentialFeatureSelector "
        "variance_threshold.VarianceThreshold",
    )
    # IsotonicRegression makes its interpolation anew from its thresholds.
    | _of("isotonic.", "IsotonicRegression")
    | _of(
        "impute._",
        "base.MissingIndicator base.SimpleImputer iterative.IterativeImputer "
        "iterative._ImputerTriplet knn.KNNImputer",
    )
    | _of(
        "kernel_approximation.",
        "AdditiveChi2Sampler Nystroem PolynomialCountSketch RBFSampler "
        "SkewedChi2Sampler",
    )
    | _of("mixture._", "bayesian_mixture.BayesianGaussianMixture")
    | _of("mixture._", "gaussian_mixture.GaussianMixture")
    | _of(
        "naive_bayes.",
        "BernoulliNB CategoricalNB ComplementNB GaussianNB MultinomialNB",
    )
    | _of("neighbors._nearest_centroid.", "NearestCentroid")
    | _of("neighbors._nca.", "NeighborhoodComponentsAnalysis")
    | _of(
        "neural_network._",
        "multilayer_perceptron.MLPClassifier multilayer_perceptron.MLPRegressor "
        "rbm.BernoulliRBM stochastic_optimizers.AdamOptimizer "
        "stochastic_optimizers.SGDOptimizer",
    )
    | _of(
        "preprocessing._",
        "data.Binarizer data.KernelCenterer data.MaxAbsScaler data.MinMaxScaler "
        "data.Normalizer data.PowerTransformer data.QuantileTransformer "
        "data.RobustScaler data.StandardScaler discretization.KBinsDiscretizer "
        "encoders.OrdinalEncoder label.LabelBinarizer label.LabelEncoder "
        "polynomial.PolynomialFeatures target_encoder.TargetEncoder",
    )
    | _of("random_projection.", "GaussianRandomProjection SparseRandomProjection")
    | _of("feature_extraction.text.", "TfidfTransformer")
)
# They call estimators that they hold, each of which is checked for itself, and put the
# results together in NumPy. Forests and boosting do so with trees, which are not here.
_HOLDERS = (
    _of("calibration.", "CalibratedClassifierCV")
    | _of("compose._", "column_transformer.ColumnTransformer")
    | _of("compose._", "column_transformer._RemainderColsList")
    | _of("compose._", "column_transformer.make_column_selector")
    | _of("compose._", "target.TransformedTargetRegressor")
    | _of(
        "ensemble._",
        "bagging.BaggingClassifier bagging.BaggingRegressor "
        "forest.ExtraTreesClassifier forest.ExtraTreesRegressor "
        "forest.RandomForestClassifier forest.RandomForestRegressor "
        "forest.RandomTreesEmbedding gb.GradientBoostingClassifier "
        "gb.GradientBoostingRegressor iforest.IsolationForest "
        "stacking.StackingClassifier stacking.StackingRegressor "
        "voting.VotingClassifier voting.VotingRegressor "
        "weight_boosting.AdaBoostClassifier weight_boosting.AdaBoostRegressor",
    )
    | _of("frozen._frozen.", "FrozenEstimator")
    | _of(
        "model_selection._",
        "classification_threshold.FixedThresholdClassifier search.GridSearchCV "
        "search.RandomizedSearchCV",
    )
    | _of("multiclass.", "OneVsOneClassifier OutputCodeClassifier _ConstantPredictor")
    | _of(
        "multioutput.",
        "ClassifierChain MultiOutputClassifier MultiOutputRegressor RegressorChain",
    )
    | _of("pipeline.", "FeatureUnion Pipeline")
    # Its function is one of those in :mod:`pairlearn.files.trusted_types`.
    | _of("preprocessing._", "function_transformer.FunctionTransformer")
    | _of("semi_supervised._", "self_training.SelfTrainingClassifier")
    | _of(
        "tree._classes.",
        "DecisionTreeClassifier DecisionTreeRegressor ExtraTreeClassifier "
        "ExtraTreeRegressor",
    )
)
# They only hold what they found, or settings: nothing is computed for new points, or
# (AffinityPropagation, MeanShift) as for kernels above.
_SETTINGS = (
    _of("cluster._", "affinity_propagation.AffinityPropagation dbscan.DBSCAN")
    | _of("cluster._", "mean_shift.MeanShift spectral.SpectralClustering")
    | _of("cluster._", "agglomerative.AgglomerativeClustering optics.OPTICS")
    | _of("cluster._bicluster.", "SpectralBiclustering SpectralCoclustering")
    | _of("manifold._", "mds.MDS t_sne.TSNE spectral_embedding.SpectralEmbedding")
    | _of("metrics._scorer.", "_PassthroughScorer")
    | _of(
        "model_selection._split.",
        "GroupKFold KFold RepeatedKFold RepeatedStratifiedKFold ShuffleSplit "
        "StratifiedKFold StratifiedShuffleSplit",
    )
    | _of("utils._bunch.", "Bunch")
    | _of("utils._metadata_requests.", "MetadataRequest MethodMetadataRequest")
    # Losses and links of generalised linear models. In Cython, with arguments that are
    # numbers; arrays come with the call, and have the length of the data. The loss of
    # several classes is not here: it takes the data for indices.
    | _of("_loss.link.", "HalfLogitLink IdentityLink Interval LogLink LogitLink")
    | _of(
        "_loss.loss.",
        "AbsoluteError ExponentialLoss HalfBinomialLoss HalfGammaLoss HalfPoissonLoss "
        "HalfSquaredError HalfTweedieLoss HalfTweedieLossIdentity HuberLoss "
        "PinballLoss",
    )
    | _of(
        "_loss._loss.",
        "CyAbsoluteError CyExponentialLoss CyHalfBinomialLoss CyHalfGammaLoss "
        "CyHalfPoissonLoss CyHalfSquaredError CyHalfTweedieLoss "
        "CyHalfTweedieLossIdentity CyHuberLoss CyPinballLoss",
    )
    | _of(
        "linear_model._sgd_fast.",
        "EpsilonInsensitive Hinge ModifiedHuber SquaredEpsilonInsensitive SquaredHinge",
    )
)
# Compiled code that checks its arrays, or is given arrays that are checked before:
# coordinate descent with the shapes of one matrix of components, topics whose numbers
# are all taken from one array.
_COMPILED = _of(
    "decomposition._",
    "dict_learning.DictionaryLearning dict_learning.MiniBatchDictionaryLearning "
    "dict_learning.SparseCoder lda.LatentDirichletAllocation nmf.MiniBatchNMF nmf.NMF",
)
# Compiled code that believes its arrays. They are checked by
# :mod:`pairlearn.files.consistency`.
_CHECKED = (
    _of("cluster._kmeans.", "KMeans MiniBatchKMeans")
    | _of("feature_extraction.", "_dict_vectorizer.DictVectorizer _hash.FeatureHasher")
    | _of(
        "feature_extraction.text.", "CountVectorizer HashingVectorizer TfidfVectorizer"
    )
    | _of("preprocessing._encoders.", "OneHotEncoder")
    | _of("svm._classes.", "NuSVC NuSVR OneClassSVM SVC SVR")
)
REVIEWED: frozenset[str] = (
    _LINEAR | _NUMPY | _HOLDERS | _SETTINGS | _COMPILED | _CHECKED
)
# Why some are not above: for the error. Others hold a function, which cannot be saved,
# or are of no use for new points.
_TREES = "scikit-learn does not check the numbers in a tree"
_NEIGHBOURS = "scikit-learn does not check the numbers in a search tree, nor the labels"
_ROWS = "scikit-learn does not check that all of its parts answer for as many points"
_WHY_NOT: dict[str, str] = {
    "sklearn.multiclass.OneVsRestClassifier": _ROWS,
    "sklearn.tree._tree.Tree": _TREES,
    "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor": _TREES,
    "sklearn.ensemble._hist_gradient_boosting.binning._BinMapper": _TREES,
    **dict.fromkeys(
        _of(
            "ensemble._hist_gradient_boosting.gradient_boosting.",
            "HistGradientBoostingClassifier HistGradientBoostingRegressor",
        ),
        _TREES,
    ),
    **dict.fromkeys(
        _of(
            "neighbors._",
            "ball_tree.BallTree classification.KNeighborsClassifier "
            "classification.RadiusNeighborsClassifier graph.KNeighborsTransformer "
            "graph.RadiusNeighborsTransformer kd_tree.KDTree kde.KernelDensity "
            "lof.LocalOutlierFactor regression.KNeighborsRegressor "
            "regression.RadiusNeighborsRegressor unsupervised.NearestNeighbors",
        )
        | _of("manifold._", "isomap.Isomap locally_linear.LocallyLinearEmbedding")
        | _of("cluster._hdbscan.hdbscan.", "HDBSCAN")
        | _of("semi_supervised._label_propagation.", "LabelPropagation LabelSpreading"),
        _NEIGHBOURS,
    ),
}


def why_not(name: str) -> str:
    """Return why a type is not vouched for, or an empty text.

    Parameters
    ----------
    name : str
        The full name of the type.

    Returns
    -------
    str
    """
    # A distance is a part of each search tree, one for each measure.
    is_distance = name.startswith("sklearn.metrics._dist_metrics.")
    return _NEIGHBOURS if is_distance else _WHY_NOT.get(name, "")
