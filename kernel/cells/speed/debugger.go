package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"text/tabwriter"

	"warpbook/kernel/cellbuild"
	"warpbook/kernel/cellproc"
	"warpbook/kernel/cellproto"
)

// debuggedRows are the workloads of debugger.go.txt.
var debuggedRows = []struct{ name, text string }{
	{"loop", "loop of 2e7 additions"},
	{"product", "1e6 products, float64"},
	{"calls", "fib(27), recursive"},
	{"methods", "2e6 method calls"},
	{"interfaces", "2e5 calls by an interface"},
	{"closures", "2e5 calls of a closure"},
	{"goroutines", "2e4 goroutines"},
}

// debugger compares cells of a program without the debugger, cells without a client, with
// one, and with breakpoints in each function that are never hit.
func debugger(turns int, only string) error {
	cells, err := cellbuild.Cells(context.Background(), os.Stderr)
	if err != nil {
		return err
	}
	text, err := sources.ReadFile("debugger.go.txt")
	if err != nil {
		return err
	}
	without := cellproc.Config{Program: cells, Env: append(os.Environ(), "WARPBOOK_DEBUGGER=off")}
	sides := []side{
		{"without", func(row string) (string, error) { return inCellOf(without, string(text), row) }},
		{"cell", func(row string) (string, error) { return inCell(cells, string(text), row) }},
		{"attached", func(row string) (string, error) { return underDebugger(cells, string(text), row, false) }},
		{"breakpoints", func(row string) (string, error) { return underDebugger(cells, string(text), row, true) }},
	}
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "row\twithout\tcell\tdebugger\tbreakpoints\tcell/without\tdebugger/cell\tbreakpoints/cell\t")
	for _, r := range debuggedRows {
		if !chosen(r.name, only) {
			continue
		}
		least, err := measure(sides, r.name, turns)
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "%s\t%.4f\t%.4f\t%.4f\t%.4f\t%.3f\t%.2f\t%.2f\t\n", r.text, least[0], least[1], least[2], least[3], least[1]/least[0], least[2]/least[1], least[3]/least[1])
	}
	return w.Flush()
}

// underDebugger runs a row with a debugger attached. Breakpoints are on the lines that
// never run.
func underDebugger(cells, text, row string, breakpoints bool) (string, error) {
	s, err := cellproc.Start(cellproc.Config{Program: cells})
	if err != nil {
		return "", err
	}
	defer s.Close()
	if _, err := debug(s, "initialize", map[string]any{}); err != nil {
		return "", err
	}
	if breakpoints {
		if err := setBreakpoints(s, text); err != nil {
			return "", err
		}
	}
	return runRow(s, text, row)
}

func setBreakpoints(s *cellproc.Client, text string) error {
	dumped, err := debug(s, "dumpCell", map[string]any{"code": text})
	if err != nil {
		return err
	}
	var lines []any
	for i, line := range strings.Split(text, "\n") {
		if strings.Contains(line, `panic("never")`) {
			lines = append(lines, map[string]any{"line": i + 1})
		}
	}
	_, err = debug(s, "setBreakpoints", map[string]any{"source": map[string]any{"path": dumped["sourcePath"]}, "breakpoints": lines})
	return err
}

// debug sends a request to the debugger of a session and returns the body of the response.
func debug(s *cellproc.Client, command string, arguments map[string]any) (map[string]any, error) {
	text, err := json.Marshal(map[string]any{"type": "request", "seq": 1, "command": command, "arguments": arguments})
	if err != nil {
		return nil, err
	}
	done, err := s.Ask(context.Background(), cellproto.Request{Type: cellproto.Debug, Text: string(text)})
	if err != nil {
		return nil, err
	}
	var response struct {
		Success bool
		Message string
		Body    map[string]any
	}
	if err := json.Unmarshal([]byte(done.Text), &response); err != nil {
		return nil, fmt.Errorf("speed: %s: %w", command, err)
	}
	if !response.Success {
		return nil, fmt.Errorf("speed: %s: %s", command, response.Message)
	}
	return response.Body, nil
}
