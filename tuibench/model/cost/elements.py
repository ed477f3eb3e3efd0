"""Estimated operations of element-wise operators, which multiply no matrices."""

from __future__ import annotations

import math
from collections.abc import Mapping

from tuibench.model.cost.structure import Call, Count, Unknown, Work
from tuibench.model.graph import text

_RESIZE = {"nearest": 0, "linear": 7, "cubic": 31}


def _outputs(rate: int) -> Count:
    """Count `rate` operations per element of the output."""
    return lambda call: Work(0, rate * call.written())


def _inputs(rate: int) -> Count:
    """Count `rate` operations per element of the first input."""
    return lambda call: Work(0, rate * call.elements())


def _per_pair(call: Call) -> Work:
    """Sum, Max, Mean …: one operation per output element for every input after the first."""
    return Work(0, call.written() * max(sum(t is not None for t in call.inputs) - 1, 1))


def _nothing(call: Call) -> Work:  # noqa: ARG001 - moved, shaped or copied: bytes alone
    return Work()


def _resize(call: Call) -> Work:
    return Work(0, call.written() * _RESIZE.get(call.words("mode", "nearest"), _RESIZE["linear"]))


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
        raise Unknown("flat_output")
    window = call.shape(2)[0] if call.has(2) and call.shape(2) else 2 * (out[2] - 1)
    return Work(0, _transform(out[0] * out[1], window))


def _transform(count: int, length: int) -> int:
    return int(count * 5 * length * math.log2(max(length, 2)))


def _varying(call: Call) -> Work:
    raise Unknown("work_by_data", name=text(call.node.op_type))


def _roi(call: Call) -> Work:
    ratio = call.number("sampling_ratio")
    if ratio <= 0:
        raise Unknown("points_by_data")
    return Work(0, 8 * ratio * ratio * call.written())


def _linear(call: Call) -> Work:
    """Count rows x coefficients of a linear operator of ai.onnx.ml."""
    data = call.shape(0)
    rows = data[0] if len(data) > 1 else 1
    return Work(rows * call.floats("coefficients"), rows * call.floats("intercepts"))


def _by_name(table: Mapping[Count, str]) -> dict[str, Count]:
    return {name: count for count, names in table.items() for name in names.split()}


ELEMENT = _by_name(
    {
        _outputs(1): (
            "Abs Acos Acosh Add And Asin Asinh Atan Atanh Bernoulli BitShift BitwiseAnd BitwiseNot BitwiseOr"
            " BitwiseXor BlackmanWindow Ceil Celu Clip Cos Cosh Div Elu Equal Exp Floor Greater GreaterOrEqual"
            " HammingWindow HannWindow HardSigmoid Hardmax IsInf IsNaN LeakyRelu Less LessOrEqual Log Mod Mul"
            " Multinomial Neg Not Or PRelu Pow RandomNormal RandomNormalLike RandomUniform RandomUniformLike"
            " Range Reciprocal Relu Round Selu Shrink Sigmoid Sign Sin Sinh Softplus Softsign Sqrt Sub Tan"
            " Tanh ThresholdedRelu Where Xor ImageDecoder MelWeightMatrix AffineGrid Cast CastLike"
        ),
        _outputs(2): "BatchNormalization Swish",
        _outputs(3): "HardSwish Mish SwiGLU RotaryEmbedding",
        _outputs(8): "Gelu Erf GridSample",
        _inputs(5): "Softmax LogSoftmax",
        _inputs(8): (
            "LayerNormalization InstanceNormalization GroupNormalization RMSNormalization"
            " MeanVarianceNormalization LpNormalization LRN SimplifiedLayerNormalization"
        ),
        _inputs(1): (
            "ArgMax ArgMin AveragePool GlobalAveragePool GlobalLpPool GlobalMaxPool LpPool MaxPool MaxRoiPool"
            " ReduceMax ReduceMean ReduceMin ReduceProd ReduceSum ReduceLogSum CumSum CumProd TopK Col2Im"
        ),
        _inputs(2): "DequantizeLinear QuantizeLinear ReduceL1 ReduceL2 ReduceLogSumExp ReduceSumSquare",
        _inputs(4): "DynamicQuantizeLinear",
        _inputs(6): "SoftmaxCrossEntropyLoss NegativeLogLikelihoodLoss",
        _per_pair: "Max Mean Min Sum",
        _nothing: (
            "BitCast CenterCropPad Compress Concat ConcatFromSequence Constant ConstantOfShape DepthToSpace"
            " Dropout Expand EyeLike Flatten Gather GatherElements GatherND Identity If Loop MaxUnpool NonZero"
            " OneHot Optional OptionalGetElement OptionalHasElement Pad RegexFullMatch Reshape ReverseSequence"
            " Scan Scatter ScatterElements ScatterND SequenceAt SequenceConstruct SequenceEmpty SequenceErase"
            " SequenceInsert SequenceLength SequenceMap Shape Size Slice SpaceToDepth Split SplitToSequence"
            " Squeeze StringConcat StringNormalizer StringSplit TensorScatter TfIdfVectorizer Tile Transpose"
            " Trilu Unsqueeze"
        ),
        _resize: "Resize Upsample",
        _fourier: "DFT",
        _short_fourier: "STFT",
        _roi: "RoiAlign",
        _varying: "NonMaxSuppression Unique",
    }
)
"""Count functions of ONNX's own operators."""

ELEMENT_CONTRIB = _by_name(
    {
        _outputs(1): "QLinearLeakyRelu Range",
        _outputs(5): "QLinearAdd QLinearMul QLinearSigmoid",
        _inputs(3): "QLinearAveragePool QLinearGlobalAveragePool",
        _inputs(9): "QLinearSoftmax BiasGelu FastGelu",
        _outputs(3): "QuickGelu ScaledSiLU RotaryEmbedding MRotaryEmbedding BiasAdd GatedAdd",
        _outputs(8): "Gelu GridSample",
        _inputs(6): "BiasSoftmax",
        _outputs(9): "SkipLayerNormalization SkipSimplifiedLayerNormalization SkipGroupNorm GroupNorm",
        _outputs(10): "EmbedLayerNormalization QEmbedLayerNormalization",
        _inputs(2): "QuantizeLinear DequantizeLinear",
        _inputs(1): "NhwcMaxPool MaxpoolWithMask",
        _nothing: (
            "QLinearConcat QLinearWhere ExpandDims GatherND GatherBlockQuantized Pad Tokenizer Trilu UnfoldTensor"
        ),
    }
)
"""Count functions of ONNX Runtime's own domain."""

ELEMENT_NCHWC = _by_name(
    {
        _inputs(1): "AveragePool GlobalAveragePool GlobalMaxPool MaxPool",
        _nothing: "ReorderInput ReorderOutput",
        _resize: "Upsample",
    }
)
"""Count functions of its domain for blocked channels."""

ELEMENT_ML = _by_name(
    {
        _varying: "SVMClassifier SVMRegressor TreeEnsemble TreeEnsembleClassifier TreeEnsembleRegressor",
        _linear: "LinearClassifier LinearRegressor",
        _inputs(1): "Binarizer Imputer",
        _inputs(2): "Scaler",
        _inputs(3): "Normalizer",
        _nothing: (
            "ArrayFeatureExtractor CastMap CategoryMapper DictVectorizer FeatureVectorizer LabelEncoder"
            " OneHotEncoder ZipMap"
        ),
    }
)
"""Count functions of ai.onnx.ml."""
