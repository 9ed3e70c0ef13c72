//go:build !windows

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"warpbook/gpu"
	"warpbook/gpu/compile"
	"warpbook/gpu/device"
	"warpbook/ops"
	"warpbook/ops/bench"
	"warpbook/ops/peers"
	"warpbook/ops/results"
)

// kernel is one of --with.
type kernel struct {
	file  string
	entry string // "" for the only one of the file
	like  string
	name  string // of the rung, once it is compiled

	// seen is what an audit on the emulator rejects, on a GPU: there counters tell more.
	seen string
}

// addKernel adds a FILE.cu:KERNEL of --with.
func (o *options) addKernel(text string) error {
	file, entry := text, ""
	if i := strings.LastIndexByte(text, ':'); i >= 0 && !strings.HasSuffix(text, ".cu") && !strings.HasSuffix(text, ".ptx") {
		file, entry = text[:i], text[i+1:]
	}
	if ext := filepath.Ext(file); ext != ".cu" && ext != ".ptx" {
		return fmt.Errorf("%q: expected FILE.cu:KERNEL or FILE.ptx:ENTRY", text)
	}
	o.with = append(o.with, kernel{file: file, entry: entry})
	return nil
}

// checkKernels gives each kernel its rung of --like, or all the only one.
func (o *options) checkKernels() error {
	switch {
	case len(o.with) == 0 && len(o.likes) == 0:
		return nil
	case len(o.with) == 0:
		return errors.New("--like without --with, expected both")
	case len(o.likes) != 1 && len(o.likes) != len(o.with):
		return fmt.Errorf("--with %d kernels and %d rungs of --like: expected one of --like for all, or one for each; it names the rung that a kernel is launched like", len(o.with), len(o.likes))
	}
	for i := range o.with {
		o.with[i].like = o.likes[min(i, len(o.likes)-1)]
		if _, err := o.operator.Variant(o.with[i].like); err != nil {
			return err
		}
	}
	return nil
}

// withKernels compiles the kernels of --with and puts them into the ladder, each after the
// rung that it is launched like.
func (o *options) withKernels(d gpu.Device, log io.Writer, stopped <-chan os.Signal) error {
	for i := range o.with {
		k := &o.with[i]
		entry, err := k.compile(o.arch, log, stopped)
		if err != nil {
			return err
		}
		k.name = entry.Name()
		if o.operator, err = o.operator.With(ops.Rung{Entry: entry, Like: k.like, After: k.like, Adds: k.file}); err != nil {
			return err
		}
		if len(o.variants) > 0 && !slices.Contains(o.variants, k.name) {
			o.variants = append(o.variants, k.name)
		}
	}
	if _, err := o.operator.Choose(o.variants); err != nil || d.Info().Emulated {
		return err
	}
	return o.auditEmulated(log)
}

// compile compiles the kernel's file.
func (k *kernel) compile(arch string, log io.Writer, stopped <-chan os.Signal) (*compile.Entry, error) {
	text, err := os.ReadFile(k.file)
	if err != nil {
		return nil, fmt.Errorf("--with: %w", err)
	}
	options := compile.Options{Arch: arch}
	if strings.Contains(k.entry, "<") {
		options.Instantiate = []string{k.entry}
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		select {
		case <-stopped:
			cancel()
		case <-ctx.Done():
		}
	}()
	name := filepath.Base(k.file)
	var m *compile.Module
	if filepath.Ext(k.file) == ".ptx" {
		m, err = compile.PTX(name, string(text), 1)
	} else {
		m, err = compile.CUDA(ctx, name, string(text), options)
	}
	switch wrong := (*compile.Error)(nil); {
	case ctx.Err() != nil:
		return nil, fmt.Errorf("interrupted while %s was compiled", k.file)
	case errors.As(err, &wrong):
		for _, d := range wrong.Diagnostics[1:] {
			fmt.Fprintf(log, "bench: %s:%d:%d: %s\n", name, d.Line, d.Col, d.Text)
		}
		return nil, fmt.Errorf("--with: %w", err)
	case err != nil:
		return nil, fmt.Errorf("--with %s: %w", k.file, err)
	}
	if m.Note != "" {
		fmt.Fprintln(log, "bench:", m.Note)
	}
	for _, d := range m.Warnings {
		fmt.Fprintf(log, "bench: %s:%d:%d: warning: %s\n", name, d.Line, d.Col, d.Text)
	}
	return k.choose(m)
}

// choose is the entry that --with names.
func (k *kernel) choose(m *compile.Module) (*compile.Entry, error) {
	switch {
	case k.entry == "" && len(m.Entries) == 1:
		return m.Entries[0], nil
	case k.entry == "":
		var names []string
		for _, e := range m.Entries {
			names = append(names, e.Name())
		}
		return nil, fmt.Errorf("--with %s: the file has %d kernels, expected one of them by name: %s:%s", k.file, len(names), k.file, strings.Join(names, ", "))
	case strings.Contains(k.entry, "<"): // its instance alone is compiled, or the last
		return m.Entries[len(m.Entries)-1], nil
	}
	return m.Entry(k.entry)
}

// auditEmulated audits the kernels at a small size on the emulator, which counts: a kernel
// that does less in timed runs is seen there.
func (o *options) auditEmulated(log io.Writer) error {
	size := o.smallSize()
	if size == nil {
		return nil
	}
	d, err := device.Open("emu")
	if err != nil {
		return err
	}
	defer d.Close()
	b, err := ops.NewBench(d, o.operator, o.seed, size...)
	if err != nil {
		return err
	}
	defer b.Close()
	b.Audits, b.Repeats = true, 5
	for i := range o.with {
		k := &o.with[i]
		l, err := b.Time(k.name)
		if errors.Is(err, gpu.ErrUnsupported) {
			fmt.Fprintln(log, "bench: not audited on the emulator:", err)
			continue
		}
		if err != nil {
			return err
		}
		if row := l.Rows[0]; row.Audit.Rejected != "" {
			k.seen = fmt.Sprintf("on the emulator, %s: %s", o.operator.Describe(size), row.Audit.Rejected)
		} else if row.Verdict != ops.Pass {
			fmt.Fprintf(log, "bench: %s: %s on the emulator, %s\n", k.name, row.Verdict, o.operator.Describe(size))
		}
	}
	return nil
}

// smallSize is the largest size of the operator's tests that the emulator runs in a second;
// nil if there is none.
func (o *options) smallSize() (size ops.Size) {
	most := -1.0
	for _, c := range o.operator.Cases {
		work := o.operator.Work(c.Size)
		if c.Long || c.OnGPU || c.Data != "" || work.Bytes > 4<<20 || work.Operations > 4e6 {
			continue
		}
		if work.Bytes > most {
			size, most = c.Size, work.Bytes
		}
	}
	return size
}

// judged is the figure of a rung with what concerns kernels of --with: what an audit on the
// emulator has seen, why a result is wrong, and the emulator's counters of each rung.
func (o options) judged(b *ops.Bench, f peers.Figure) (peers.Figure, error) {
	i := slices.IndexFunc(o.with, func(k kernel) bool { return k.name == f.Name })
	switch {
	case len(o.with) == 0:
	case f.Verdict == ops.Fail && i >= 0:
		why, err := failure(b, f.Name)
		f.Note = why
		return f, err
	case f.Verdict != ops.Pass:
	case i >= 0 && o.with[i].seen != "":
		return peers.Figure{Kind: f.Kind, Operator: f.Operator, Name: f.Name, Size: f.Size, L2: f.L2, Method: f.Method,
			Verdict: results.Rejected, Device: f.Device, Environment: f.Environment, Note: o.with[i].seen}, nil
	default:
		counters, err := emulated(b, f.Name)
		f.Counters = counters
		return f, err
	}
	return f, nil
}

// failure says why the result of a rung is wrong.
func failure(b *ops.Bench, name string) (string, error) {
	checks, err := b.Check(name)
	if err != nil {
		return "", err
	}
	row := checks.Rows[0]
	if row.Verdict == ops.Pass {
		return "right in its first run and wrong after the timed runs", nil
	}
	return strings.TrimSuffix(fmt.Sprintf("fails %s: %s", strings.Join(row.Failed, ", "), row.Detail), ": "), nil
}

// startOwn starts the programs of --peer.
func (o options) startOwn(d gpu.Device) (all []*peers.Own, err error) {
	for _, line := range o.own {
		own, err := peers.StartOwn(context.Background(), line, d.Info().UUID)
		if err != nil {
			return all, err
		}
		all = append(all, own)
	}
	return all, nil
}

// printOwn prints the figures of the programs of --peer. One that cannot go on is named
// once, and right is false.
func printOwn(b *ops.Bench, programs []*peers.Own, o options, out, log io.Writer) (right bool, err error) {
	right = true
	for i, own := range programs {
		if own == nil {
			continue
		}
		fmt.Fprintln(log, "bench:", own.Name)
		f, err := bench.OwnPeer(b, own)
		if errors.Is(err, gpu.ErrInterrupted) {
			return false, err
		}
		if err != nil {
			fmt.Fprintln(log, "bench: not run:", err)
			own.Close()
			programs[i], right = nil, false
			continue
		}
		right = right && f.Verdict == ops.Pass
		if err := o.print(out, f); err != nil {
			return false, err
		}
	}
	return right, nil
}

// emulated are the counters of a rung on the emulator; nil on a GPU and for compiled Go.
func emulated(b *ops.Bench, variant string) (any, error) {
	if v, err := b.Operator().Variant(variant); err != nil || v.Host != nil {
		return nil, err
	}
	counts, err := b.Count(variant)
	if errors.Is(err, gpu.ErrUnsupported) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return counts.Rows[0].Total, nil
}
