package ort

// Fuse lets sessions be opened with the operator RowProduct or without.
func Fuse(on bool) { fuses = on }
