// Package runs keeps the record of every run in the user's data folder, one
// compressed file a run, so that runs can be listed and compared later. Keep adds a
// run, Open reads the file of one. The files are the truth: an index of them can be
// made again at any time.
//
// The warpbook command calls it. Read interprets the records of package record. It must
// not import a package that runs or renders notebooks.
package runs

import (
	"compress/gzip"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"warpbook/kernel/leaf/atomicfile"
)

// Env names the environment variable with the folder of runs, or "off" to keep
// none.
const Env = "WARPBOOK_RUNS"

const off = "off"

// Extension is that of the files.
const Extension = ".json.gz"

// Folder returns where runs are kept, "" if they are not. data is the kernel's data
// folder.
func Folder(data string) string {
	switch folder := os.Getenv(Env); folder {
	case off:
		return ""
	case "":
		return filepath.Join(data, "runs")
	default:
		return folder
	}
}

// Keep writes the record of a run into the folder and returns its file, whose name
// begins with the time, so that names are in the order of the runs.
func Keep(folder, notebook string, started time.Time, fill func(io.Writer) error) (string, error) {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return "", fmt.Errorf("runs: %w: set %s to another folder, or to %s", err, Env, off)
	}
	name := strings.TrimSuffix(filepath.Base(notebook), filepath.Ext(notebook))
	path := filepath.Join(folder, fmt.Sprintf("%s-%s-%s%s", started.UTC().Format("20060102T150405Z"), name, strings.ToLower(rand.Text()[:6]), Extension))
	err := atomicfile.WriteMode(path, 0o600, func(w io.Writer) error {
		z := gzip.NewWriter(w)
		return errors.Join(fill(z), z.Close())
	})
	if err != nil {
		return "", fmt.Errorf("runs: %w: set %s to another folder, or to %s", err, Env, off)
	}
	return path, nil
}

// Open reads a record, compressed or not, of at most limit bytes.
func Open(path string, limit int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r := io.Reader(f)
	if strings.HasSuffix(path, ".gz") {
		z, err := gzip.NewReader(f)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		r = z
	}
	data, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err == nil && int64(len(data)) > limit {
		err = fmt.Errorf("more than %d bytes", limit)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return data, nil
}
