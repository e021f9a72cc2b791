// Compares the declarations of ortapi.h with those of ONNX Runtime's own header, while it is compiled. Every field of ortapi.h stands here;
// interface_test.go checks that, too.
#include <onnxruntime_c_api.h>

#include "ortapi.h"

#define FIELD(theirs, ours, name)                                                                                           \
	_Static_assert(offsetof(theirs, name) == offsetof(ours, name), #theirs "." #name " stands at another place");          \
	_Static_assert(__builtin_types_compatible_p(__typeof__(((theirs *)0)->name), __typeof__(((ours *)0)->name)),           \
	               #theirs "." #name " has another type");

FIELD(OrtApiBase, ort_api_base, GetApi)
FIELD(OrtApiBase, ort_api_base, GetVersionString)
_Static_assert(sizeof(OrtApiBase) == sizeof(ort_api_base), "OrtApiBase has another size");

FIELD(OrtApi, ort_api, CreateStatus)
FIELD(OrtApi, ort_api, CreateCustomOpDomain)
FIELD(OrtApi, ort_api, CustomOpDomain_Add)
FIELD(OrtApi, ort_api, AddCustomOpDomain)
FIELD(OrtApi, ort_api, GetTensorMutableData)
FIELD(OrtApi, ort_api, GetDimensionsCount)
FIELD(OrtApi, ort_api, GetDimensions)
FIELD(OrtApi, ort_api, GetTensorTypeAndShape)
FIELD(OrtApi, ort_api, KernelContext_GetInput)
FIELD(OrtApi, ort_api, KernelContext_GetOutput)
FIELD(OrtApi, ort_api, ReleaseTensorTypeAndShapeInfo)
FIELD(OrtApi, ort_api, KernelInfoGetConstantInput_tensor)

_Static_assert(sizeof(OrtApi) >= sizeof(ort_api), "OrtApi is smaller than what is used of it");

FIELD(OrtCustomOp, ort_op, version)
FIELD(OrtCustomOp, ort_op, CreateKernel)
FIELD(OrtCustomOp, ort_op, GetName)
FIELD(OrtCustomOp, ort_op, GetExecutionProviderType)
FIELD(OrtCustomOp, ort_op, GetInputType)
FIELD(OrtCustomOp, ort_op, GetInputTypeCount)
FIELD(OrtCustomOp, ort_op, GetOutputType)
FIELD(OrtCustomOp, ort_op, GetOutputTypeCount)
FIELD(OrtCustomOp, ort_op, KernelCompute)
FIELD(OrtCustomOp, ort_op, KernelDestroy)
FIELD(OrtCustomOp, ort_op, GetInputCharacteristic)
FIELD(OrtCustomOp, ort_op, GetOutputCharacteristic)
FIELD(OrtCustomOp, ort_op, GetInputMemoryType)
FIELD(OrtCustomOp, ort_op, GetVariadicInputMinArity)
FIELD(OrtCustomOp, ort_op, GetVariadicInputHomogeneity)
FIELD(OrtCustomOp, ort_op, GetVariadicOutputMinArity)
FIELD(OrtCustomOp, ort_op, GetVariadicOutputHomogeneity)
FIELD(OrtCustomOp, ort_op, CreateKernelV2)
FIELD(OrtCustomOp, ort_op, KernelComputeV2)

// What later versions have added must fit behind, because the library may read it as absent.
_Static_assert(sizeof(OrtCustomOp) <= sizeof(ort_op), "OrtCustomOp has outgrown ort_op.later");

_Static_assert(ORT_API_VERSION >= ort_api_version, "the header is older than the interface that is asked for");
_Static_assert(ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT == ort_float, "float");
_Static_assert(ONNX_TENSOR_ELEMENT_DATA_TYPE_INT8 == ort_int8, "int8");
_Static_assert(ONNX_TENSOR_ELEMENT_DATA_TYPE_INT32 == ort_int32, "int32");
_Static_assert(ORT_FAIL == ort_fail, "ORT_FAIL");
_Static_assert(ORT_INVALID_ARGUMENT == ort_invalid_argument, "ORT_INVALID_ARGUMENT");
_Static_assert(INPUT_OUTPUT_REQUIRED == ort_required, "INPUT_OUTPUT_REQUIRED");
_Static_assert(OrtMemTypeDefault == ort_default_memory, "OrtMemTypeDefault");
