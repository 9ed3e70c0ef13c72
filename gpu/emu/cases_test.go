package emu

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"math"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"warpbook/gpu"
)

//go:generate go run ../nvrtc -plain -arch sm_80 -release 12.0 testdata/cases.cu

// userCase is a kernel of testdata/cases.cu: how it is launched, and what is said of the
// mistake. A case without a kind has no mistake that the emulator names.
type userCase struct {
	name string
	run  func(c *caseRun)
	kind error
	says []string // by a launch that asks for all checks

	plain     bool // a launch without checks says the kind, or plainKind, too
	plainKind error
	plainSays string
	values    bool // the mistake shows in the values of a plain launch
	sms       int  // multiprocessors of the GPU, 0 for those of an H200
	ends      bool // it ends without a mistake in both forms
}

// caseRun is a launch of one of a pair.
type caseRun struct {
	*testing.T
	device *Device
	entry  gpu.Entry
	checks gpu.Checks
	ok     bool // it is the corrected twin
	shared int

	warnings []*gpu.Fault
	err      error
	wrong    string // the first value that is not as expected
}

// found is the fault of the launch, or its first warning that is no note.
func (c *caseRun) found() error {
	for _, f := range c.warnings {
		if c.err == nil && f.Kind != gpu.ErrSameValue {
			return f
		}
	}
	return c.err
}

func (c *caseRun) launch(grid, block gpu.Dim, args ...any) {
	c.err = c.device.Launch(gpu.Launch{Entry: c.entry, Grid: grid, Block: block, Shared: c.shared, Args: args, Checks: c.checks, Warnings: &c.warnings})
}

// up is a buffer with values, of a Go type that has a gpu.Type.
func up[T any](c *caseRun, t gpu.Type, values []T) gpu.Buffer {
	b, err := c.device.Alloc(t, len(values))
	if err == nil {
		err = b.Upload(values)
	}
	if err != nil {
		c.Fatal(err)
	}
	return b
}

func (c *caseRun) floats(n int, at func(i int) float32) gpu.Buffer {
	return up(c, gpu.Float32, values(n, at))
}

func (c *caseRun) ints(n int, at func(i int) int32) gpu.Buffer {
	return up(c, gpu.Int32, values(n, at))
}

// values are n values.
func values[T any](n int, at func(i int) T) []T {
	v := make([]T, n)
	for i := range v {
		v[i] = at(i)
	}
	return v
}

func zero[T any](int) (v T) { return v }

// same compares a buffer with the expected values.
func same[T float32 | float64 | int32 | uint32 | uint8](c *caseRun, b gpu.Buffer, within float64, at func(i int) T) {
	got := make([]T, b.Len())
	if err := b.Download(got); err != nil {
		c.Fatal(err)
	}
	for i, v := range got {
		if want := at(i); c.wrong == "" && !(math.Abs(float64(v)-float64(want)) <= within) {
			c.wrong = fmt.Sprintf("element %d is %v, expected %v", i, v, want)
		}
	}
}

func x(n int) gpu.Dim { return gpu.Dim{X: n} }

// TestCases runs the kernels of users. The mistake must be named by a launch that asks for
// all checks, and by a plain one where the case says so; the corrected twin must be clean
// and right in both.
func TestCases(t *testing.T) {
	source, err := os.ReadFile("testdata/cases.cu")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("testdata/cases.sm_80.ptx")
	if err != nil {
		t.Fatal(err)
	}
	if sum := fmt.Sprintf("%x", sha256.Sum256(source)); !strings.Contains(string(text), sum) {
		t.Error("cases.sm_80.ptx is not of today's cases.cu: run `go generate ./gpu/emu`")
	}
	var names []string
	for _, u := range userCases {
		if names = append(names, u.name); sampled() {
			continue
		}
		t.Run(u.name, func(t *testing.T) { u.check(t, string(text), string(source)) })
	}
	for _, m := range regexp.MustCompile(`(?m)^CASE\((\w+),`).FindAllSubmatch(source, -1) {
		if !slices.Contains(names, string(m[1])) {
			t.Errorf("%s is in cases.cu and not in the table", m[1])
		}
	}
}

// launch runs one of a pair.
func (u userCase) launch(t *testing.T, text, form string, checks gpu.Checks) *caseRun {
	t.Helper()
	device, e := loadEntryFor(t, cmp.Or(u.sms, 132), only(text, form+u.name), form+u.name)
	device.LimitWorkers(1)
	c := &caseRun{T: t, device: device, entry: e, checks: checks, ok: form == "ok_"}
	u.run(c)
	if err := device.Close(); err != nil {
		t.Error(err)
	}
	return c
}

func (u userCase) check(t *testing.T, text, source string) {
	run := func(form string, checks gpu.Checks) *caseRun { return u.launch(t, text, form, checks) }
	for _, checks := range []gpu.Checks{0, gpu.CheckAll | gpu.CheckBlockRaces} {
		if c := run("ok_", checks); c.found() != nil || c.wrong != "" {
			t.Errorf("the corrected twin, checks %v: %v %s", checks, c.found(), c.wrong)
		}
	}
	plain, searched := run("bad_", 0), run("bad_", gpu.CheckAll|gpu.CheckBlockRaces)
	if u.values != (plain.wrong != "" && plain.err == nil) && !u.plain {
		t.Errorf("values of a plain launch: %q, expected wrong ones: %v", plain.wrong, u.values)
	}
	if plain.found() != nil != u.plain {
		t.Errorf("a plain launch: %v, expected a mistake: %v", plain.found(), u.plain)
	}
	if kind := cmp.Or(u.plainKind, u.kind); u.plain && !errors.Is(plain.found(), kind) {
		t.Errorf("a plain launch: %v, expected %v", plain.found(), kind)
	}
	if u.plainSays != "" && !strings.Contains(fmt.Sprint(plain.found()), u.plainSays) {
		t.Errorf("a plain launch: %v, expected it to say %q", plain.found(), u.plainSays)
	}
	err := searched.found()
	if u.kind == nil {
		if err != nil {
			t.Errorf("%v, expected no mistake", err)
		}
		return
	}
	var f *gpu.Fault
	if !errors.As(err, &f) || f.Kind != u.kind {
		t.Fatalf("%v, expected %v", err, u.kind)
	}
	for _, words := range u.says {
		if !strings.Contains(err.Error(), words) {
			t.Errorf("%v, expected it to say %q", err, words)
		}
	}
	if strings.Contains(f.Detail, "put __syncthreads() there") && f.Thread.X/32 == f.Other.Thread.X/32 {
		t.Errorf("%v, expected threads of two warps", err)
	}
	mark := defect{corpus: "cases"}.markOf
	if !strings.Contains(mark(source, f.Source), "defect") || f.Other != nil && !strings.Contains(mark(source, f.Other.Source), "earlier") {
		t.Errorf("%v, expected lines that are marked", err)
	}
	t.Log(err)
}
