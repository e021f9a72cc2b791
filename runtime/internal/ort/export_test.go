package ort

import (
	"bytes"

	runtime "github.com/yalue/onnxruntime_go"
)

var (
	SignedProductsExact = signedProductsExact
	ErrorOfProducts     = errorOfProducts
	ErrInexact          = errInexact
)

// CheckSpoilt is what [CheckIntegers] does where one weight of a graph is off by one.
func CheckSpoilt() error {
	return checkProducts(func(file []byte, o *runtime.SessionOptions) ([]byte, Products, error) {
		file, products, err := serve(file, o)
		step := []byte{127, 127, 127, 127, 128, 128, 128, 128, 127, 128, 127, 128} // three columns in a panel
		file[bytes.Index(file, step)]--
		return file, products, err
	})
}
