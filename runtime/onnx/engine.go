// Package onnx is the neural engine: models of the Pocket-TTS family on ONNX Runtime.
package onnx
