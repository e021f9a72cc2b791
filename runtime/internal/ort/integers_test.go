package ort_test

import (
	"errors"
	"testing"

	"github.com/swar-tts/swar/runtime/internal/graph"
	"github.com/swar-tts/swar/runtime/internal/ort"
	"github.com/swar-tts/swar/runtime/internal/orttest"
)

func TestIntegersAreExactWithEveryKernel(t *testing.T) {
	eachKernel(t, func(t *testing.T) {
		if err := ort.CheckIntegers(); err != nil {
			t.Error(err)
		}
	})
}

// TestProductsOfOthersAreExact opens a graph as others write them, with signed weights, which ONNX Runtime multiplies
// wrongly on processors without VNNI.
func TestProductsOfOthersAreExact(t *testing.T) {
	orttest.Need(t)
	signed, err := ort.SignedProductsExact()
	t.Logf("signed weights are exact here: %v, %v", signed, err)
	if err != nil {
		t.Fatal(err)
	}
	if err := ort.ErrorOfProducts(graph.UnsignProducts); err != nil {
		t.Errorf("unsigned weights: %v", err)
	}
	asWritten := ort.ErrorOfProducts(func(file []byte) ([]byte, error) { return file, nil })
	if (asWritten == nil) != signed || asWritten != nil && !errors.Is(asWritten, ort.ErrInexact) {
		t.Errorf("signed weights: %v", asWritten)
	}
}

// TestTheCheckNotices spoils one integer of a graph on its way to the session.
func TestTheCheckNotices(t *testing.T) {
	orttest.Need(t)
	if err := ort.CheckSpoilt(); !errors.Is(err, ort.ErrInexact) {
		t.Errorf("a spoilt product: %v, want that it is inexact", err)
	}
}
