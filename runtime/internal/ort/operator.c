// The operator RowProduct of the domain swar, as ONNX Runtime sees it. Its inputs are rows, f32 [rows, in], and as constants a matrix in
// panels, i8 [panels, in/4, 16, 4], offsets, i32 [out], and scales, f32 [out]; see row_matrix. Its output is f32 [rows, out].
#include "operator.h"

#include <stdlib.h>
#include <string.h>
#ifdef __linux__
#include <sys/mman.h>
#endif

enum { rows, panels, offset, scales, inputs };

// product is the state of one operator in a session. It stays as it was made, so that many threads may compute with it.
typedef struct {
	row_matrix matrix;
	const row_kernel *kernel;
} product;

static const ort_api *api;
static const row_kernel *chosen;

void row_product_use(const row_kernel *kernel) { chosen = kernel; }

// tensor reads where values lie and at most four dimensions. The rest of those that there are not is 1.
static OrtStatus *tensor(const OrtValue *value, void **data, size_t *rank, size_t dims[4]) {
	OrtTensorTypeAndShapeInfo *info = NULL;
	int64_t sizes[4] = {1, 1, 1, 1};
	OrtStatus *s = api->GetTensorMutableData((OrtValue *)value, data);
	if (s != NULL || (s = api->GetTensorTypeAndShape(value, &info)) != NULL)
		return s;
	if ((s = api->GetDimensionsCount(info, rank)) == NULL) {
		if (*rank > 4)
			s = api->CreateStatus(ort_invalid_argument, "RowProduct: an input of more than four dimensions");
		else
			s = api->GetDimensions(info, sizes, *rank);
	}
	api->ReleaseTensorTypeAndShapeInfo(info);
	for (int i = 0; i < 4; i++)
		dims[i] = (size_t)sizes[i];
	return s;
}

// constant reads an input that is part of the graph.
static OrtStatus *constant(const OrtKernelInfo *info, size_t index, void **data, size_t want, size_t dims[4]) {
	const OrtValue *value = NULL;
	int is_constant = 0;
	size_t rank = 0;
	OrtStatus *s = api->KernelInfoGetConstantInput_tensor(info, index, &is_constant, &value);
	if (s != NULL)
		return s;
	if (!is_constant)
		return api->CreateStatus(ort_invalid_argument, "RowProduct: matrix, offsets and scales must be constants");
	s = tensor(value, data, &rank, dims);
	return s == NULL && rank != want ? api->CreateStatus(ort_invalid_argument, "RowProduct: want constants of rank 4, 1 and 1") : s;
}

// prefer_large_pages asks the system to lay memory into pages of 2 MB, whose addresses are looked up faster. It may not, which is no error.
// The first and the last page are shared with what lies beside: weights follow each other in memory, few are larger than two such pages, and
// with only those pages that are theirs alone half of them would stay in small ones (a row then takes 1.6 times as long, EPYC of Zen 5).
static void prefer_large_pages(const void *from, size_t bytes) {
#ifdef __linux__
	const uintptr_t large = 2 << 20, end = (uintptr_t)from + bytes;
	const int collapse = 25; // MADV_COLLAPSE, since Linux 6.1: now, and not some time later
	for (uintptr_t page = (uintptr_t)from / large * large; page < end; page += large)
		if (madvise((void *)page, large, MADV_HUGEPAGE) == 0)
			(void)madvise((void *)page, large, collapse);
#else
	(void)from, (void)bytes;
#endif
}

static OrtStatus *create(const struct OrtCustomOp *op, const struct OrtApi *a, const OrtKernelInfo *info, void **kernel) {
	(void)op, (void)a;
	size_t size[inputs][4];
	void *data[inputs];
	OrtStatus *s = constant(info, panels, &data[panels], 4, size[panels]);
	if (s != NULL || (s = constant(info, offset, &data[offset], 1, size[offset])) != NULL ||
	    (s = constant(info, scales, &data[scales], 1, size[scales])) != NULL)
		return s;
	const size_t *of = size[panels], out = size[scales][0];
	if (of[2] != panel_columns || of[3] != panel_depth || of[0] != (out + panel_columns - 1) / panel_columns || size[offset][0] != out)
		return api->CreateStatus(ort_invalid_argument, "RowProduct: the sizes of matrix, offsets and scales do not fit each other");
	if (of[1] > max_in / panel_depth)
		return api->CreateStatus(ort_invalid_argument, "RowProduct: a matrix of more than 65536 rows, whose sums may not fit 32 bits");
	product *p = malloc(sizeof *p);
	if (p == NULL)
		return api->CreateStatus(ort_fail, "RowProduct: out of memory");
	*p = (product){{of[1] * panel_depth, out, data[panels], data[offset], data[scales]}, chosen};
	prefer_large_pages(data[panels], of[0] * of[1] * panel_bytes);
	*kernel = p;
	return NULL;
}

static void destroy(void *kernel) { free(kernel); }

static OrtStatus *compute(void *kernel, OrtKernelContext *context) {
	const product *p = kernel;
	const OrtValue *input = NULL;
	OrtValue *output = NULL;
	void *x = NULL, *y = NULL;
	size_t rank = 0, size[4];
	OrtStatus *s = api->KernelContext_GetInput(context, rows, &input);
	if (s != NULL || (s = tensor(input, &x, &rank, size)) != NULL)
		return s;
	if (rank != 2 || size[1] != p->matrix.in)
		return api->CreateStatus(ort_invalid_argument, "RowProduct: the rows have another width than the matrix");
	const int64_t sizes[] = {(int64_t)size[0], (int64_t)p->matrix.out};
	if ((s = api->KernelContext_GetOutput(context, 0, sizes, 2, &output)) != NULL || size[0] == 0)
		return s;
	if ((s = api->GetTensorMutableData(output, &y)) != NULL)
		return s;
	void *scratch = malloc(p->kernel->scratch(&p->matrix, size[0]));
	if (scratch == NULL)
		return api->CreateStatus(ort_fail, "RowProduct: out of memory");
	p->kernel->multiply(&p->matrix, x, size[0], y, scratch);
	free(scratch);
	return NULL;
}

static const char *name(const struct OrtCustomOp *op) { return (void)op, "RowProduct"; }
static const char *provider(const struct OrtCustomOp *op) { return (void)op, (const char *)NULL; } // the processor
static size_t input_count(const struct OrtCustomOp *op) { return (void)op, inputs; }
static size_t output_count(const struct OrtCustomOp *op) { return (void)op, 1; }
static unsigned output_type(const struct OrtCustomOp *op, size_t i) { return (void)op, (void)i, ort_float; }
static unsigned required(const struct OrtCustomOp *op, size_t i) { return (void)op, (void)i, ort_required; }
static int memory(const struct OrtCustomOp *op, size_t i) { return (void)op, (void)i, ort_default_memory; }
static int not_variadic(const struct OrtCustomOp *op) { return (void)op, 0; }
static unsigned input_type(const struct OrtCustomOp *op, size_t i) {
	static const unsigned types[inputs] = {ort_float, ort_int8, ort_int32, ort_float};
	return (void)op, types[i];
}

static const ort_op row_product = {
	.version = ort_op_version,
	.GetName = name,
	.GetExecutionProviderType = provider,
	.GetInputType = input_type,
	.GetInputTypeCount = input_count,
	.GetOutputType = output_type,
	.GetOutputTypeCount = output_count,
	.KernelDestroy = destroy,
	.GetInputCharacteristic = required,
	.GetOutputCharacteristic = required,
	.GetInputMemoryType = memory,
	.GetVariadicInputMinArity = not_variadic,
	.GetVariadicInputHomogeneity = not_variadic,
	.GetVariadicOutputMinArity = not_variadic,
	.GetVariadicOutputHomogeneity = not_variadic,
	.CreateKernelV2 = create,
	.KernelComputeV2 = compute,
};

OrtStatus *row_product_register(OrtSessionOptions *options, const ort_api_base *base) {
	static OrtCustomOpDomain *domain; // lives as long as the program: sessions keep pointers to it
	OrtStatus *s;
	if (api == NULL && (api = (const ort_api *)base->GetApi(ort_api_version)) == NULL)
		return NULL; // the library has said why, and a graph with the operator will not load
	if (domain == NULL) {
		OrtCustomOpDomain *made = NULL;
		if ((s = api->CreateCustomOpDomain("swar", &made)) != NULL)
			return s;
		if ((s = api->CustomOpDomain_Add(made, (const struct OrtCustomOp *)&row_product)) != NULL)
			return s;
		domain = made;
	}
	return api->AddCustomOpDomain(options, domain);
}
