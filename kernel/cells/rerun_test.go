package main

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"warpbook/kernel/cellproto"
	"warpbook/kernel/cells/corpus"
	"warpbook/kernel/engine/split"
)

// A cell that runs again declares nothing new: it answers as its statements alone do.
// TestReruns compares two sessions, for each sequence of testdata. Both run each cell
// twice; in the second one the repetition has the statements of the cell and none of its
// declarations. Neighbours share two sessions, because to start one takes longer than most
// sequences: between two of them is %reset. A sequence that fails where others have run runs
// again in new sessions, and that outcome counts.

// once are the sequences with a cell that cannot run twice.
var once = []string{
	"composites of a type that is declared anew keep the old type",       // sends to a full channel
	"maps, channels and functions of a type whose cell runs again",       // the same
	"goroutines keep the method that they began with",                    // the same
	"a type gets methods under functions, channels, maps and goroutines", // receives from an empty channel
	"a channel of a type that gets a method",                             // the same
	"goroutines over cells",                                              // closes a channel, and ends more workers than it adds
	"misuses for which the runtime ends the process",                     // a finalizer of the first run may come before that of the second
}

func TestReruns(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no sequences", err)
	}
	var all []*sequence
	for _, f := range files {
		for _, s := range readSequences(t, f) {
			if !slices.Contains(deep, s.name) && !slices.Contains(once, s.name) {
				all = append(all, s)
			}
		}
	}
	some := sample(t, all, 40)
	slices.SortFunc(some, func(a, b *sequence) int { return cmp.Or(cmp.Compare(a.file, b.file), cmp.Compare(a.line, b.line)) })
	for group := range slices.Chunk(some, max(20, len(some)/8)) {
		t.Run(strings.TrimSuffix(group[0].file, ".txt")+":"+strconv.Itoa(group[0].line), func(t *testing.T) {
			t.Parallel()
			checkReruns(t, group)
		})
	}
}

func checkReruns(t *testing.T, group []*sequence) {
	var again, statements *client
	for i := 0; i < len(group); i++ {
		alone := again == nil
		if alone {
			again, statements = start(t, corpus.RareCollections), start(t, corpus.RareCollections)
		}
		difference := group[i].rerun(again, statements)
		if difference == "" && again.reset() && statements.reset() {
			continue
		}
		again, statements = nil, nil // they end with the test
		if alone && difference != "" {
			t.Error(difference)
		} else if !alone {
			i--
		}
	}
}

// sample chooses n items, and all of them with WARPBOOK_LONG.
func sample[T any](t *testing.T, all []T, n int) []T {
	t.Helper()
	if os.Getenv("WARPBOOK_LONG") != "" {
		return all
	}
	return choose(t, all, n)
}

// choose chooses n items by a printed seed, which WARPBOOK_SEED repeats.
func choose[T any](t *testing.T, all []T, n int) []T {
	t.Helper()
	if len(all) <= n {
		return all
	}
	seed, err := strconv.ParseInt(os.Getenv("WARPBOOK_SEED"), 10, 64)
	if err != nil {
		seed = time.Now().UnixNano()
	}
	t.Logf("%d of %d, WARPBOOK_SEED=%d", n, len(all), seed)
	rand.New(rand.NewSource(seed)).Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all[:n]
}

// reset removes the names of a sequence, and ends the goroutines that it has left.
func (c *client) reset() (ok bool) {
	ok = c.run("%reset").Error == nil
	c.wait(c.send(cellproto.Request{Type: cellproto.Interrupt}))
	c.out.take()
	c.err.take()
	return ok
}

// rerun compares two sessions cell by cell, and returns the first difference, "" if there is none.
func (s *sequence) rerun(again, statements *client) string {
	for _, step := range s.cells {
		code := strings.TrimSuffix(step.code, "\n")
		repetition := code
		if _, first := answers(again, code, statements, code); !strings.HasPrefix(first["error"], "compile error") {
			repetition = withoutDeclarations(code)
		}
		got, want := answers(again, code, statements, repetition)
		for _, part := range slices.Sorted(maps.Keys(want)) {
			if got[part] != want[part] && !strings.Contains(step.want["stdout"], "~") {
				return fmt.Sprintf("%s:%d: %s: run again:\n%s\n--- %s\n%s\n--- of its statements alone\n%s", s.file, step.line, s.name, code, part, got[part], want[part])
			}
		}
	}
	return ""
}

// answers runs a cell in each of two sessions at once.
func answers(a *client, codeA string, b *client, codeB string) (ofA, ofB map[string]string) {
	var wait sync.WaitGroup
	wait.Go(func() { ofA = a.answer(codeA) })
	ofB = b.answer(codeB)
	wait.Wait()
	return ofA, ofB
}

// cellNumber is the number of a cell in a message, which differs between the sessions.
var cellNumber = regexp.MustCompile(`\bcell ?\d+`)

// answer runs a cell and returns the parts of its answer.
func (c *client) answer(code string) map[string]string {
	e := c.run(code)
	got := map[string]string{"error": "", "display": ""}
	var wait sync.WaitGroup // for both streams at once
	wait.Go(func() { got["stdout"] = c.out.take() })
	stderr := ofTypes(c.err.take())
	wait.Wait()
	got["stderr"] = stderr
	got["value"], _ = e.Data["text/plain"].(string)
	if e.Error != nil {
		got["error"] = e.Error.Name + ": " + e.Error.Value + "\n" + strings.Join(e.Error.Traceback, "\n")
	}
	for {
		select {
		case d := <-c.shown:
			got["display"] += fmt.Sprintln(d.Data["text/plain"])
			continue
		default:
		}
		break
	}
	for part, text := range got {
		got[part] = cellNumber.ReplaceAllString(text, "cell N")
	}
	return got
}

// ofTypes are the warnings that a cell leaves old types or functions behind. Those of
// vet's analysers are about the text of the cell.
func ofTypes(stderr string) (warnings string) {
	for line := range strings.Lines(stderr) {
		if strings.Contains(line, " keeps ") || strings.Contains(line, " no longer compiles ") {
			warnings += line
		}
	}
	return warnings
}

// withoutDeclarations is a cell with blanks in place of its declarations.
func withoutDeclarations(code string) string {
	pieces, errs := split.Cell(code)
	if len(errs) > 0 {
		return code
	}
	text := []byte(code)
	for _, p := range pieces {
		if p.Kind == split.Import || p.Kind == split.Const || p.Kind == split.Type || p.Kind == split.Func && !strings.HasPrefix(code[p.Start:p.End], "func init()") {
			for i := p.Start; i < p.End; i++ {
				if text[i] != '\n' {
					text[i] = ' '
				}
			}
		}
	}
	return string(text)
}
