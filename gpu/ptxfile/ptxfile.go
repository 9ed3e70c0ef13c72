// Package ptxfile reads and writes committed PTX, which is compressed: NAME.ptx.zst has the
// PTX of NAME.ptx. `zstd -dc FILE` prints it, and so does `go run ./gpu/nvrtc -print FILE`. A
// NAME.ptx that is not compressed is read, too, and first.
//
// gpu/nvrtc writes the files, package ladder and tests read them. It imports nothing of this
// project but a way to replace a file whole.
package ptxfile

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/klauspost/compress/zstd"

	"warpbook/kernel/leaf/atomicfile"
)

// Extension is what a compressed file's name has behind that of the PTX.
const Extension = ".zst"

// The decoder is made at the first file, and shared: DecodeAll may be called by several
// goroutines.
var decoder = sync.OnceValues(func() (*zstd.Decoder, error) {
	return zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
})

// Glob lists the PTX of a file system whose names match a pattern: without Extension, sorted.
func Glob(files fs.FS, pattern string) ([]string, error) {
	plain, err := fs.Glob(files, pattern)
	if err != nil {
		return nil, err
	}
	packed, err := fs.Glob(files, pattern+Extension)
	for _, name := range packed {
		plain = append(plain, strings.TrimSuffix(name, Extension))
	}
	slices.Sort(plain)
	return slices.Compact(plain), err
}

// Read returns the PTX of a file of a file system: its name is that of the PTX, without
// Extension.
func Read(files fs.FS, name string) (string, error) {
	if plain, err := fs.ReadFile(files, name); err == nil || !errors.Is(err, fs.ErrNotExist) {
		return string(plain), err
	}
	packed, err := fs.ReadFile(files, name+Extension)
	if err != nil {
		return "", err
	}
	return unpack(name, packed)
}

// ReadFile is Read of a file on disk.
func ReadFile(name string) (string, error) {
	return Read(os.DirFS(filepath.Dir(name)), filepath.Base(name))
}

// unpacked is the PTX of the files that were read, by the hash of their bytes: a file is
// decompressed once, when it is read first.
var unpacked sync.Map

func unpack(name string, packed []byte) (string, error) {
	hash := sha256.Sum256(packed)
	if text, found := unpacked.Load(hash); found {
		return text.(string), nil
	}
	d, err := decoder()
	if err != nil {
		return "", err
	}
	text, err := d.DecodeAll(packed, nil)
	if err != nil {
		return "", fmt.Errorf("ptx: %s%s: %w: not what zstd writes, expected a file of `go run ./gpu/nvrtc`", name, Extension, err)
	}
	unpacked.Store(hash, string(text))
	return string(text), nil
}

// Write replaces the file of a PTX whole, or leaves it as it was. A file that has this PTX
// already keeps its bytes: another version of the compressor may write others.
func Write(name, text string) error {
	if now, err := ReadFile(name); err == nil && now == text {
		return nil
	}
	e, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedBestCompression), zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(8<<20))
	if err != nil {
		return err
	}
	packed := e.EncodeAll([]byte(text), nil)
	return atomicfile.Write(name+Extension, func(w io.Writer) error {
		_, err := w.Write(packed)
		return err
	})
}
