// The part of ONNX Runtime's interface for C that an operator of our own needs, in declarations of our own: what its header declares has to be
// compiled with the header of just that release. The interface is a table of functions whose order never changes, and structures that only
// grow at their end; interface_test.go compiles all of this against the header of the pinned release.
#ifndef SWAR_ORTAPI_H
#define SWAR_ORTAPI_H

#include <stddef.h>
#include <stdint.h>

typedef struct OrtStatus OrtStatus; // NULL where all went well
typedef struct OrtValue OrtValue;
typedef struct OrtKernelInfo OrtKernelInfo;
typedef struct OrtKernelContext OrtKernelContext;
typedef struct OrtCustomOpDomain OrtCustomOpDomain;
typedef struct OrtSessionOptions OrtSessionOptions;
typedef struct OrtTensorTypeAndShapeInfo OrtTensorTypeAndShapeInfo;
struct OrtApi;
struct OrtCustomOp;

enum { ort_api_version = 17, ort_op_version = 16 }; // of an operator, 16 is the first whose kernels can fail

enum { ort_float = 1, ort_int8 = 3, ort_int32 = 6 };  // elements of tensors
enum { ort_fail = 1, ort_invalid_argument = 2 };      // kinds of errors
enum { ort_required = 0, ort_default_memory = 0 };    // of inputs and outputs

typedef void (*ort_unused)(void);

// ort_api is OrtApi as far as it is used. A row of unused functions stands for those in between.
typedef struct ort_api {
	OrtStatus *(*CreateStatus)(unsigned code, const char *message);
	ort_unused unused1[25];
	OrtStatus *(*CreateCustomOpDomain)(const char *name, OrtCustomOpDomain **domain);
	OrtStatus *(*CustomOpDomain_Add)(OrtCustomOpDomain *domain, const struct OrtCustomOp *op);
	OrtStatus *(*AddCustomOpDomain)(OrtSessionOptions *options, OrtCustomOpDomain *domain);
	ort_unused unused2[22];
	OrtStatus *(*GetTensorMutableData)(OrtValue *value, void **data);
	ort_unused unused3[9];
	OrtStatus *(*GetDimensionsCount)(const OrtTensorTypeAndShapeInfo *info, size_t *count);
	OrtStatus *(*GetDimensions)(const OrtTensorTypeAndShapeInfo *info, int64_t *sizes, size_t count);
	ort_unused unused4[2];
	OrtStatus *(*GetTensorTypeAndShape)(const OrtValue *value, OrtTensorTypeAndShapeInfo **info);
	ort_unused unused5[24];
	OrtStatus *(*KernelContext_GetInput)(const OrtKernelContext *context, size_t index, const OrtValue **value);
	OrtStatus *(*KernelContext_GetOutput)(OrtKernelContext *context, size_t index, const int64_t *sizes, size_t rank, OrtValue **value);
	ort_unused unused6[7];
	void (*ReleaseTensorTypeAndShapeInfo)(OrtTensorTypeAndShapeInfo *info);
	ort_unused unused7[149];
	OrtStatus *(*KernelInfoGetConstantInput_tensor)(const OrtKernelInfo *info, size_t index, int *constant, const OrtValue **value);
} ort_api;

typedef struct ort_api_base {
	const struct OrtApi *(*GetApi)(uint32_t version);
	const char *(*GetVersionString)(void);
} ort_api_base;

// ort_op is OrtCustomOp as of version 16.
typedef struct ort_op {
	uint32_t version;
	void *(*CreateKernel)(const struct OrtCustomOp *op, const struct OrtApi *api, const OrtKernelInfo *info);
	const char *(*GetName)(const struct OrtCustomOp *op);
	const char *(*GetExecutionProviderType)(const struct OrtCustomOp *op);
	unsigned (*GetInputType)(const struct OrtCustomOp *op, size_t index);
	size_t (*GetInputTypeCount)(const struct OrtCustomOp *op);
	unsigned (*GetOutputType)(const struct OrtCustomOp *op, size_t index);
	size_t (*GetOutputTypeCount)(const struct OrtCustomOp *op);
	void (*KernelCompute)(void *kernel, OrtKernelContext *context);
	void (*KernelDestroy)(void *kernel);
	unsigned (*GetInputCharacteristic)(const struct OrtCustomOp *op, size_t index);
	unsigned (*GetOutputCharacteristic)(const struct OrtCustomOp *op, size_t index);
	int (*GetInputMemoryType)(const struct OrtCustomOp *op, size_t index);
	int (*GetVariadicInputMinArity)(const struct OrtCustomOp *op);
	int (*GetVariadicInputHomogeneity)(const struct OrtCustomOp *op);
	int (*GetVariadicOutputMinArity)(const struct OrtCustomOp *op);
	int (*GetVariadicOutputHomogeneity)(const struct OrtCustomOp *op);
	OrtStatus *(*CreateKernelV2)(const struct OrtCustomOp *op, const struct OrtApi *api, const OrtKernelInfo *info, void **kernel);
	OrtStatus *(*KernelComputeV2)(void *kernel, OrtKernelContext *context);
	void *later[16]; // of which nothing is read at this version
} ort_op;

#endif
