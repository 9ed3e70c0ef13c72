package buildcache

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"warpbook/kernel/leaf/atomicfile"
)

// script is a program that a shell runs; each build appends a line to builds.
func script(t *testing.T, text string) (p Program, dir string, builds func() int) {
	t.Helper()
	cache := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", cache)
	var mu sync.Mutex
	n := 0
	p = Program{Prefix: "p-", Key: "1", Title: "the script", Keep: 2, Build: func(_ context.Context, path string, _ io.Writer) error {
		mu.Lock()
		n++
		mu.Unlock()
		return os.WriteFile(path, []byte("#!/bin/sh\n"+text+"\n"), 0o755)
	}}
	return p, filepath.Join(cache, "warpbook"), func() int {
		mu.Lock()
		defer mu.Unlock()
		return n
	}
}

func names(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, e := range entries {
		list = append(list, e.Name())
	}
	return strings.Join(list, " ")
}

func TestGetBuildsOnceForAll(t *testing.T) {
	p, dir, builds := script(t, "echo hello")
	if err := os.MkdirAll(filepath.Join(dir, ".p-building1", "deep"), 0o755); err != nil { // left by a killed build
		t.Fatal(err)
	}
	var group sync.WaitGroup
	for range 5 {
		group.Go(func() {
			if path, err := p.Get(context.Background(), io.Discard); err != nil || path != filepath.Join(dir, "p-1") {
				t.Errorf("%s, %v", path, err)
			}
		})
	}
	group.Wait()
	if builds() != 1 {
		t.Errorf("%d builds, expected 1", builds())
	}
	if got := names(t, dir); got != ".p-1.sum .p-lock p-1" {
		t.Errorf("cache holds %q", got)
	}
	if _, err := p.Renew(t.Context(), io.Discard); err != nil || builds() != 2 {
		t.Errorf("%d builds, %v, expected one more", builds(), err)
	}
}

func TestFailedBuildLeavesNothing(t *testing.T) {
	p, dir, _ := script(t, "")
	broken := errors.New("broken")
	p.Build = func(_ context.Context, path string, _ io.Writer) error {
		os.WriteFile(path, []byte("half"), 0o755)
		return broken
	}
	if _, err := p.Get(t.Context(), io.Discard); !errors.Is(err, broken) {
		t.Errorf("%v, expected %v", err, broken)
	}
	if got := names(t, dir); got != ".p-lock" {
		t.Errorf("cache holds %q", got)
	}
}

func TestGetWaitsInterrupted(t *testing.T) {
	p, dir, _ := script(t, "")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(filepath.Join(dir, ".p-lock"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := atomicfile.Lock(t.Context(), f, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString("another script"); err != nil { // as the holder of the lock does
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var said bytes.Buffer
	_, err = p.Get(ctx, writer(func(data []byte) (int, error) { cancel(); return said.Write(data) }))
	if !errors.Is(err, context.Canceled) || said.String() != "warpbook: waiting for another warpbook that builds another script\n" {
		t.Errorf("%v, %q, expected to wait and to end with ctx", err, &said)
	}
}

type writer func([]byte) (int, error)

func (w writer) Write(data []byte) (int, error) { return w(data) }

// TestVerify: every change of a program's bytes is found at the first check;
// VerifyWhole finds it even if times and length are unchanged.
func TestVerify(t *testing.T) {
	p, dir, _ := script(t, "echo "+strings.Repeat("x", 1000))
	path := filepath.Join(dir, "p-1")
	rewrite := func(change func(data []byte) []byte) func() {
		return func() {
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, change(data), 0o755); err != nil {
				t.Fatal(err)
			}
		}
	}
	old := func(damage func()) func() {
		return func() {
			info, err := os.Stat(path)
			if err != nil {
				t.Fatal(err)
			}
			damage()
			os.Chtimes(path, info.ModTime(), info.ModTime())
		}
	}
	flip := rewrite(func(data []byte) []byte { data[500] ^= 1; return data })
	for _, test := range []struct {
		name         string
		damage       func()
		quick, whole string // in the error; "": none
	}{
		{"none", func() {}, "", ""},
		{"touched", func() { os.Chtimes(path, time.Now(), time.Now().Add(-time.Hour)) }, "", ""},
		{"truncated", rewrite(func(data []byte) []byte { return data[:500] }), "damaged: 500 bytes, expected 101", "damaged: 500 bytes"},
		{"empty", rewrite(func([]byte) []byte { return nil }), "damaged: 0 bytes", "damaged: 0 bytes"},
		{"one bit", flip, "damaged: checksum", "damaged: checksum"},
		{"one bit, with the old time", old(flip), "", "damaged: checksum"},
		{"gone", func() { os.Remove(path) }, "no executable file", "no executable file"},
		{"not executable", func() { os.Chmod(path, 0o644) }, "no executable file", "no executable file"},
		{"bad checksum", func() { os.WriteFile(sumPath(path), []byte("{"), 0o644) }, "damaged: its checksum cannot be read", "damaged"},
		{"no checksum", func() { os.Remove(sumPath(path)); flip() }, "", ""},
	} {
		if _, err := p.Renew(t.Context(), io.Discard); err != nil {
			t.Fatal(err)
		}
		test.damage()
		for want, err := range map[string]error{test.quick: Verify(path), test.whole: VerifyWhole(path)} {
			if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, expected %q", test.name, err, want)
			}
		}
	}
}

// TestPutNeverPassesDamage: whenever a process is killed, a file that it leaves passes
// only if it is undamaged.
func TestPutNeverPassesDamage(t *testing.T) {
	path := filepath.Join(t.TempDir(), "p")
	text := "one"
	put := func() error {
		return Put(path, func(fresh string) error { return os.WriteFile(fresh, []byte(text), 0o755) })
	}
	if err := put(); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	text = "other"
	if err := put(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, before, 0o755); err != nil { // killed before the program was moved
		t.Fatal(err)
	}
	if err := Verify(path); !errors.Is(err, ErrDamaged) {
		t.Errorf("%v, expected the older program to be found", err)
	}
	if found, err := Remove(path); !found || err != nil || names(t, filepath.Dir(path)) != "" {
		t.Errorf("%v, %v, left %q", found, err, names(t, filepath.Dir(path)))
	}
}

func TestPrune(t *testing.T) {
	p, dir, _ := script(t, "")
	for i := range 4 {
		p.Key = fmt.Sprint(i)
		path, err := p.Get(t.Context(), io.Discard)
		if err != nil {
			t.Fatal(err)
		}
		used := time.Now().Add(time.Duration(i-10) * time.Hour)
		os.Chtimes(sumPath(path), used, used)
		if i == 2 { // version 1 is used again
			p.Key = "1"
			if _, err := p.Get(t.Context(), io.Discard); err != nil {
				t.Fatal(err)
			}
		}
	}
	if got := names(t, dir); got != ".p-1.sum .p-3.sum .p-lock p-1 p-3" {
		t.Errorf("left %q, expected the two used last", got)
	}
	if got := Newest(dir, "p-"); got != filepath.Join(dir, "p-1") {
		t.Errorf("newest %s", got)
	}
	if got := Newest(dir, "q-"); got != "" {
		t.Errorf("newest of none: %s", got)
	}
}
