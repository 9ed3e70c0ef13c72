package buildcache

import (
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"warpbook/kernel/leaf/atomicfile"
)

// sum is the content of the file beside a program that decides whether the program is
// damaged. Reading the whole cells program takes 13 to 40 ms, longer than the kernel's
// start. So the sum also identifies the file that was verified, and the whole program
// is read again only after a change. The modification time of the sum's file is the
// time of the program's last use.
type sum struct {
	Bytes    int64     `json:"bytes"`
	CRC32C   uint32    `json:"crc32c"` // detects damage, not forgery
	Modified time.Time `json:"modified"`
}

// sumPath is hidden, so that no pattern of programs matches it.
func sumPath(path string) string {
	return filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+".sum")
}

// ErrDamaged is the error of a program whose file has changed since it was built.
var ErrDamaged = errors.New("damaged")

// Put stores a program with its checksum, complete or not at all. It writes the
// checksum to disk first, so that no damaged program passes after a crash between the
// two. Two processes must not put one program at the same time.
func Put(path string, create func(fresh string) error) error {
	err := atomicfile.Make(path, func(fresh string) error {
		if err := create(fresh); err != nil {
			return err
		}
		s, err := measure(fresh)
		if err != nil {
			return err
		}
		return s.write(path)
	})
	if err != nil {
		return fmt.Errorf("buildcache: %w", err)
	}
	return nil
}

// Remove removes a program and its checksum, and reports whether the program existed.
func Remove(path string) (bool, error) {
	err := os.Remove(path)
	found := err == nil
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	if sumErr := os.Remove(sumPath(path)); err == nil && !errors.Is(sumErr, fs.ErrNotExist) {
		err = sumErr
	}
	return found, err
}

// Verify returns why a program cannot be started: it is missing, not executable, or
// damaged. A program without a checksum, such as one built elsewhere, does not count as
// damaged. A file that is unchanged since its last verification is not read.
func Verify(path string) error { return verify(path, false) }

// VerifyWhole is Verify, but reads the whole program.
func VerifyWhole(path string) error { return verify(path, true) }

func verify(path string, whole bool) error {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s: no executable file: %w", path, fs.ErrNotExist)
	case err != nil:
		return err
	case !info.Mode().IsRegular() || info.Mode()&0o111 == 0:
		return fmt.Errorf("%s: no executable file", path)
	}
	data, err := os.ReadFile(sumPath(path))
	if err != nil {
		return nil
	}
	var want sum
	if err := json.Unmarshal(data, &want); err != nil {
		return fmt.Errorf("%s: %w: its checksum cannot be read", path, ErrDamaged)
	}
	if info.Size() != want.Bytes {
		return fmt.Errorf("%s: %w: %d bytes, expected %d", path, ErrDamaged, info.Size(), want.Bytes)
	}
	if !whole && info.ModTime().Equal(want.Modified) {
		return nil
	}
	got, err := measure(path)
	if err != nil {
		return err
	}
	if got.Bytes != want.Bytes || got.CRC32C != want.CRC32C {
		return fmt.Errorf("%s: %w: checksum %08x, expected %08x", path, ErrDamaged, got.CRC32C, want.CRC32C)
	}
	if !got.Modified.Equal(want.Modified) {
		got.write(path) // otherwise the next start reads the whole program again
	}
	return nil
}

func measure(path string) (sum, error) {
	f, err := os.Open(path)
	if err != nil {
		return sum{}, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return sum{}, err
	}
	h := crc32.New(crc32.MakeTable(crc32.Castagnoli))
	n, err := io.CopyBuffer(h, struct{ io.Reader }{f}, make([]byte, 256<<10))
	return sum{n, h.Sum32(), info.ModTime()}, err
}

func (s sum) write(path string) error {
	return atomicfile.Write(sumPath(path), func(w io.Writer) error { return json.NewEncoder(w).Encode(s) })
}

// used records that a program was used now, and ignores errors.
func used(path string) {
	now := time.Now()
	os.Chtimes(sumPath(path), now, now)
}

// LastUse returns when a program was last used, zero if it does not exist.
func LastUse(path string) time.Time {
	for _, p := range []string{sumPath(path), path} {
		if info, err := os.Stat(p); err == nil {
			return info.ModTime()
		}
	}
	return time.Time{}
}
