"""Estimated operations of element-wise operators, which multiply no matrices."""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import partial

from tuibench.model.cost.structure import Call, Count, Unknown, Work
from tuibench.model.graph import text

_RESIZE = {"nearest": 0, "linear": 7, "cubic": 31}


def _per_output(each: int, call: Call) -> Work:
    return Work(0, each * call.written())


def _per_input(each: int, call: Call) -> Work:
    return Work(0, each * call.elements())


def _per_pair(call: Call) -> Work:
    """Sum, Max, Mean …: one operation per output element for every input after the first."""
    return Work(0, call.written() * max(sum(t is not None for t in call.inputs) - 1, 1))


def _nothing(call: Call) -> Work:  # noqa: ARG001 - moved, shaped or copied: bytes alone
    return Work()


def _resize(call: Call) -> Work:
    return Work(0, call.written() * _RESIZE.get(call.words("mode", "nearest"), _RESIZE["linear"]))


def _cast(call: Call) -> Work:
    return Work(0, call.written())


def _fourier(call: Call) -> Work:
    """Count 5 n log2 n for a transform of n elements along one axis."""
    data, axis = call.shape(0), call.number("axis", 1)
    inner = data[:-1] if len(data) > 1 and data[-1] in (1, 2) else data
    # Counted from the end, the axis of real and imaginary parts counts as one too.
    length = data[axis] if -len(data) <= axis < len(data) else inner[-1]
    return Work(0, _transform(math.prod(inner) // max(length, 1), length))


def _short_fourier(call: Call) -> Work:
    """Count one transform per frame."""
    out = call.out()
    if len(out) < 3:
        raise Unknown("the output has too few dims")
    window = call.shape(2)[0] if call.has(2) and call.shape(2) else 2 * (out[2] - 1)
    return Work(0, _transform(out[0] * out[1], window))


def _transform(count: int, length: int) -> int:
    return int(count * 5 * length * math.log2(max(length, 2)))


def _varying(call: Call) -> Work:
    raise Unknown(f"how much {text(call.node.op_type)} does depends on the data")


def _roi(call: Call) -> Work:
    ratio = call.number("sampling_ratio")
    if ratio <= 0:
        raise Unknown("how many points it takes depends on the data")
    return Work(0, 8 * ratio * ratio * call.written())


def _linear(call: Call) -> Work:
    """Count rows x coefficients of a linear operator of ai.onnx.ml."""
    data = call.shape(0)
    rows = data[0] if len(data) > 1 else 1
    return Work(rows * call.floats("coefficients"), rows * call.floats("intercepts"))


def _table(count: Count, names: str) -> dict[str, Count]:
    return dict.fromkeys(names.split(), count)


def _merge(tables: Iterable[dict[str, Count]]) -> dict[str, Count]:
    return {name: count for table in tables for name, count in table.items()}


ELEMENT: dict[str, Count] = _merge(
    (
        _table(
            partial(_per_output, 1),
            "Abs Acos Acosh Add And Asin Asinh Atan Atanh Bernoulli BitShift BitwiseAnd BitwiseNot BitwiseOr BitwiseXor"
            " BlackmanWindow Ceil Celu Clip Cos Cosh Div Elu Equal Exp Floor Greater GreaterOrEqual HammingWindow"
            " HannWindow HardSigmoid Hardmax IsInf IsNaN LeakyRelu Less LessOrEqual Log Mod Mul Multinomial Neg Not Or"
            " PRelu Pow RandomNormal RandomNormalLike RandomUniform RandomUniformLike Range Reciprocal Relu Round Selu"
            " Shrink Sigmoid Sign Sin Sinh Softplus Softsign Sqrt Sub Tan Tanh ThresholdedRelu Where Xor ImageDecoder"
            " MelWeightMatrix AffineGrid",
        ),
        _table(partial(_per_output, 2), "BatchNormalization Swish"),
        _table(partial(_per_output, 3), "HardSwish Mish SwiGLU RotaryEmbedding"),
        _table(partial(_per_output, 8), "Gelu Erf GridSample"),
        _table(partial(_per_input, 5), "Softmax LogSoftmax"),
        _table(
            partial(_per_input, 8),
            "LayerNormalization InstanceNormalization GroupNormalization RMSNormalization MeanVarianceNormalization"
            " LpNormalization LRN SimplifiedLayerNormalization",
        ),
        _table(
            partial(_per_input, 1),
            "ArgMax ArgMin AveragePool GlobalAveragePool GlobalLpPool GlobalMaxPool LpPool MaxPool MaxRoiPool"
            " ReduceMax ReduceMean ReduceMin ReduceProd ReduceSum ReduceLogSum CumSum CumProd TopK Col2Im",
        ),
        _table(
            partial(_per_input, 2),
            "DequantizeLinear QuantizeLinear ReduceL1 ReduceL2 ReduceLogSumExp ReduceSumSquare",
        ),
        _table(partial(_per_input, 4), "DynamicQuantizeLinear"),
        _table(partial(_per_input, 6), "SoftmaxCrossEntropyLoss NegativeLogLikelihoodLoss"),
        _table(_per_pair, "Max Mean Min Sum"),
        _table(
            _nothing,
            "BitCast CenterCropPad Compress Concat ConcatFromSequence Constant ConstantOfShape DepthToSpace Dropout"
            " Expand EyeLike Flatten Gather GatherElements GatherND Identity If Loop MaxUnpool NonZero OneHot Optional"
            " OptionalGetElement OptionalHasElement Pad RegexFullMatch Reshape ReverseSequence Scan Scatter"
            " ScatterElements ScatterND SequenceAt SequenceConstruct SequenceEmpty SequenceErase SequenceInsert"
            " SequenceLength SequenceMap Shape Size Slice SpaceToDepth Split SplitToSequence Squeeze StringConcat"
            " StringNormalizer StringSplit TensorScatter TfIdfVectorizer Tile Transpose Trilu Unsqueeze",
        ),
        _table(_resize, "Resize Upsample"),
        _table(_cast, "Cast CastLike"),
        _table(_fourier, "DFT"),
        _table(_short_fourier, "STFT"),
        _table(_roi, "RoiAlign"),
        _table(_varying, "NonMaxSuppression Unique"),
    )
)
"""Count functions of ONNX's own operators."""

ELEMENT_CONTRIB: dict[str, Count] = _merge(
    (
        _table(partial(_per_output, 1), "QLinearLeakyRelu Range"),
        _table(partial(_per_output, 5), "QLinearAdd QLinearMul QLinearSigmoid"),
        _table(partial(_per_input, 3), "QLinearAveragePool QLinearGlobalAveragePool"),
        _table(partial(_per_input, 9), "QLinearSoftmax BiasGelu FastGelu"),
        _table(partial(_per_output, 3), "QuickGelu ScaledSiLU RotaryEmbedding MRotaryEmbedding BiasAdd GatedAdd"),
        _table(partial(_per_output, 8), "Gelu GridSample"),
        _table(partial(_per_input, 6), "BiasSoftmax"),
        _table(
            partial(_per_output, 9),
            "SkipLayerNormalization SkipSimplifiedLayerNormalization SkipGroupNorm GroupNorm",
        ),
        _table(partial(_per_output, 10), "EmbedLayerNormalization QEmbedLayerNormalization"),
        _table(partial(_per_input, 2), "QuantizeLinear DequantizeLinear"),
        _table(partial(_per_input, 1), "NhwcMaxPool MaxpoolWithMask"),
        _table(
            _nothing,
            "QLinearConcat QLinearWhere ExpandDims GatherND GatherBlockQuantized Pad Tokenizer Trilu UnfoldTensor",
        ),
    )
)
"""Count functions of ONNX Runtime's own domain."""

ELEMENT_NCHWC: dict[str, Count] = _merge(
    (
        _table(partial(_per_input, 1), "AveragePool GlobalAveragePool GlobalMaxPool MaxPool"),
        _table(_nothing, "ReorderInput ReorderOutput"),
        _table(_resize, "Upsample"),
    )
)
"""Count functions of its domain for blocked channels."""

ELEMENT_ML: dict[str, Count] = _merge(
    (
        _table(
            _varying,
            "SVMClassifier SVMRegressor TreeEnsemble TreeEnsembleClassifier TreeEnsembleRegressor",
        ),
        _table(_linear, "LinearClassifier LinearRegressor"),
        _table(partial(_per_input, 1), "Binarizer Imputer"),
        _table(partial(_per_input, 2), "Scaler"),
        _table(partial(_per_input, 3), "Normalizer"),
        _table(
            _nothing,
            "ArrayFeatureExtractor CastMap CategoryMapper DictVectorizer FeatureVectorizer LabelEncoder OneHotEncoder"
            " ZipMap",
        ),
    )
)
"""Count functions of ai.onnx.ml."""
