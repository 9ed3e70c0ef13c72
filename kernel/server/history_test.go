package server

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"warpbook/kernel/history"
	"warpbook/kernel/jupyter"
)

// written waits until the file has the given number of lines.
func written(t *testing.T, path string, lines int) {
	t.Helper()
	got := 0
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		data, err := os.ReadFile(path)
		if got = bytes.Count(data, []byte("\n")); err == nil && got == lines {
			return
		}
	}
	t.Fatalf("%d lines of history, expected %d", got, lines)
}

// TestHistoryIsSavedTogether: no cell in a series waits for the file, and no cell is
// lost when the kernel ends.
func TestHistoryIsSavedTogether(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history.jsonl")
	h, err := history.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := func() int {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return bytes.Count(data, []byte("\n"))
	}
	k := startAt(t, func(*jupyter.Connection) {}, h)
	c := k.connect()
	began := time.Now()
	for range 3 {
		c.execute("value 1")
	}
	if n := lines(); n != 1 && time.Since(began) < saveAfter {
		t.Errorf("%d lines of history at once, expected that of the session", n)
	}
	k.stop("the test ends")
	<-k.stopped()
	if n := lines(); n != 4 {
		t.Errorf("%d lines of history at the end, expected 4", n)
	}
}

// TestHistoryIsSavedAtTheEnd: entries whose save failed before are saved too.
func TestHistoryIsSavedAtTheEnd(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history.jsonl")
	h, err := history.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	failed := make(chan error, 1)
	p := past{history: h, failed: func(err error) { failed <- err }}
	if err := errors.Join(os.Rename(path, path+".away"), os.Mkdir(path, 0o700)); err != nil {
		t.Fatal(err)
	}
	p.add(0, 1, "x := 1", "")
	if err := <-failed; err == nil {
		t.Fatal("a folder took the history")
	}
	if err := errors.Join(os.Remove(path), os.Rename(path+".away", path)); err != nil {
		t.Fatal(err)
	}
	p.save()
	written(t, path, 2)
}

// A second kernel lists the cells of the first.
func TestHistorySurvivesRestarts(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history.jsonl")
	connect := func() *client {
		past, err := history.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		return startAt(t, func(*jupyter.Connection) {}, past).connect()
	}
	first := connect()
	for _, code := range []string{"value 1", "value 2", "fail no"} {
		first.execute(code)
	}
	id := first.send("shell", "execute_request", `{"code":"value silent","silent":true}`)
	first.reply("shell", id)
	written(t, path, 4)
	second := connect()
	second.execute("value 2")
	for _, test := range []struct{ request, want string }{
		{`{"hist_access_type":"tail","n":3,"output":false,"raw":true}`, `[1,2,"value 2"],[1,3,"fail no"],[2,1,"value 2"]`},
		{`{"hist_access_type":"range","session":-1,"start":2,"stop":4,"output":true}`, `[1,2,["value 2","2"]],[1,3,["fail no",null]]`},
		{`{"hist_access_type":"range","session":0}`, `[2,1,"value 2"]`},
		{`{"hist_access_type":"search","pattern":"*2","unique":true}`, `[2,1,"value 2"]`},
		{`{"hist_access_type":"search","pattern":"value ?","n":2,"output":true}`, `[1,2,["value 2","2"]],[2,1,["value 2","2"]]`},
		{`{"hist_access_type":"search","pattern":"none"}`, ``},
	} {
		id = second.send("shell", "history_request", test.request)
		if got, want := second.reply("shell", id), `history_reply {"history":[`+test.want+`],"status":"ok"}`; got != want {
			t.Errorf("%s: %s, expected %s", test.request, got, want)
		}
	}
	id = second.send("shell", "history_request", `{"hist_access_type":"all"}`)
	if got, want := second.reply("shell", id), "history_reply "+wrong(`server: history_request: hist_access_type "all", expected range, tail or search`); got != want {
		t.Errorf("%s, expected %s", got, want)
	}
}

// TestLockedHistoryBlocksNothing: another process that keeps the file locked delays
// neither a cell nor a history request. A save waits for 200 ms, and a busy machine may
// delay the test for longer: it must be quicker in one of several tries.
func TestLockedHistoryBlocksNothing(t *testing.T) {
	const tries = 20
	for range tries {
		if quickerThanTheLock(t) {
			return
		}
	}
	t.Errorf("in each of %d tries a cell or a question waited for the file", tries)
}

// quickerThanTheLock adds cells and asks for them while a save waits for the lock, and
// reports whether it still waits afterwards.
func quickerThanTheLock(t *testing.T) (quicker bool) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "history.jsonl")
	h, err := history.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	p := past{history: h, failed: func(error) {}}
	lock, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	p.add(0, 1, "a", "")
	saved := make(chan struct{})
	go func() { p.save(); close(saved) }()
	time.Sleep(20 * time.Millisecond) // the save waits for the lock
	for line := 2; line < 100; line++ {
		p.add(0, line, "b", "")
	}
	entries, err := p.find(0, historyRequest{Access: "tail"})
	select {
	case <-saved:
	default:
		quicker = true
	}
	if err != nil || len(entries) != 99 {
		t.Errorf("%d cells found, %v, expected 99", len(entries), err)
	}
	<-saved
	lock.Close()
	p.save()
	written(t, path, 100)
	return quicker
}
