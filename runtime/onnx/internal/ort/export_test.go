package ort

// Fuses reports whether sessions are opened with the operator RowProduct.
func Fuses() bool { return fuses }

// Fuse lets sessions be opened with the operator RowProduct or without.
func Fuse(on bool) { fuses = on }
