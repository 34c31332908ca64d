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


def _listed(types: str) -> frozenset[str]:
    """Return the full names in a list such as "module: Class Class; module: Class"."""
    entries = (entry.split(":") for entry in types.split(";"))
    return frozenset(
        f"sklearn.{module.strip()}.{name}"
        for module, names in entries
        for name in names.split()
    )


# Scores are X @ coef_ + intercept_, whatever was learnt: NumPy, or SciPy for a sparse
# coef_, whose indices are checked when it is read. A link or a threshold follows, in
# NumPy too. LinearSVC and SGD differ from the others in `fit` alone.
_LINEAR = _listed(
    """
    linear_model._base: LinearRegression;
    linear_model._bayes: ARDRegression BayesianRidge;
    linear_model._coordinate_descent: ElasticNet ElasticNetCV Lasso LassoCV
        MultiTaskElasticNet MultiTaskElasticNetCV MultiTaskLasso MultiTaskLassoCV;
    linear_model._glm.glm: GammaRegressor PoissonRegressor TweedieRegressor;
    linear_model._huber: HuberRegressor;
    linear_model._least_angle: Lars LarsCV LassoLars LassoLarsCV LassoLarsIC;
    linear_model._logistic: LogisticRegression LogisticRegressionCV;
    linear_model._omp: OrthogonalMatchingPursuit OrthogonalMatchingPursuitCV;
    linear_model._passive_aggressive: PassiveAggressiveClassifier
        PassiveAggressiveRegressor;
    linear_model._perceptron: Perceptron; linear_model._quantile: QuantileRegressor;
    linear_model._ransac: RANSACRegressor;
    linear_model._ridge: Ridge RidgeCV RidgeClassifier RidgeClassifierCV;
    linear_model._stochastic_gradient: SGDClassifier SGDOneClassSVM SGDRegressor;
    linear_model._theil_sen: TheilSenRegressor; svm._classes: LinearSVC LinearSVR
    """
)
# Sums, products, exponentials and lookups of NumPy, and linear algebra of SciPy, which
# both check shapes and indices. Kernels and distances to stored points go through
# check_pairwise_arrays, which compares the numbers of features. IsotonicRegression
# makes its interpolation anew from its thresholds.
_NUMPY = _listed(
    """
    calibration: _CalibratedClassifier _SigmoidCalibration;
    covariance._elliptic_envelope: EllipticEnvelope;
    covariance._empirical_covariance: EmpiricalCovariance;
    covariance._graph_lasso: GraphicalLasso GraphicalLassoCV;
    covariance._robust_covariance: MinCovDet;
    covariance._shrunk_covariance: LedoitWolf OAS ShrunkCovariance;
    cross_decomposition._pls: CCA PLSCanonical PLSRegression PLSSVD;
    decomposition._factor_analysis: FactorAnalysis; decomposition._fastica: FastICA;
    decomposition._incremental_pca: IncrementalPCA; decomposition._kernel_pca:
        KernelPCA;
    decomposition._pca: PCA; decomposition._sparse_pca: MiniBatchSparsePCA SparsePCA;
    decomposition._truncated_svd: TruncatedSVD;
    discriminant_analysis: LinearDiscriminantAnalysis QuadraticDiscriminantAnalysis;
    dummy: DummyClassifier DummyRegressor; feature_extraction.text: TfidfTransformer;
    feature_selection._from_model: SelectFromModel; feature_selection._rfe: RFE RFECV;
    feature_selection._sequential: SequentialFeatureSelector;
    feature_selection._variance_threshold: VarianceThreshold;
    impute._base: MissingIndicator SimpleImputer;
    impute._iterative: IterativeImputer _ImputerTriplet; impute._knn: KNNImputer;
    isotonic: IsotonicRegression;
    kernel_approximation: AdditiveChi2Sampler Nystroem PolynomialCountSketch RBFSampler
        SkewedChi2Sampler;
    kernel_ridge: KernelRidge; mixture._bayesian_mixture: BayesianGaussianMixture;
    mixture._gaussian_mixture: GaussianMixture;
    naive_bayes: BernoulliNB CategoricalNB ComplementNB GaussianNB MultinomialNB;
    neighbors._nca: NeighborhoodComponentsAnalysis;
    neighbors._nearest_centroid: NearestCentroid;
    neural_network._multilayer_perceptron: MLPClassifier MLPRegressor;
    neural_network._rbm: BernoulliRBM;
    neural_network._stochastic_optimizers: AdamOptimizer SGDOptimizer;
    preprocessing._data: Binarizer KernelCenterer MaxAbsScaler MinMaxScaler Normalizer
        PowerTransformer QuantileTransformer RobustScaler StandardScaler;
    preprocessing._discretization: KBinsDiscretizer;
    preprocessing._encoders: OrdinalEncoder;
    preprocessing._label: LabelBinarizer LabelEncoder;
    preprocessing._polynomial: PolynomialFeatures;
    preprocessing._target_encoder: TargetEncoder;
    random_projection: GaussianRandomProjection SparseRandomProjection
    """
)
# They call estimators that they hold, each of which is checked for itself, and put the
# results together in NumPy. Forests and boosting do so with trees, which are not here.
# The function of a FunctionTransformer is one of those in
# :mod:`pairlearn.files.trusted_types`.
_HOLDERS = _listed(
    """
    calibration: CalibratedClassifierCV;
    compose._column_transformer: ColumnTransformer _RemainderColsList
        make_column_selector;
    compose._target: TransformedTargetRegressor;
    ensemble._bagging: BaggingClassifier BaggingRegressor;
    ensemble._forest: ExtraTreesClassifier ExtraTreesRegressor RandomForestClassifier
        RandomForestRegressor RandomTreesEmbedding;
    ensemble._gb: GradientBoostingClassifier GradientBoostingRegressor;
    ensemble._iforest: IsolationForest;
    ensemble._stacking: StackingClassifier StackingRegressor;
    ensemble._voting: VotingClassifier VotingRegressor;
    ensemble._weight_boosting: AdaBoostClassifier AdaBoostRegressor;
    frozen._frozen: FrozenEstimator;
    model_selection._classification_threshold: FixedThresholdClassifier;
    model_selection._search: GridSearchCV RandomizedSearchCV;
    multiclass: OneVsOneClassifier OutputCodeClassifier _ConstantPredictor;
    multioutput: ClassifierChain MultiOutputClassifier MultiOutputRegressor
        RegressorChain;
    pipeline: FeatureUnion Pipeline;
    preprocessing._function_transformer: FunctionTransformer;
    semi_supervised._self_training: SelfTrainingClassifier;
    tree._classes: DecisionTreeClassifier DecisionTreeRegressor ExtraTreeClassifier
        ExtraTreeRegressor
    """
)
# They only hold what they found, or settings: nothing is computed for new points, or
# (AffinityPropagation, MeanShift) as for kernels above. Losses and links of generalised
# linear models are in Cython, with arguments that are numbers; arrays come with the
# call, and have the length of the data. The loss of several classes is not here: it
# takes the data for indices.
_SETTINGS = _listed(
    """
    _loss._loss: CyAbsoluteError CyExponentialLoss CyHalfBinomialLoss CyHalfGammaLoss
        CyHalfPoissonLoss CyHalfSquaredError CyHalfTweedieLoss CyHalfTweedieLossIdentity
        CyHuberLoss CyPinballLoss;
    _loss.link: HalfLogitLink IdentityLink Interval LogLink LogitLink;
    _loss.loss: AbsoluteError ExponentialLoss HalfBinomialLoss HalfGammaLoss
        HalfPoissonLoss HalfSquaredError HalfTweedieLoss HalfTweedieLossIdentity
        HuberLoss PinballLoss;
    cluster._affinity_propagation: AffinityPropagation;
    cluster._agglomerative: AgglomerativeClustering;
    cluster._bicluster: SpectralBiclustering SpectralCoclustering;
    cluster._dbscan: DBSCAN; cluster._mean_shift: MeanShift; cluster._optics: OPTICS;
    cluster._spectral: SpectralClustering;
    linear_model._sgd_fast: EpsilonInsensitive Hinge ModifiedHuber
        SquaredEpsilonInsensitive SquaredHinge;
    manifold._mds: MDS; manifold._spectral_embedding: SpectralEmbedding;
    manifold._t_sne: TSNE; metrics._scorer: _PassthroughScorer;
    model_selection._split: GroupKFold KFold RepeatedKFold RepeatedStratifiedKFold
        ShuffleSplit StratifiedKFold StratifiedShuffleSplit;
    utils._bunch: Bunch; utils._metadata_requests: MetadataRequest MethodMetadataRequest
    """
)
# Compiled code that checks its arrays, or is given arrays that are checked before:
# coordinate descent with the shapes of one matrix of components, topics whose numbers
# are all taken from one array.
_COMPILED = _listed(
    """
    decomposition._dict_learning: DictionaryLearning MiniBatchDictionaryLearning
        SparseCoder;
    decomposition._lda: LatentDirichletAllocation; decomposition._nmf: MiniBatchNMF NMF
    """
)
# Compiled code that believes its arrays. They are checked by
# :mod:`pairlearn.files.consistency`.
_CHECKED = _listed(
    """
    cluster._kmeans: KMeans MiniBatchKMeans;
    feature_extraction._dict_vectorizer: DictVectorizer;
    feature_extraction._hash: FeatureHasher;
    feature_extraction.text: CountVectorizer HashingVectorizer TfidfVectorizer;
    preprocessing._encoders: OneHotEncoder;
    svm._classes: NuSVC NuSVR OneClassSVM SVC SVR
    """
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
    name: why
    for why, types in {
        _ROWS: "multiclass: OneVsRestClassifier",
        _TREES: """
        ensemble._hist_gradient_boosting.binning: _BinMapper;
        ensemble._hist_gradient_boosting.gradient_boosting:
            HistGradientBoostingClassifier HistGradientBoostingRegressor;
        ensemble._hist_gradient_boosting.predictor: TreePredictor; tree._tree: Tree
        """,
        _NEIGHBOURS: """
        cluster._hdbscan.hdbscan: HDBSCAN; manifold._isomap: Isomap;
        manifold._locally_linear: LocallyLinearEmbedding;
        neighbors._ball_tree: BallTree;
        neighbors._classification: KNeighborsClassifier RadiusNeighborsClassifier;
        neighbors._graph: KNeighborsTransformer RadiusNeighborsTransformer;
        neighbors._kd_tree: KDTree; neighbors._kde: KernelDensity;
        neighbors._lof: LocalOutlierFactor;
        neighbors._regression: KNeighborsRegressor RadiusNeighborsRegressor;
        neighbors._unsupervised: NearestNeighbors;
        semi_supervised._label_propagation: LabelPropagation LabelSpreading
        """,
    }.items()
    for name in _listed(types)
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
