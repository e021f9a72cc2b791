// Command reference exports what hack/voices needs to run the published model on ONNX Runtime, chunk by chunk. It
// prints the ids that the model is fed for each line of standard input, and with -floats writes a copy of the export
// in floats.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/swar-tts/swar/runtime/kokoro/convert"
	"github.com/swar-tts/swar/runtime/kokoro/internal/phoneme"
)

func main() {
	floats := flag.String("floats", "", "a file to write the export to, in floats; it must not exist")
	model := flag.String("model", ".cache/kokoro/model_int8.onnx", "the export")
	flag.Parse()
	err := ids(context.Background(), os.Stdin, os.Stdout)
	if err == nil && *floats != "" {
		err = dequantise(context.Background(), *floats, *model)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "reference:", err)
		os.Exit(1)
	}
}

// ids answers each line, a text as the engine is given it, with a line of ids in JSON.
func ids(ctx context.Context, from io.Reader, to io.Writer) error {
	reader, err := phoneme.Open("")
	if err != nil {
		return err
	}
	answers := json.NewEncoder(to)
	lines := bufio.NewScanner(from)
	for lines.Scan() {
		p, err := reader.Read(ctx, lines.Text())
		if err != nil {
			return err
		}
		if err := answers.Encode(phoneme.Fed(p.IDs)); err != nil {
			return err
		}
	}
	return lines.Err()
}

func dequantise(ctx context.Context, to, model string) (err error) {
	export, err := os.ReadFile(model)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return convert.Floats(ctx, f, export)
}
