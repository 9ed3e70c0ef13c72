package cellproc

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"warpbook/kernel/cellproto"
)

// notice matches the line on stderr that names the file with the rest.
var notice = regexp.MustCompile(`warpbook: cell (\d+) wrote more than \d+ (?:bytes|lines); the rest is in (\S+) until this kernel ends \(WARPBOOK_OUTPUT_(?:BYTES|LINES) sets the limit, 0 is none\)\n`)

// rest removes the notice from a cell's output and returns the contents of its file.
func rest(t *testing.T, output string) (shown, saved string) {
	t.Helper()
	m := notice.FindStringSubmatch(output)
	if m == nil {
		t.Fatalf("no notice in %.300q", output)
	}
	data, err := os.ReadFile(m[2])
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(m[2]); err != nil || info.Mode() != 0o600 {
		t.Errorf("%v, %v, expected mode 0600", info.Mode(), err)
	}
	return strings.Replace(output, m[0], "[notice "+m[1]+"]", 1), string(data)
}

func TestOutputLimit(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	s := start(t, Config{Output: Limit{Bytes: 10}})
	for i, test := range []struct{ script, shown, saved string }{
		{"out 12345\\n6789\\nabc", "stdout:12345\n|stderr:[notice %d]", "6789\nabc"},
		{"out 12345\\n\ndisplay a\nout 67890\\n", "stdout:12345\n|display:a|stdout:6789|stderr:[notice %d]", "0\n"},
		{"out 123456789012", "stdout:1234567890|stderr:[notice %d]", "12"},
		{"out 12345678\u4f60!", "stdout:12345678|stderr:[notice %d]", "\u4f60!"},
		{"out 1234567890\nsleep 30\nout !", "stdout:1234567890|stderr:[notice %d]", "!"},
		{"out 12345\ndisplay a\nerr 678901\ndisplay b\nout 2", "stdout:12345|display:a|stderr:67890[notice %d]|display:b", "12"},
		{"framed 12345678901\ndisplay d\nframed 2", "stdout:1234567890|stderr:[notice %d]|display:d", "12"},
	} {
		output, failure := run(t, s, i+1, test.script)
		shown, saved := rest(t, output)
		if want := fmt.Sprintf(test.shown, i+1); failure != nil || shown != want || saved != test.saved {
			t.Errorf("%q: %q and %q, %v, expected %q and %q", test.script, shown, saved, failure, want, test.saved)
		}
	}
	if got, _ := run(t, s, 9, "out 1234567890"); got != "stdout:1234567890" {
		t.Errorf("at the limit: %q", got)
	}
}

// Cleared output does not count towards the limit.
func TestOutputLimitAfterClear(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	s := start(t, Config{Output: Limit{Bytes: 4}})
	if got, _ := run(t, s, 1, "out 123\nclear\nout 456\nclear wait\nout 789"); got != "stdout:123|clear|stdout:456|clear|stdout:789" {
		t.Errorf("%q, expected all", got)
	}
	output, _ := run(t, s, 2, "out 12345\nclear\nout 6789")
	if shown, saved := rest(t, output); shown != "stdout:1234|stderr:[notice 2]|clear|stdout:6789" || saved != "5" {
		t.Errorf("%q and %q", shown, saved)
	}
	output, _ = run(t, s, 3, "out 12345\nclear\nout 67890")
	output = notice.ReplaceAllString(output, "") // the first notice was cleared
	if output != "stdout:1234|stderr:|clear|stdout:6789|stderr:" {
		t.Errorf("%q, expected a notice each time", output)
	}
}

func TestLateOutputIsLimited(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	late := newRecorder()
	s := start(t, Config{Output: Limit{Bytes: 5}, Late: late.late})
	output, _ := run(t, s, 3, "late a\nout 123456")
	if _, saved := rest(t, output); saved != "6" {
		t.Errorf("%q at the end of the cell, expected 6", saved)
	}
	s.Interrupt()
	eventually(t, "late output in the file", func() bool {
		_, saved := rest(t, output)
		return saved == "6raw late\nframed late\n" || saved == "6framed late\nraw late\n"
	})
	if late.text() != "" {
		t.Errorf("%q was delivered beyond the limit", late.text())
	}
}

func TestOutputThatNoFileTakes(t *testing.T) {
	t.Setenv("TMPDIR", filepath.Join(t.TempDir(), "none"))
	s := start(t, Config{Output: Limit{Bytes: 3}})
	got, failure := run(t, s, 1, "out 12345\nsleep 30\nout 6")
	if failure != nil || strings.Count(got, "warpbook: later output of cell 1 is lost: ") != 1 || !strings.HasPrefix(got, "stdout:123|stderr:") || strings.Count(got, "\n") != 1 {
		t.Errorf("%q, %v, expected one notice", got, failure)
	}
}

// The file with the rest is limited too.
func TestFileOfTheRestIsLimited(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	o := &cellOutput{number: 1, saved: restBytes - 1}
	for i, test := range []struct{ text, notice string }{{"xy", "the rest is in"}, {"z", "is lost"}, {"z", ""}} {
		if _, got := o.limit(test.text, Limit{Bytes: 1}); !strings.Contains(got, test.notice) || (got == "") != (test.notice == "") {
			t.Errorf("%d: %q, expected %q", i, got, test.notice)
		}
	}
	o.close()
}

func TestNoOutputLimit(t *testing.T) {
	s := start(t, Config{})
	n := 0
	if _, err := s.Execute(context.Background(), "fill 3000000", 1, func(e cellproto.Event) { n += len(e.Text) }); err != nil || n != 3_000_000 {
		t.Errorf("%d bytes, %v", n, err)
	}
}

func TestOutputLimitOfTheEnvironment(t *testing.T) {
	for _, test := range []struct {
		text         string
		bytes, lines int64 // -1: refused
	}{{"", 9, 7}, {"0", 0, 0}, {"5", 5, 5}, {"-1", -1, -1}, {"2MB", -1, -1}} {
		t.Setenv(OutputEnv, test.text)
		t.Setenv(LinesEnv, "")
		if got, err := OutputLimit(Limit{9, 7}); (err == nil) != (test.bytes >= 0) || err == nil && got != (Limit{test.bytes, 7}) {
			t.Errorf("%q: %d, %v, expected %d bytes", test.text, got, err, test.bytes)
		}
		t.Setenv(OutputEnv, "")
		t.Setenv(LinesEnv, test.text)
		if got, err := OutputLimit(Limit{9, 7}); (err == nil) != (test.lines >= 0) || err == nil && got != (Limit{9, test.lines}) {
			t.Errorf("%q: %d, %v, expected %d lines", test.text, got, err, test.lines)
		}
	}
}

// A cell that prints many short lines reaches the limit of lines before that of bytes.
func TestOutputLimitOfLines(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	s := start(t, Config{Output: Limit{Bytes: 20, Lines: 3}})
	for i, test := range []struct{ script, shown, saved, excess string }{
		{"out 1\\n2\\n3\\n4\\n", "stdout:1\n2\n3\n|stderr:[notice %d]", "4\n", "3 lines"},
		{"out 1\\n2\\n\nsleep 30\nerr 3\\n\nsleep 30\nout 4", "stdout:1\n2\n|stderr:3\n[notice %d]", "4", "3 lines"},
		{"out \\n\\n\nframed a\\nb\\n", "stdout:\n\na\n|stderr:[notice %d]", "b\n", "3 lines"},
		{"out 1\\n2345678901234567890\\n3\\n4\\n", "stdout:1\n|stderr:[notice %d]", "2345678901234567890\n3\n4\n", "20 bytes"},
	} {
		output, failure := run(t, s, i+1, test.script)
		shown, saved := rest(t, output)
		if want := fmt.Sprintf(test.shown, i+1); failure != nil || shown != want || saved != test.saved || !strings.Contains(output, "more than "+test.excess) {
			t.Errorf("%q: %q and %q, %v, expected %q and %q after %s", test.script, output, saved, failure, want, test.saved, test.excess)
		}
	}
	for _, fits := range []string{"out 1\\n2\\n3\\n", "out 1\\r2\\r3\\r4\\n5", "out 1\\n2\\n3\\n\nclear\nout 4\\n"} {
		if got, _ := run(t, s, 9, fits); strings.Contains(got, "the rest is in") {
			t.Errorf("%q: %q, expected no notice", fits, got)
		}
	}
}

// TestSessionFilesAreRemoved: Close removes the files of a session; the files of a killed
// session are removed when the next session starts.
func TestSessionFilesAreRemoved(t *testing.T) {
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	killed := filepath.Join(tmp, "warpbook-scratch-1")
	if err := os.MkdirAll(filepath.Join(killed, "cells-modules1"), 0o700); err != nil {
		t.Fatal(err)
	}
	s := start(t, Config{Output: Limit{Bytes: 1000}})
	for cell := range 5 {
		output, _ := run(t, s, cell+1, "fill 100000")
		rest(t, output)
	}
	if got, _ := run(t, s, 6, "env WARPBOOK_SCRATCH"); got != "stdout:"+s.config.folder.Path+"\n" {
		t.Errorf("the program is given %q, expected %s", got, s.config.folder.Path)
	}
	if _, failure := run(t, s, 7, "unlock"); !strings.Contains(strings.Join(failure.Traceback, "\n"), "stacks are in "+s.config.folder.Path) {
		t.Errorf("%q, expected a file with the stacks", failure.Traceback)
	}
	run(t, s, 8, "out alive")
	eventually(t, "the folder of the killed one is gone", func() bool { _, err := os.Stat(killed); return err != nil })
	s.Close()
	if left, err := os.ReadDir(tmp); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// TestFilesAreKept: with KeepFiles the files of a session stay until the next start.
func TestFilesAreKept(t *testing.T) {
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	s := start(t, Config{Output: Limit{Bytes: 10}, KeepFiles: true})
	if output, _ := run(t, s, 1, "fill 1000"); !strings.Contains(output, " until warpbook starts again (") {
		t.Errorf("%q does not say how long the file stays", output)
	}
	s.Close()
	if left, _ := filepath.Glob(filepath.Join(tmp, "*", "*.txt")); len(left) != 1 {
		t.Errorf("left %v, expected the file of the cell", left)
	}
	start(t, Config{KeepFiles: true}).Close()
	eventually(t, "nothing is left", func() bool { left, _ := os.ReadDir(tmp); return len(left) == 0 })
}
