package peers

import (
	"compress/gzip"
	"fmt"
	"io"
	"os"
)

// ReadKept returns the lines of a run below ops/headlines, which are compressed.
func ReadKept(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	r, err := gzip.NewReader(f)
	if err != nil {
		return "", fmt.Errorf("%s: %w", path, err)
	}
	text, err := io.ReadAll(r)
	if err != nil {
		return "", fmt.Errorf("%s: %w", path, err)
	}
	return string(text), nil
}
