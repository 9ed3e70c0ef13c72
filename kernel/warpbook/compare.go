//go:build !windows

package main

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strconv"
	"strings"

	"warpbook/kernel/compare"
	"warpbook/kernel/kernelspec"
	"warpbook/kernel/leaf/atomicfile"
	"warpbook/kernel/runs"
)

type compareOptions struct {
	sets             []string
	html, md, json   string
	force            bool
	same, failSlower percent
}

// percent is a flag such as 5%, as a share. An unset flag is NaN.
type percent float64

func (p *percent) String() string { return strconv.FormatFloat(float64(*p)*100, 'g', 3, 64) + "%" }

func (p *percent) Set(text string) error {
	value, err := strconv.ParseFloat(strings.TrimSuffix(text, "%"), 64)
	if err != nil || !strings.HasSuffix(text, "%") || !(value >= 0 && value <= 1e6) {
		return errors.New("expected a percentage such as 5%")
	}
	*p = percent(value / 100)
	return nil
}

func parseCompare(args []string) (o compareOptions, err error) {
	o.same, o.failSlower = 0.01, percent(math.NaN())
	f := newFlags("compare")
	f.StringVar(&o.html, "html", "", "write the comparison as one HTML page to `FILE`")
	f.StringVar(&o.md, "md", "", "write it as Markdown to `FILE`")
	f.StringVar(&o.json, "json", "", "write it as JSON to `FILE`")
	f.BoolVar(&o.force, "force", false, forceUsage)
	f.Var(&o.same, "same", "call a difference of up to `PERCENT` SAME")
	f.Func("fail-on-slower", "exit with 1 where a row is SLOWER by more than `PERCENT`, such as 5%", o.failSlower.Set)
	if o.sets, err = parseAny(f, args); err == nil && len(o.sets) < 2 {
		err = usageError{fmt.Errorf("compare: %d arguments beside flags, expected two or more: files of runs, folders, device:NAME or commit:HASH", len(o.sets))}
	}
	return o, err
}

// compareCommand compares runs with the first one.
func compareCommand(args []string) error {
	o, err := parseCompare(args)
	if err != nil {
		return err
	}
	report, err := o.compare()
	if err != nil {
		return err
	}
	for _, out := range []struct {
		path string
		fill func(io.Writer) error
	}{{o.html, report.HTML}, {o.md, report.Markdown}, {o.json, report.JSON}} {
		if out.path == "" {
			continue
		}
		err := mayReplace(out.path, o.force, o.sets...)
		if err == nil {
			err = atomicfile.Write(out.path, out.fill)
		}
		if err != nil {
			return fmt.Errorf("compare: %w", err)
		}
	}
	if err := report.Text(os.Stdout); err != nil {
		return fmt.Errorf("compare: %w", err)
	}
	return o.judge(report)
}

// compare reads the sets. device: and commit: select from the runs that warpbook run
// has kept.
func (o *compareOptions) compare() (report compare.Report, err error) {
	data, err := kernelspec.DataDir()
	if err != nil {
		return nil, err
	}
	var sets []compare.Set
	for _, argument := range o.sets {
		set, err := compare.Load(argument, runs.Folder(data))
		if err != nil {
			return nil, err
		}
		sets = append(sets, set)
	}
	for _, b := range sets[1:] {
		c := compare.Compare(sets[0], b, compare.Options{Same: float64(o.same)})
		if len(c.Rows) == 0 {
			return nil, fmt.Errorf("compare: no timed row in common: %s has %s, %s has %s, expected runs of one notebook with the same parameters",
				c.A, firstTimed(c.OnlyA), c.B, firstTimed(c.OnlyB))
		}
		report = append(report, c)
	}
	return report, nil
}

// firstTimed names the first of timed rows.
func firstTimed(keys []runs.Key) string {
	if len(keys) == 0 {
		return "none"
	}
	return fmt.Sprintf("%q of %s", keys[0].Title, keys[0].Notebook)
}

// judge returns the error of --fail-on-slower.
func (o *compareOptions) judge(report compare.Report) error {
	for _, c := range report {
		if !math.IsNaN(float64(o.failSlower)) && !c.Judged() {
			return fmt.Errorf("compare: %s: --fail-on-slower: no row has a verdict: one of %s and %s is a GPU, the other an emulation; expected two of a kind", c.B, c.A, c.B)
		}
		if slower := c.SlowerThan(float64(o.failSlower)); len(slower) > 0 {
			r := slower[0]
			return fmt.Errorf("compare: %s: %d rows are SLOWER by more than %s, the first %q of %q (ratio %.3f)", c.B, len(slower), &o.failSlower, r.Key.Row, r.Title, r.Ratio)
		}
	}
	return nil
}
