// Numbers and names of operators in the schema of .tflite files.
#ifndef LARQ_ENGINE_MODEL_FILE_BUILTIN_H_
#define LARQ_ENGINE_MODEL_FILE_BUILTIN_H_

#include <string>

namespace larq_engine {

// The operators whose meaning matters to a check or that an engine computes.
namespace builtin {
enum : int {
  kAdd = 0,
  kAveragePool2d = 1,
  kConcatenation = 2,
  kConv2d = 3,
  kDepthwiseConv2d = 4,
  kDepthToSpace = 5,
  kDequantize = 6,
  kFloor = 8,
  kFullyConnected = 9,
  kL2Pool2d = 12,
  kLocalResponseNormalization = 13,
  kLogistic = 14,
  kLstm = 16,
  kMaxPool2d = 17,
  kMul = 18,
  kRelu = 19,
  kReluN1To1 = 20,
  kRelu6 = 21,
  kReshape = 22,
  kResizeBilinear = 23,
  kSoftmax = 25,
  kSpaceToDepth = 26,
  kSvdf = 27,
  kTanh = 28,
  kCustom = 32,
  kPad = 34,
  kGather = 36,
  kTranspose = 39,
  kMean = 40,
  kSub = 41,
  kDiv = 42,
  kSqueeze = 43,
  kUnidirectionalSequenceLstm = 44,
  kStridedSlice = 45,
  kBidirectionalSequenceRnn = 46,
  kExp = 47,
  kSplit = 49,
  kDelegate = 51,
  kBidirectionalSequenceLstm = 52,
  kCast = 53,
  kPrelu = 54,
  kArgMax = 56,
  kLess = 58,
  kNeg = 59,
  kPadv2 = 60,
  kGreater = 61,
  kGreaterEqual = 62,
  kLessEqual = 63,
  kSlice = 65,
  kSin = 66,
  kTransposeConv = 67,
  kTile = 69,
  kExpandDims = 70,
  kEqual = 71,
  kNotEqual = 72,
  kLog = 73,
  kSum = 74,
  kSqrt = 75,
  kRsqrt = 76,
  kShape = 77,
  kArgMin = 79,
  kReduceProd = 81,
  kReduceMax = 82,
  kPack = 83,
  kLogicalNot = 87,
  kUnpack = 88,
  kReduceMin = 89,
  kReduceAny = 91,
  kSquare = 92,
  kResizeNearestNeighbor = 97,
  kLeakyRelu = 98,
  kSquaredDifference = 99,
  kMirrorPad = 100,
  kAbs = 101,
  kSplitV = 102,
  kCeil = 104,
  kCos = 108,
  kElu = 111,
  kReverseSequence = 112,
  kMatrixDiag = 113,
  kQuantize = 114,
  kMatrixSetDiag = 115,
  kRound = 116,
  kHardSwish = 117,
  kBatchMatmul = 126,
  kCumsum = 128,
  kBroadcastTo = 130,
  kConv3d = 132,
  kReduceAll = 140,
  kConv3dTranspose = 141,
  kVarHandle = 142,
  kReadVariable = 143,
  kAssignVariable = 144,
  kGelu = 150,
  kRelu0To1 = 152,
  kSign = 158,
};
}  // namespace builtin

bool IsPool(int kind);

// Returns the name for the schema's number, such as "CONV_2D". Returns the number itself if it is
// newer than this library.
std::string BuiltinName(int kind);

}  // namespace larq_engine

#endif  // LARQ_ENGINE_MODEL_FILE_BUILTIN_H_
