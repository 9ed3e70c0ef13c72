package main

import (
	"flag"
	"fmt"
	"go/types"
	"math/rand"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"warpbook/kernel/cells/corpus"
)

var soakSteps = flag.Int("soak", 100, "edits and reruns of TestSoak")

// soaked is a notebook of programs whose cells are edited and run again in a session that
// goes on. One goroutine uses it.
type soaked struct {
	t        *testing.T
	r        *rand.Rand
	program  string // the cells program
	pool     []soakProgram
	notebook []soakProgram
	session  *corpus.Session
	methods  map[string]bool // "T.M" of all programs that have run in the session
}

// soakProgram are cells that need no others. Now is their text, with edits. A program that
// starts goroutines is not edited: an edit could remove its wait for them.
type soakProgram struct {
	name       string
	cells, now []string
	starts     bool // goroutines
}

var goStatement = regexp.MustCompile(`(?m)\bgo +(func\b|[\w.]+\()`)

// TestSoak edits and reruns cells of the corpora at random, while goroutines use functions
// and types of cells. Every 250 steps all cells run once, in order, there and in a fresh
// session: both print the same.
func TestSoak(t *testing.T) {
	program, err := built()
	if err != nil {
		t.Fatal(err)
	}
	seed, err := strconv.ParseInt(os.Getenv("WARPBOOK_SEED"), 10, 64)
	if err != nil { // a release does not fail by the chance of an edit; other seeds are tried between releases
		seed = 1
	}
	t.Logf("%d steps, WARPBOOK_SEED=%d", *soakSteps, seed)
	s := &soaked{t: t, r: rand.New(rand.NewSource(seed)), program: program, pool: soakPool(t), methods: map[string]bool{}}
	s.session = s.start()
	if a := s.session.Run(alive); a.Failure != "" {
		t.Fatal(a.Failure)
	}
	defer func() { s.session.Close() }()
	for range 10 {
		s.notebook = append(s.notebook, s.draw())
	}
	s.runAll(s.session)
	for step := range *soakSteps {
		s.step()
		if step%250 == 249 || step == *soakSteps-1 {
			s.compare(step)
			t.Logf("%d steps", step+1)
		}
		if t.Failed() {
			return
		}
	}
}

// registries are what a program can enter once, and state of the process: their programs
// are left out, and those that end the process or print what differs from run to run.
var registries = regexp.MustCompile(`slog\.|gob\.Register|\bflag\.|DefaultServeMux|http\.Handle|expvar\.|sql\.Register|image\.RegisterFormat|` +
	`os\.(Exit|Chdir|Setenv|Args|Stdout *=|Stderr *=)|\.Set(Output|Flags|Prefix|Default|LogLoggerLevel)\(|signal\.|GOMAXPROCS|debug\.Set|` +
	`time\.(Now|Since|Sleep|After|Tick)|rand\.|runtime\.|unsafe|%p|0x|maphash|log\.(Fatal|Panic)|exec\.|go:|syscall|testing\.|unique\.|weak\.`)

// predeclared are declarations that give a name of Go another meaning, for the programs
// beside theirs too: complex, _ := time.ParseDuration("1h10m10s").
var predeclared = regexp.MustCompile(strings.ReplaceAll(`(?m)^(type|func|var|const) *\(?\s*(NAMES)\b|^[\w, ]*\b(NAMES)\b[\w, ]*:=`, "NAMES", strings.Join(types.Universe.Names(), "|")))

// soakPool are programs of the three corpora: examples as functions and cut into
// statements, run-tests cut into declarations, and sequences without errors or warnings.
func soakPool(t *testing.T) (pool []soakProgram) {
	root, examples := examples(t)
	add := func(name string, cells []string) {
		if text := strings.Join(cells, "\n"); !registries.MatchString(text) && !predeclared.MatchString(text) {
			pool = append(pool, soakProgram{name: name, cells: cells, starts: goStatement.MatchString(text)})
		}
	}
	for _, x := range examples {
		for _, form := range []corpus.Form{corpus.Called, corpus.Statements} {
			declare, run := x.Cells(form)
			if corpus.LeftExamples(form)[x.Name] == "" {
				add(x.Name+" "+string(form), slices.Concat(declare, run))
			}
		}
	}
	dir, left := filepath.Join(root, "test"), corpus.LeftGoTests(true)
	names, _ := corpus.GoTests(dir, nil) // a toolchain without the folder has none
	for _, name := range names {
		src, err := os.ReadFile(filepath.Join(dir, name))
		if err == nil && left[name] == "" {
			if cells, err := corpus.Cut(string(src)); err == nil {
				add(name, cells)
			}
		}
	}
	files, _ := filepath.Glob("testdata/*.txt")
	for _, f := range files {
		for _, s := range readSequences(t, f) {
			var cells []string
			plain := !slices.Contains(deep, s.name) && !slices.Contains(once, s.name) && s.name != "forward references in a cell" // it reads a variable of the session, if there is one
			for _, step := range s.cells {
				cells = append(cells, step.code)
				plain = plain && step.want["error"] == "" && step.want["stderr"] == "" && step.want["display"] == "" && !strings.Contains(step.code, "%")
			}
			if plain {
				add(s.file+" "+s.name, cells)
			}
		}
	}
	return pool
}

// alive are goroutines that use functions and types of cells until the session ends.
const alive = `type soakShape interface{ soakArea() float64 }
type soakSquare struct{ side float64 }
func (s soakSquare) soakArea() float64 { return s.side * s.side }
func soakWork(n int) (sum float64) {
	for i := range n { var s soakShape = soakSquare{float64(i)}; sum += s.soakArea() }
	return sum
}
soakChannel := make(chan float64, 4)
for range 3 {
	go func() { for n := 0; ; n++ { soakChannel <- soakWork(n % 20) } }()
}
go func() { total := 0.0; for x := range soakChannel { total += x } }()`

func (s *soaked) start() *corpus.Session {
	session, err := corpus.Start(s.program, s.t.TempDir(), 5*time.Second)
	if err != nil {
		s.t.Fatal(err)
	}
	return session
}

// draw chooses a program that ends without an error in a fresh session, quickly: so a seed
// repeats a run on a machine that is as fast.
func (s *soaked) draw() soakProgram {
	for {
		p := s.pool[s.r.Intn(len(s.pool))]
		p.now = slices.Clone(p.cells)
		fresh, begun := s.start(), time.Now()
		failure, _, _ := corpus.RunAll(fresh, p.cells)
		fresh.Close()
		if failure == "" && time.Since(begun) < 2*time.Second {
			for method := range methodsIn(p) {
				s.methods[method] = true
			}
			return p
		}
	}
}

// run runs a cell in the session and fails the test if the program ends or has an internal error.
func (s *soaked) run(session *corpus.Session, name, code string) corpus.Answer {
	a := session.Run(code)
	if strings.HasPrefix(a.Failure, "program ended") || strings.Contains(a.Failure, "internal error") {
		s.t.Errorf("%s: %s\n%s", name, a.Failure, code)
	}
	return a
}

// runAll runs all cells in order, those of a program until one fails, and returns their
// answers. A program that starts goroutines has one answer: what they print may arrive in
// the cell that starts them or in one that waits for them.
func (s *soaked) runAll(session *corpus.Session) (answers []string) {
	for _, p := range s.notebook {
		failed, printed := false, ""
		for _, code := range p.now {
			answer := "not run"
			if !failed {
				a := s.run(session, p.name, code)
				answer, failed = a.Stdout+versions.ReplaceAllString(a.Failure, ""), a.Failure != ""
			}
			answers = append(answers, fmt.Sprintf("%s\n%s\n-> %s", p.name, code, answer))
			printed += answer
		}
		if p.starts {
			first := len(answers) - len(p.now)
			answers = append(answers[:first], fmt.Sprintf("%s\n%s\n-> %s", p.name, strings.Join(p.now, "\n---\n"), printed))
		}
	}
	return answers
}

// versions are numbers that differ between sessions: of cells, and of types declared again.
var versions = regexp.MustCompile(`·[\d-]+|cell \d+|\[recovered\]`)

// step runs a cell again, edits one and runs it and those below it, takes an edit back, or
// puts a program in the place of another. A program with a cell that fails, such as a loop
// without end, gets its own text again: what a cell that ended early has left differs.
func (s *soaked) step() {
	p := &s.notebook[s.r.Intn(len(s.notebook))]
	i := s.r.Intn(len(p.now))
	fine := true
	switch kind := s.r.Intn(100); {
	case kind < 2:
		*p = s.draw()
		fine = s.runProgram(p, 0)
	case kind < 30 && !p.starts:
		p.now[i] = s.edit(p.now[i])
		fine = s.runProgram(p, i)
	case kind < 40:
		p.now[i] = p.cells[i]
		fine = s.runProgram(p, i)
	default:
		s.run(s.session, p.name, p.now[i]) // it may need variables that a program beside it has changed
	}
	if !fine {
		p.now = slices.Clone(p.cells)
		s.runProgram(p, 0)
	}
}

// runProgram runs the cells of a program from one on, until one fails.
func (s *soaked) runProgram(p *soakProgram, from int) (fine bool) {
	for _, code := range p.now[from:] {
		if s.run(s.session, p.name, code).Failure != "" {
			return false
		}
	}
	return true
}

var digit = regexp.MustCompile(`\b\d\b`)

// edit changes a number of a cell, adds a statement, or adds a comment.
func (s *soaked) edit(code string) string {
	places := digit.FindAllStringIndex(code, -1)
	switch kind := s.r.Intn(4); {
	case kind < 2 && len(places) > 0:
		at := places[s.r.Intn(len(places))]
		return code[:at[0]] + strconv.Itoa(s.r.Intn(10)) + code[at[1]:]
	case kind == 2 && !strings.HasPrefix(code, "//"):
		return code + fmt.Sprintf("\nprintln(%d)", s.r.Intn(10))
	}
	return fmt.Sprintf("// %d\n", s.r.Intn(10)) + code
}

// compare runs all cells in order, in the session and in a fresh one. A goroutine that a
// step has left may print while its program runs next, so a program that starts goroutines
// gets a second run.
func (s *soaked) compare(step int) {
	fresh := s.start()
	defer fresh.Close()
	there, here := s.runAll(fresh), s.runAll(s.session)
	var again []string
	slow := "" // the program whose cell took too long in one of the two, which is the machine's load, or that inherits
	for i := range here {
		if strings.Contains(here[i]+there[i], "-> "+corpus.Longer) {
			slow, _, _ = strings.Cut(here[i], "\n")
		}
		if slow != "" && strings.HasPrefix(here[i], slow+"\n") {
			continue
		}
		if here[i] != there[i] && goStatement.MatchString(here[i]) {
			if again == nil {
				again = s.runAll(s.session)
			}
			here[i] = again[i]
		}
		if name, _, _ := strings.Cut(here[i], "\n"); here[i] != there[i] && s.inherits(name) {
			s.t.Logf("after %d steps %s has a method of another program", step+1, name)
			slow = name
			continue
		}
		if here[i] != there[i] {
			s.t.Errorf("after %d steps the session prints\n%s\n--- a fresh one\n%s\n--- all cells before\n%s", step+1, here[i], there[i], strings.Join(there[:i], "\n---\n"))
			return
		}
	}
}

var (
	methodOf = regexp.MustCompile(`(?m)^func \((?:\w+ )?\*?(\w+)[^)]*\) (\w+)`)
	typeOf   = regexp.MustCompile(`(?m)^type (\w+)`)
)

// methodsIn are the methods that a program declares, as "T.M".
func methodsIn(p soakProgram) map[string]bool {
	list := map[string]bool{}
	for _, m := range methodOf.FindAllStringSubmatch(strings.Join(p.cells, "\n"), -1) {
		list[m[1]+"."+m[2]] = true
	}
	return list
}

// inherits reports whether a program declares a type for which another one has declared a
// method that it lacks: a type that is declared again keeps the methods of other cells, so a
// fresh session differs.
func (s *soaked) inherits(name string) bool {
	at := slices.IndexFunc(s.notebook, func(p soakProgram) bool { return p.name == name })
	own := methodsIn(s.notebook[at])
	for _, t := range typeOf.FindAllStringSubmatch(strings.Join(s.notebook[at].cells, "\n"), -1) {
		for method := range s.methods {
			if strings.HasPrefix(method, t[1]+".") && !own[method] {
				return true
			}
		}
	}
	return false
}
