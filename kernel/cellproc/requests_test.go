package cellproc

import (
	"os"
	"strings"
	"testing"
	"time"

	"warpbook/kernel/cellproto"
)

// TestPostWhileThePipeIsFull: while a request that fills the pipe is being written,
// post accepts further requests at once; they are written afterwards, in order.
func TestPostWhileThePipeIsFull(t *testing.T) {
	in, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	defer out.Close()
	q := requests{file: out}
	first := make(chan error, 1)
	go func() { first <- q.post(cellproto.Request{ID: 1, Code: strings.Repeat("x", 1<<20)}) }()
	for writes := false; !writes; time.Sleep(time.Millisecond) {
		q.mu.Lock()
		writes = q.writing
		q.mu.Unlock()
	}
	for id := uint64(2); id <= 9; id++ {
		if err := q.post(cellproto.Request{ID: id}); err != nil {
			t.Fatal(err)
		}
	}
	for id := uint64(1); id <= 9; id++ {
		var r cellproto.Request
		if err := cellproto.Read(in, &r); err != nil || r.ID != id {
			t.Fatalf("request %d, %v, expected %d", r.ID, err, id)
		}
	}
	if err := <-first; err != nil {
		t.Error(err)
	}
	in.Close()
	if err := q.post(cellproto.Request{}); err == nil {
		t.Error("no error from a pipe without a reader")
	}
}
