package vector

/*
#include "vector.h"

static void round_words(const vector_functions *f, int16_t *q, float *scale, const float *x, size_t rows,
                        size_t columns, size_t stride, float range) {
	f->round_words(q, scale, x, rows, columns, stride, range);
}
static void elu_words(const vector_functions *f, int16_t *q, float *scale, const float *x, size_t rows,
                      size_t columns, size_t stride, const float *bias, float range) {
	f->elu_words(q, scale, x, rows, columns, stride, bias, range);
}
static void norm(const vector_functions *f, float *y, const float *x, size_t rows, size_t columns,
                 const float *weight, const float *bias, float epsilon) {
	f->norm(y, x, rows, columns, weight, bias, epsilon);
}
static void gelu(const vector_functions *f, float *y, const float *x, size_t n) { f->gelu(y, x, n); }
static void gelu_tanh(const vector_functions *f, float *y, const float *x, size_t n) { f->gelu_tanh(y, x, n); }
static void rotate_heads(const vector_functions *f, float *y, const float *x, size_t heads, size_t half,
                         const float *cosines, const float *sines) {
	f->rotate(y, x, heads, half, cosines, sines);
}
static void attend(const vector_functions *f, float *y, const float *q, size_t queries, size_t step, const float *keys,
                   const float *values, size_t capacity, size_t at, size_t window, size_t heads, size_t head,
                   float *scratch) {
	f->attend(y, q, queries, step, keys, values, capacity, at, window, heads, head, scratch);
}
static void mix(const vector_functions *f, float *y, const float *x, const float *z, size_t rows, size_t columns,
                const float *a, const float *b) {
	f->mix(y, x, z, rows, columns, a, b);
}
*/
import "C"

// Words are rows of 16-bit integers. A value is its integer times the scale of its row.
type Words struct {
	Words  []int16   // [rows][stride]
	Scales []float32 // of each row
}

// stride returns how long a row is, of so many values.
func (q Words) stride(values, columns int) int {
	rows := len(q.Scales)
	if rows*columns != values || rows > 0 && (len(q.Words)%rows != 0 || len(q.Words)/rows < columns) ||
		columns > C.max_byte_columns {
		panic("vector: sizes do not fit each other")
	}
	return len(q.Words) / max(rows, 1)
}

// RoundWords writes x as integers whose largest is so many, with a scale for each row of so many columns. What is
// behind the columns stays as it is.
func (f Functions) RoundWords(q Words, x []float32, columns, largest int) {
	stride := q.stride(len(x), columns)
	if len(x) > 0 {
		C.round_words(f.c, (*C.int16_t)(&q.Words[0]), ptr(q.Scales), ptr(x), C.size_t(len(q.Scales)),
			C.size_t(columns), C.size_t(stride),
			C.float(largest))
	}
}

// ELURoundWords is as [Functions.RoundWords] after a bias for each column and after the activation that is e^v-1
// below zero.
func (f Functions) ELURoundWords(q Words, x, bias []float32, largest int) {
	columns := len(bias)
	stride := q.stride(len(x), columns)
	if len(x) > 0 {
		C.elu_words(f.c, (*C.int16_t)(&q.Words[0]), ptr(q.Scales), ptr(x), C.size_t(len(q.Scales)), C.size_t(columns),
			C.size_t(stride),
			ptr(bias), C.float(largest))
	}
}

// Norm writes the layer norm of x to y, which must not be x. Each row is centred, scaled to a variance of one,
// multiplied by weight, and bias is added.
func (f Functions) Norm(y, x, weight, bias []float32, epsilon float32) {
	columns := len(weight)
	if len(y) != len(x) || len(bias) != columns || len(x)%columns != 0 {
		panic("vector: sizes do not fit each other")
	}
	if len(x) > 0 {
		C.norm(f.c, ptr(y), ptr(x), C.size_t(len(x)/columns), C.size_t(columns), ptr(weight), ptr(bias),
			C.float(epsilon))
	}
}

// GELU writes y, which must not be x, by the error function or by the approximation with tanh.
func (f Functions) GELU(y, x []float32, tanh bool) {
	switch {
	case len(y) != len(x):
		panic("vector: sizes do not fit each other")
	case len(x) == 0:
	case tanh:
		C.gelu_tanh(f.c, ptr(y), ptr(x), C.size_t(len(x)))
	default:
		C.gelu(f.c, ptr(y), ptr(x), C.size_t(len(x)))
	}
}

// Rotate writes y, which must not be x: heads whose first halves are turned against their second halves.
func (f Functions) Rotate(y, x, cosines, sines []float32) {
	half := len(cosines)
	if len(sines) != half || len(y) != len(x) || len(x) == 0 || len(x)%(2*half) != 0 {
		panic("vector: sizes do not fit each other")
	}
	C.rotate_heads(f.c, ptr(y), ptr(x), C.size_t(len(x)/(2*half)), C.size_t(half), ptr(cosines), ptr(sines))
}

// Past is what attention looks at.
type Past struct {
	Keys     []float32 // [heads][head][Capacity], and KeyPadding behind them
	Values   []float32 // [Capacity][heads][head]
	Capacity int
}

// KeyPadding is how many keys behind a window may be read, for nothing.
const KeyPadding = C.attend_padding

// Queries are rows of heads, each Step values behind the one before. The first is at the position At, the next ones
// follow it, and each sees its own position and those before it, Window of them.
type Queries struct {
	Rows             []float32
	Step, At, Window int
}

// AttendScratch is what [Functions.Attend] needs for a window.
func AttendScratch(window int) int {
	return C.attend_queries * (window + C.attend_queries + C.attend_padding)
}

// Attend writes rows y, what each query of so many heads sees of the past. What it gives depends on that alone, not
// on where it lies or on other queries.
func (f Functions) Attend(y []float32, width int, q Queries, p Past, heads int, scratch []float32) {
	rows := len(y) / width
	if len(y) != rows*width || width%heads != 0 || q.Step < width || q.At < 0 || q.Window < 1 ||
		q.At+rows > p.Capacity ||
		rows > 0 && len(q.Rows) < (rows-1)*q.Step+width || len(scratch) < AttendScratch(q.Window) ||
		len(p.Keys) < width*p.Capacity+KeyPadding || len(p.Values) < width*p.Capacity {
		panic("vector: sizes do not fit each other")
	}
	if rows > 0 {
		C.attend(f.c, ptr(y), ptr(q.Rows), C.size_t(rows), C.size_t(q.Step), ptr(p.Keys), ptr(p.Values),
			C.size_t(p.Capacity), C.size_t(q.At),
			C.size_t(q.Window), C.size_t(heads), C.size_t(width/heads), ptr(scratch))
	}
}

// Mix writes rows y: x times a row of a, plus z times that of b.
func (f Functions) Mix(y, x, z, a, b []float32) {
	if len(z) != len(x) || len(a) != len(y) || len(b) != len(y) || len(x) == 0 || len(y)%len(x) != 0 {
		panic("vector: sizes do not fit each other")
	}
	if len(y) > 0 {
		C.mix(f.c, ptr(y), ptr(x), ptr(z), C.size_t(len(y)/len(x)), C.size_t(len(x)), ptr(a), ptr(b))
	}
}
