package main

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"warpbook/kernel/cellproc"
	"warpbook/kernel/cellproto"
)

// TestLateOutputKeepsItsOrder: a goroutine prints while cell after cell begins and ends, so
// that its lines go in frames between cells and through the pipes during one. All arrive, in
// the order in which they were printed.
func TestLateOutputKeepsItsOrder(t *testing.T) {
	program, err := built()
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex // guards text, which comes on goroutines of the client
	var text strings.Builder
	add := func(e cellproto.Event) {
		mu.Lock()
		defer mu.Unlock()
		text.WriteString(e.Text)
	}
	s, err := cellproc.Start(cellproc.Config{Program: program, Dir: t.TempDir(), Late: func(_ int, e cellproto.Event) { add(e) }})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	run := func(code string) {
		t.Helper()
		if done, err := s.Execute(context.Background(), code, 1, add); err != nil || done.Error != nil {
			t.Fatal(code, err, done.Error)
		}
	}
	run("import \"fmt\"\nstop, stopped := make(chan int), make(chan int)\ncount := 0")
	run("go func() {\n\tfor {\n\t\tselect {\n\t\tcase <-stop:\n\t\t\tclose(stopped)\n\t\t\treturn\n\t\tdefault:\n\t\t\tfmt.Println(count)\n\t\t\tcount++\n\t\t}\n\t}\n}()")
	const cells = 300
	for range cells {
		run("_ = 1")
	}
	run("close(stop)\n<-stopped")
	run("fmt.Println(\"end\", count)")
	mu.Lock()
	defer mu.Unlock()
	lines := strings.Split(strings.TrimSuffix(text.String(), "\n"), "\n")
	for i, line := range lines[:len(lines)-1] {
		if line != fmt.Sprint(i) {
			t.Fatalf("line %d of %d is %q, after %q", i, len(lines), line, lines[max(0, i-3):i])
		}
	}
	if last := fmt.Sprint("end ", len(lines)-1); lines[len(lines)-1] != last {
		t.Errorf("the last of %d lines is %q, expected %q", len(lines), lines[len(lines)-1], last)
	}
}
