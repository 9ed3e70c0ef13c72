package console

import (
	"io"
	"os"
	"strings"
	"testing"
	"time"
)

// TestFullPipe: a pipe that is not read blocks no write, holds a bounded text, and the
// reader that comes later is told how much is left out.
func TestFullPipe(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	w.SetWriteDeadline(time.Now().Add(50 * time.Millisecond))
	full := 0
	for n := 1; n > 0; full += n {
		n, _ = w.WriteString(strings.Repeat("x", 1<<10))
	}
	w.SetWriteDeadline(time.Time{})
	const most, lines = 100, 1000
	c := New(w, most)
	line := strings.Repeat("z", most/2) // a letter that the line about text left out has not
	for range lines {
		c.Write([]byte(line))
	}
	if c.Flush(After(nil, time.Millisecond)) {
		t.Error("the text of a full pipe is flushed")
	}
	read := make(chan string)
	go func() {
		text, _ := io.ReadAll(r)
		read <- string(text)
	}()
	if !c.Flush(After(nil, time.Minute)) {
		t.Error("the text is not flushed although it is read")
	}
	c.Write([]byte("last"))
	c.Flush(After(nil, time.Minute))
	w.Close()
	got := <-read
	if !strings.Contains(got, " bytes are left out, because this text was not read\n") || !strings.HasSuffix(got, "last") {
		t.Errorf("the reader gets %d bytes that end in %q, want a line about those left out, and the last", len(got), got[max(0, len(got)-100):])
	}
	if kept := strings.Count(got, "z"); kept > 2*most || len(got) < full {
		t.Errorf("%d of %d bytes of a full pipe, and %d bytes that waited", len(got), full, kept)
	}
}
