#include "rowproduct.h"

#include <stdlib.h>

// The operator RowProduct, told to ONNX Runtime through its interface for C: a table of functions whose order never changes, and structures
// that only ever grow at their end. This is all of it that is used here; the versions are the oldest that have it.

enum { api_version = 17, op_version = 16 }; // of an operator, 16 is the first whose kernels can fail

enum { // places in the table
	create_status = 0,
	create_domain = 26,
	add_to_domain = 27,
	add_domain = 28,
	get_data = 51,
	get_dimension_count = 61,
	get_dimensions = 62,
	get_shape = 65,
	context_input = 90,
	context_output = 91,
	release_status = 93,
	release_shape = 99,
};

enum { type_float = 1, type_int8 = 3, type_int32 = 6 }; // of elements
enum { failure = 1, invalid_argument = 2 };             // kinds of errors

typedef void (*function)(void);
typedef struct status status; // NULL where all went well

static const function *api;
static void *domain; // lives as long as the program

// op is how version 16 describes an operator.
typedef struct op {
	uint32_t version;
	void *(*create)(const struct op *, const void *api, const void *info);
	const char *(*name)(const struct op *);
	const char *(*provider)(const struct op *);
	int (*input_type)(const struct op *, size_t);
	size_t (*input_count)(const struct op *);
	int (*output_type)(const struct op *, size_t);
	size_t (*output_count)(const struct op *);
	void (*compute_only)(void *kernel, void *context);
	void (*destroy)(void *kernel);
	int (*input_required)(const struct op *, size_t);
	int (*output_required)(const struct op *, size_t);
	int (*input_memory)(const struct op *, size_t);
	int (*variadic[4])(const struct op *);
	status *(*create_or_fail)(const struct op *, const void *api, const void *info, void **kernel);
	status *(*compute)(void *kernel, void *context);
	void *later[16]; // of which nothing is read at this version
} op;

static status *create(const op *o, const void *api, const void *info, void **kernel) {
	(void)o, (void)api, (void)info;
	static char none; // it has no state
	*kernel = &none;
	return NULL;
}
static void destroy(void *kernel) { (void)kernel; }
static const char *name(const op *o) { return (void)o, "RowProduct"; }
static const char *provider(const op *o) { return (void)o, (const char *)NULL; } // the processor
static size_t input_count(const op *o) { return (void)o, 4; }
static size_t output_count(const op *o) { return (void)o, 1; }
static int output_type(const op *o, size_t i) { return (void)o, (void)i, type_float; }
static int required(const op *o, size_t i) { return (void)o, (void)i, 0; }
static int plain_memory(const op *o, size_t i) { return (void)o, (void)i, 0; }
static int never(const op *o) { return (void)o, 0; }
static int input_type(const op *o, size_t i) {
	static const int types[] = {type_float, type_int8, type_int32, type_float}; // rows, matrix, zero, scales
	return (void)o, types[i];
}

static void *data(const void *value) {
	void *p = NULL;
	((status * (*)(const void *, void **)) api[get_data])(value, &p);
	return p;
}

enum { most_dims = 8 };

// shape reads the dimensions of a tensor and returns their number, 0 where there are none or too many.
static size_t shape(const void *value, size_t dims[most_dims]) {
	void *info = NULL;
	size_t n = 0;
	int64_t sizes[most_dims];
	((status * (*)(const void *, void **)) api[get_shape])(value, &info);
	((status * (*)(const void *, size_t *)) api[get_dimension_count])(info, &n);
	if (n > most_dims)
		n = 0;
	((status * (*)(const void *, int64_t *, size_t)) api[get_dimensions])(info, sizes, n);
	((void (*)(void *))api[release_shape])(info);
	for (size_t i = 0; i < n; i++)
		dims[i] = (size_t)sizes[i];
	return n;
}

static status *fail(int code, const char *why) { return ((status * (*)(int, const char *)) api[create_status])(code, why); }

static status *compute(void *kernel, void *context) {
	(void)kernel;
	enum { rows, matrix, zero, scales, inputs };
	const void *in[inputs];
	size_t dims[inputs][most_dims], rank[inputs];
	for (size_t i = 0; i < inputs; i++) {
		status *s = ((status * (*)(const void *, size_t, const void **)) api[context_input])(context, i, &in[i]);
		if (s != NULL)
			return s;
		rank[i] = shape(in[i], dims[i]);
	}
	if (rank[rows] != 2 || rank[matrix] != 4 || rank[zero] != 1 || rank[scales] != 1)
		return fail(invalid_argument, "RowProduct: want inputs of rank 2, 4, 1 and 1");
	const size_t n = dims[rows][0], width = dims[rows][1], out = dims[scales][0];
	if (dims[matrix][1] * 4 != width || dims[matrix][2] != 16 || dims[matrix][3] != 4 || dims[matrix][0] != (out + 15) / 16 || dims[zero][0] != out)
		return fail(invalid_argument, "RowProduct: the sizes of rows, matrix, zero and scales do not fit each other");
	void *result = NULL;
	const int64_t of_result[] = {(int64_t)n, (int64_t)out};
	status *s = ((status * (*)(void *, size_t, const int64_t *, size_t, void **)) api[context_output])(context, 0, of_result, 2, &result);
	if (s != NULL || n == 0)
		return s;
	uint8_t *scratch = malloc(n * width);
	if (scratch == NULL)
		return fail(failure, "RowProduct: out of memory");
	row_product(data(in[rows]), n, width, out, data(in[matrix]), data(in[zero]), data(in[scales]), data(result), scratch);
	free(scratch);
	return NULL;
}

static const op row_product_op = {
	.version = op_version,
	.name = name,
	.provider = provider,
	.input_type = input_type,
	.input_count = input_count,
	.output_type = output_type,
	.output_count = output_count,
	.destroy = destroy,
	.input_required = required,
	.output_required = required,
	.input_memory = plain_memory,
	.variadic = {never, never, never, never},
	.create_or_fail = create,
	.compute = compute,
};

static int failed(status *s) {
	if (s != NULL)
		((void (*)(status *))api[release_status])(s);
	return s != NULL;
}

int row_product_load(const void *base) {
	const struct {
		const function *(*get)(uint32_t version);
	} *b = base;
	api = b->get(api_version);
	return api != NULL && !failed(((status * (*)(const char *, void **)) api[create_domain])("swar", &domain)) &&
	       !failed(((status * (*)(void *, const op *))api[add_to_domain])(domain, &row_product_op));
}

int row_product_register(void *options) { return !failed(((status * (*)(void *, void *)) api[add_domain])(options, domain)); }
