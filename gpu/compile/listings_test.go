package compile

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"warpbook/gpu"
	"warpbook/gpu/compile/compiler"
	"warpbook/gpu/compile/listings"
	"warpbook/gpu/emu"
)

// TestListings pastes every CUDA listing of the founding notes into a %%cuda
// cell: each runs on the emulator or is answered with what to change.
func TestListings(t *testing.T) {
	needNVRTC(t, "12.0")
	head, list := listings.All()
	for i := range list {
		l := &list[i]
		got := answer(t, l.Source)
		if strings.TrimSpace(got) == "" {
			t.Errorf("%s: no answer", l.Name())
		}
		if !*update && got != l.Answer {
			t.Errorf("%s\n--- got\n%s--- want\n%s", l.Name(), got, l.Answer)
		}
		l.Answer = got
	}
	if *update {
		if err := os.WriteFile("listings/"+listings.File, []byte(listings.Text(head, list)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// answer is the error that a reader sees, then the result of following it: templates
// are instantiated, and names defined in a line before the others.
func answer(t *testing.T, source string) string {
	var b strings.Builder
	var o Options
	for range 4 {
		m, err := CUDA(context.Background(), "listing.cu", source, o)
		tell(t, &b, m, err)
		names, lines := followed(err)
		if len(names)+len(lines) == 0 {
			break
		}
		o.Instantiate = append(o.Instantiate, names...)
		source = strings.Join(append(lines, source), "\n")
		fmt.Fprintf(&b, "then, with %s:\n", strings.Join(append(names, lines...), " and "))
	}
	return b.String()
}

// followed are the instantiation and the definitions that an error advises. The reader
// gives a name whose value the notes leave out 32 for a side of a tile, and else 256.
func followed(err error) (names, lines []string) {
	wrong := (*Error)(nil)
	if !errors.As(err, &wrong) {
		return nil, nil
	}
	for _, d := range wrong.Diagnostics {
		if _, name, ok := strings.Cut(d.Text, "--instantiate '"); ok {
			names = append(names, strings.TrimSuffix(name, "'"))
		}
		if _, line, ok := strings.Cut(d.Text, "define it in the cell with its value: "); ok {
			value := "256"
			if strings.Contains(line, "TILE") {
				value = "32"
			}
			lines = append(lines, strings.Replace(line, "...", value, 1))
		}
		if _, line, ok := strings.Cut(d.Text, "define it in the cell: "); ok && !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
	}
	return names, lines
}

func tell(t *testing.T, b *strings.Builder, m *Module, err error) {
	wrong := (*Error)(nil)
	switch {
	case errors.As(err, &wrong):
		for _, d := range wrong.Diagnostics {
			fmt.Fprintf(b, "%d:%d: %s\n", d.Line, d.Col, d.Text)
		}
	case err != nil:
		t.Errorf("no *Error: %v", err)
	default:
		for _, e := range m.Entries {
			fmt.Fprintf(b, "%v: %s\n", e, tryLaunch(t, e))
		}
	}
}

// tryLaunch launches an entry on 64 KiB a pointer and 64 for every number.
func tryLaunch(t *testing.T, e *Entry) string {
	dev, err := emu.Open("")
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Close()
	dev.(*emu.Device).LimitWorkers(1)
	dev.(*emu.Device).LimitSteps(1 << 20)
	entry, err := e.On(dev)
	if err != nil {
		return err.Error()
	}
	l := gpu.Launch{Grid: gpu.Dim{X: 2}, Block: gpu.Dim{X: 256}, Shared: 4096, Checks: gpu.CheckAll}
	if strings.Contains(e.source, "threadIdx.y") {
		l.Block = gpu.Dim{X: 16, Y: 16}
	}
	for i, p := range entry.Params() {
		l.Args = append(l.Args, argument(t, dev, p, e.params[i]))
	}
	if err := e.Run(dev, l); err != nil {
		return err.Error()
	}
	return "runs"
}

func argument(t *testing.T, dev gpu.Device, p gpu.Param, of parameter) any {
	if strings.Contains(of.typ, "*") {
		element, known := of.element()
		if !known {
			element = gpu.Int32
		}
		b, err := dev.Alloc(element, 1<<16/element.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		if err := dev.Zero(b); err != nil {
			t.Fatal(err)
		}
		return b.Label(of.name)
	}
	switch p.Type {
	case "f32":
		return float32(1)
	case "u64", "b64", "s64":
		return uint64(64)
	}
	return uint32(64)
}

// needNVRTC skips a test where NVRTC of a release is not there.
func needNVRTC(t *testing.T, release string) {
	t.Helper()
	reply, err := compiler.Run(context.Background(), compiler.Request{Name: "x.cu", Text: "__global__ void f() {}", Options: []string{"--gpu-architecture=compute_75"}})
	if err != nil {
		t.Skip("needs NVRTC: ", err)
	}
	if reply.Missing || release != "" && reply.Release != release {
		t.Skipf("needs NVRTC %s, there is %q %s", release, reply.Release, reply.Error)
	}
}
