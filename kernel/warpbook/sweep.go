//go:build !windows

package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"warpbook/kernel/cellbuild"
	"warpbook/kernel/leaf/console"
	"warpbook/kernel/nbformat"
	"warpbook/kernel/sweep"
)

type sweepOptions struct {
	notebook, out string
	axes          []sweep.Axis
	devices       []string
	engine        string
	slurm         sweep.Slurm
	point         int // -1: all
}

func parseSweep(args []string) (o sweepOptions, err error) {
	f := newFlags("sweep")
	f.StringVar(&o.out, "out", "sweep", "write the points and the report into `DIR`; points that have passed there are not run again")
	f.Func("set", "run at every value of a variable: `NAME=VALUE,VALUE,...`; may be repeated", func(text string) error {
		a, err := sweep.ParseAxis(text)
		o.axes = append(o.axes, a)
		return err
	})
	devices := f.String("devices", "", "run one point at a time on each of these devices, such as `cuda:0,cuda:1`")
	f.StringVar(&o.engine, "engine", local, "`ENGINE` is local, this machine, or slurm, one array job of a Slurm cluster")
	f.StringVar(&o.slurm.Partition, "partition", "", "slurm: the `PARTITION`")
	f.StringVar(&o.slurm.GPUs, "gpus", "", "slurm: the `GPUS` of each point, such as 1 or h100:1")
	f.StringVar(&o.slurm.Time, "time", "", "slurm: the `LIMIT` of each point, such as 30:00")
	count(f, &o.slurm.Concurrent, "concurrency", "slurm: at most `N` points at once (default any number)")
	o.point = -1
	count(f, &o.point, "point", "run only point `N`, from 0, without a report: what a cluster's task calls")
	others, err := parse(f, args, 1)
	if err != nil {
		return o, err
	}
	if len(o.axes) == 0 {
		return o, usageError{errors.New("sweep: no --set, expected at least one: --set n=1e5,1e6,1e7")}
	}
	o.notebook, o.devices = others[0], strings.Split(*devices, ",")
	switch {
	case o.engine != local && o.engine != "slurm":
		err = fmt.Errorf("sweep: --engine %s, expected local or slurm", o.engine)
	case o.engine == local && o.slurm != sweep.Slurm{}:
		err = errors.New("sweep: --partition, --gpus, --time and --concurrency need --engine slurm")
	case *devices != "" && slices.Contains(o.devices, ""):
		err = fmt.Errorf("sweep: --devices %s: a name is empty, expected names such as cuda:0,cuda:1", *devices)
	}
	if err != nil {
		err = usageError{err}
	}
	return o, err
}

// local is the engine that runs the points on this machine.
const local = "local"

// check refuses a notebook that could be run at no point.
func (o *sweepOptions) check() error {
	nb, err := nbformat.Read(o.notebook)
	if err != nil {
		return err
	}
	if err := nb.CheckKernel(kernelName, language); err != nil {
		return err
	}
	for _, axis := range o.axes {
		for _, value := range axis.Values {
			if err := nb.SetParameters([]nbformat.Parameter{{Name: axis.Name, Value: value}}); err != nil {
				return err
			}
		}
	}
	return nil
}

// sweepCommand runs the missing points, then merges all points.
func sweepCommand(args []string) error {
	o, err := parseSweep(args)
	if err != nil {
		return err
	}
	if err := o.check(); err != nil {
		return err
	}
	plan, err := sweep.NewPlan(o.notebook, o.axes, o.out)
	if err != nil {
		return err
	}
	program, err := os.Executable()
	if err != nil {
		return fmt.Errorf("sweep: %w", err)
	}
	notices := console.New(os.Stderr, 0)
	ctx, _, stop := withSignals(notices)
	defer stop()
	defer notices.Flush(console.After(ctx.Done(), blockedGrace))
	if _, err := cellbuild.Cells(ctx, notices); err != nil { // once, with its progress, instead of in every point
		return orSignal(ctx, showBuild(notices, err))
	}
	if o.point >= 0 {
		return orSignal(ctx, plan.One(ctx, program, o.notebook, o.point, notices))
	}
	var failed error
	if o.engine == "slurm" {
		failed = o.slurm.Submit(ctx, plan, program, o.notebook, notices)
	} else {
		failed = plan.Local(ctx, program, o.notebook, o.devices, notices)
	}
	if failed != nil && ctx.Err() != nil { // the error is the signal
		fmt.Fprintln(notices, "warpbook:", failed)
	}
	report, paths, err := plan.Merge()
	if err != nil {
		return errors.Join(orSignal(ctx, failed), err)
	}
	for _, m := range report.Missing {
		fmt.Printf("missing: %s: %s\n", m.Point, m.Why)
	}
	fmt.Printf("%s: %d rows of %d points, %d missing\nwrote %s\n", o.notebook, len(report.Rows), len(plan.Points()), len(report.Missing), strings.Join(paths, ", "))
	return orSignal(ctx, failed)
}
