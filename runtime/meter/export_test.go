package meter

import "os"

// OnStep makes the log and the shipper call f at every step between the end of a stream and its being stored.
func OnStep(f func(name string)) { onStep = f }

// Tear makes l write each event in two halves, with the step "torn" between them.
func (l *Log) Tear() {
	l.create = func(path string) (segmentFile, error) {
		f, err := createSegment(path)
		if err != nil {
			return nil, err
		}
		return tearing{f.(*os.File)}, nil
	}
}

type tearing struct{ *os.File }

func (f tearing) Write(b []byte) (int, error) {
	half := len(b) / 2
	if n, err := f.File.Write(b[:half]); err != nil {
		return n, err
	}
	step("torn")
	n, err := f.File.Write(b[half:])
	return half + n, err
}
