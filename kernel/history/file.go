package history

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"syscall"
	"time"

	"warpbook/kernel/leaf/atomicfile"
)

// How long to wait for other kernels to release the file. What is not saved is saved with
// the next cell, but a session that does not open the file has no history.
const openTime, lockTime = 2 * time.Second, 200 * time.Millisecond

// locked calls f with the file, which no other kernel writes meanwhile.
func (h *History) locked(limit time.Duration, f func(*os.File) error) error {
	for deadline := time.Now().Add(limit); ; time.Sleep(time.Millisecond) {
		file, err := h.tryLock()
		if err != nil {
			return err
		}
		if file != nil {
			defer file.Close() // unlocks it
			return f(file)
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("%s: locked for %v by another kernel", h.path, limit)
		}
	}
}

// tryLock returns the locked file, or nil if another kernel holds it or has just
// replaced it by a shorter one.
func (h *History) tryLock() (*os.File, error) {
	file, err := os.OpenFile(h.path, os.O_RDWR|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	opened, err := file.Stat()
	if err == nil && !opened.Mode().IsRegular() {
		err = fmt.Errorf("%s: %v, expected a file", h.path, opened.Mode())
	}
	if err == nil {
		err = flock(file)
	}
	if err == nil {
		if now, statErr := os.Stat(h.path); statErr == nil && os.SameFile(opened, now) {
			return file, nil
		}
	}
	file.Close()
	if err == syscall.EWOULDBLOCK || err == syscall.EINTR {
		err = nil
	}
	return nil, err
}

// appendTo writes entries with one call, each on its own line, also when the last line
// of the file is incomplete.
func appendTo(f *os.File, entries []Entry) error {
	var text bytes.Buffer
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	if last := []byte{'\n'}; size > 0 {
		if _, err := f.ReadAt(last, size-1); err != nil {
			return err
		}
		if last[0] != '\n' {
			text.WriteByte('\n')
		}
	}
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	for _, e := range entries {
		if err := encoder.Encode(e); err != nil {
			return err
		}
	}
	_, err = f.Write(text.Bytes())
	return err
}

// trim replaces a file that has grown too long by its newer half.
func (h *History) trim(f *os.File) error {
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil || size <= fileBytes {
		return err
	}
	half := make([]byte, fileBytes/2)
	if _, err := f.ReadAt(half, size-int64(len(half))); err != nil {
		return err
	}
	_, whole, _ := bytes.Cut(half, []byte("\n"))
	return atomicfile.WriteMode(h.path, 0o600, func(w io.Writer) error {
		_, err := w.Write(whole)
		return err
	})
}
