package session

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"warpbook/kernel/frame"
)

// notice is what a cell's stderr says of a file with the rest.
var notice = regexp.MustCompile(`warpbook: cell (\d+) wrote more than \d+ bytes; the rest is in (\S+) \(WARPBOOK_OUTPUT_BYTES sets the limit, 0 is none\)\n`)

// rest cuts the notice out of a cell's output and returns what its file holds.
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
	s := start(t, Config{OutputBytes: 10})
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

// What was cleared counts no more.
func TestOutputLimitAfterClear(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	s := start(t, Config{OutputBytes: 4})
	if got, _ := run(t, s, 1, "out 123\nclear\nout 456\nclear wait\nout 789"); got != "stdout:123|clear|stdout:456|clear|stdout:789" {
		t.Errorf("%q, expected all", got)
	}
	output, _ := run(t, s, 2, "out 12345\nclear\nout 6789")
	if shown, saved := rest(t, output); shown != "stdout:1234|stderr:[notice 2]|clear|stdout:6789" || saved != "5" {
		t.Errorf("%q and %q", shown, saved)
	}
	output, _ = run(t, s, 3, "out 12345\nclear\nout 67890")
	output = notice.ReplaceAllString(output, "") // the first: it has been cleared
	if output != "stdout:1234|stderr:|clear|stdout:6789|stderr:" {
		t.Errorf("%q, expected a notice each time", output)
	}
}

func TestLateOutputIsLimited(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	late := newRecorder()
	s := start(t, Config{OutputBytes: 5, Late: late.late})
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
	s := start(t, Config{OutputBytes: 3})
	got, failure := run(t, s, 1, "out 12345\nsleep 30\nout 6")
	if failure != nil || strings.Count(got, "warpbook: what cell 1 writes from here on is lost: ") != 1 || !strings.HasPrefix(got, "stdout:123|stderr:") || strings.Count(got, "\n") != 1 {
		t.Errorf("%q, %v, expected one notice", got, failure)
	}
}

// The file has an end too.
func TestFileOfTheRestIsLimited(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	o := &cellOutput{number: 1, saved: restBytes - 1}
	for i, test := range []struct{ text, notice string }{{"xy", "the rest is in"}, {"z", "is lost"}, {"z", ""}} {
		if _, got := o.limit(test.text, 1); !strings.Contains(got, test.notice) || (got == "") != (test.notice == "") {
			t.Errorf("%d: %q, expected %q", i, got, test.notice)
		}
	}
	o.close()
}

func TestNoOutputLimit(t *testing.T) {
	s := start(t, Config{})
	n := 0
	if _, err := s.Execute(context.Background(), "fill 3000000", 1, func(e frame.Event) { n += len(e.Text) }); err != nil || n != 3_000_000 {
		t.Errorf("%d bytes, %v", n, err)
	}
}

func TestOutputLimitOfTheEnvironment(t *testing.T) {
	for _, test := range []struct {
		text string
		want int64 // -1: refused
	}{{"", outputBytes}, {"0", 0}, {"5", 5}, {"-1", -1}, {"2MB", -1}} {
		t.Setenv(OutputEnv, test.text)
		if got, err := OutputLimit(); got != test.want && (test.want >= 0 || err == nil) {
			t.Errorf("%q: %d, %v, expected %d", test.text, got, err, test.want)
		}
	}
}
