//go:build !windows

package main

import (
	"encoding/csv"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"warpbook/kernel/compare"
	"warpbook/kernel/kernelspec"
	"warpbook/kernel/leaf/atomicfile"
	"warpbook/kernel/runs"
)

type historyOptions struct {
	verb, argument           string
	notebook, device, commit string
	limit                    int
	html                     string
	force                    bool
}

// historyVerbs are the verbs of history, each with its arguments.
var historyVerbs = map[string]string{"list": "", "show": "ID", "plot": "ROW", "export": "FILE.csv or FOLDER"}

func parseHistory(args []string) (o historyOptions, err error) {
	f := newFlags("history")
	f.StringVar(&o.notebook, "notebook", "", "only runs of the notebook whose name contains `TEXT`")
	f.StringVar(&o.device, "device", "", "only runs whose device contains `TEXT`")
	f.StringVar(&o.commit, "commit", "", "only runs whose commit contains `TEXT`")
	o.limit = 20
	count(f, &o.limit, "limit", "list at most `N` runs, 0 for all (default 20)")
	f.StringVar(&o.html, "html", "", "plot: write the times as one HTML page to `FILE`")
	f.BoolVar(&o.force, "force", false, forceUsage)
	others, err := parseAny(f, args)
	if err != nil {
		return o, err
	}
	if o.verb = "list"; len(others) > 0 {
		o.verb, others = others[0], others[1:]
	}
	needs, known := historyVerbs[o.verb]
	switch {
	case !known:
		return o, usageError{fmt.Errorf("history: unknown verb %q, expected list, show ID, plot ROW or export FILE.csv|FOLDER", o.verb)}
	case needs == "" && len(others) != 0:
		return o, usageError{fmt.Errorf("history %s: %d arguments, expected none, see warpbook history --help", o.verb, len(others))}
	case needs != "" && len(others) != 1:
		return o, usageError{fmt.Errorf("history %s: %d arguments, expected one: %s", o.verb, len(others), needs)}
	case needs != "":
		o.argument = others[0]
	}
	return o, nil
}

// historyCommand lists, shows, plots or exports the runs that warpbook run has kept.
func historyCommand(args []string) error {
	o, err := parseHistory(args)
	if err != nil {
		return err
	}
	data, err := kernelspec.DataDir()
	if err != nil {
		return err
	}
	folder := runs.Folder(data)
	if folder == "" {
		return fmt.Errorf("history: %s is off, expected a folder, or unset for the default", runs.Env)
	}
	all, err := runs.History(folder)
	if err != nil {
		return err
	}
	var list []runs.Summary
	for _, s := range all {
		if s.Problem != nil {
			fmt.Fprintf(os.Stderr, "warpbook: history: %s is left out: %v\n", s.ID, s.Problem)
		} else if strings.Contains(s.Notebook, o.notebook) && s.Has("device", o.device) && s.Has("commit", o.commit) {
			list = append(list, s)
		}
	}
	switch o.verb {
	case "show":
		return showRun(os.Stdout, list, o.argument)
	case "plot":
		return o.plot(os.Stdout, list)
	case "export":
		return export(list, o.argument, o.force)
	}
	if o.notebook+o.device+o.commit != "" {
		folder += " with that notebook, device and commit"
	}
	return listRuns(os.Stdout, list, o.limit, folder)
}

func listRuns(w io.Writer, list []runs.Summary, limit int, folder string) error {
	if len(list) == 0 {
		_, err := fmt.Fprintln(w, "no runs in", folder)
		return err
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "ID\tdevice\tcommit\tresult\tseconds")
	for i, s := range list {
		if i == limit && limit > 0 {
			t.Flush()
			fmt.Fprintf(w, "%d more: --limit 0 lists all\n", len(list)-i)
			return nil
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%.1f\n", s.ID, s.Says("device"), s.Says("commit"), result(s), s.Seconds)
	}
	return t.Flush()
}

// result is a run's outcome in one word or two.
func result(s runs.Summary) string {
	text := "failed"
	switch {
	case s.Passed:
		text = "passed"
	case !s.Complete:
		text = "partial"
	}
	return fmt.Sprintf("%s, %d of %d rows", text, s.Rows.Passed, s.Rows.Total)
}

// showRun shows the newest run whose ID contains a text.
func showRun(w io.Writer, list []runs.Summary, id string) error {
	for _, s := range list {
		if !strings.Contains(s.ID, id) {
			continue
		}
		fmt.Fprintf(w, "%s: %s, %.1f s, %s\n", s.ID, result(s), s.Seconds, s.Path)
		for _, name := range runs.EnvironmentOrder {
			for _, text := range s.Environment[name] {
				fmt.Fprintf(w, "%s: %s\n", name, text)
			}
		}
		title := ""
		for _, r := range s.Timed {
			if r.Title != title {
				title = r.Title
				fmt.Fprintf(w, "\n%s\n", title)
			}
			fmt.Fprintf(w, "  %-32s %s\n", r.Row, compare.Duration(r.Median))
		}
		return nil
	}
	return fmt.Errorf("history: no run with %q in its ID, expected one that warpbook history lists", id)
}

// plot shows the times of a row over all runs, the oldest first.
func (o *historyOptions) plot(w io.Writer, list []runs.Summary) error {
	var points []compare.Point
	for i := len(list) - 1; i >= 0; i-- {
		for _, r := range list[i].Timed {
			if r.Row == o.argument {
				points = append(points, compare.Point{At: list[i].Started, Run: list[i].ID, Device: list[i].Says("device"), Commit: list[i].Says("commit"), Timed: r})
			}
		}
	}
	if len(points) == 0 {
		return fmt.Errorf("history: no run has timed %q, expected the whole name of a row", o.argument)
	}
	series := compare.Series{Row: o.argument, Points: points}
	if o.html != "" {
		err := mayReplace(o.html, o.force)
		if err == nil {
			err = atomicfile.Write(o.html, series.HTML)
		}
		if err != nil {
			return fmt.Errorf("history: %w", err)
		}
	}
	return series.Text(w)
}

// export writes every timed row of the runs as CSV, or the runs' files into a folder.
func export(list []runs.Summary, to string, force bool) error {
	if filepath.Ext(to) == ".csv" {
		err := mayReplace(to, force)
		if err == nil {
			err = atomicfile.Write(to, func(w io.Writer) error { return writeCSV(w, list) })
		}
		if err != nil {
			return fmt.Errorf("history: %w", err)
		}
		fmt.Printf("wrote the rows of %d runs to %s\n", len(list), to)
		return nil
	}
	if err := os.MkdirAll(to, 0o777); err != nil {
		return fmt.Errorf("history: %w", err)
	}
	for _, s := range list {
		path := filepath.Join(to, s.ID+".json")
		data, err := runs.Open(s.Path, 1<<30)
		if err == nil {
			err = mayReplace(path, force)
		}
		if err == nil {
			err = atomicfile.Write(path, func(w io.Writer) error { _, err := w.Write(data); return err })
		}
		if err != nil {
			return fmt.Errorf("history: %w", err)
		}
	}
	fmt.Printf("wrote %d runs into %s\n", len(list), to)
	return nil
}

func writeCSV(w io.Writer, list []runs.Summary) error {
	c := csv.NewWriter(w)
	c.Write([]string{"run", "started", "notebook", "device", "commit", "title", "row", "clock", "median_ns", "low_ns", "high_ns"})
	for _, s := range list {
		for _, r := range s.Timed {
			ns := func(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }
			c.Write([]string{s.ID, s.Started.Format(time.RFC3339), s.Notebook, s.Says("device"), s.Says("commit"), r.Title, r.Row, r.Clock, ns(r.Median), ns(r.Low), ns(r.High)})
		}
	}
	c.Flush()
	return c.Error()
}
