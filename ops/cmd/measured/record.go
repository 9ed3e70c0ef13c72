package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"warpbook/kernel/leaf/record"
)

// recordLines turns a cell's last latency table in a notebook's results, the .json that
// `warpbook run` writes, into lines as the bench prints them.
func recordLines(results io.Reader, cell string) (io.Reader, error) {
	var notebook struct {
		Cells []struct {
			ID      string `json:"id"`
			Records []struct {
				Kind, Title string
				Environment struct{ Device, Commit, Data, Method, Date string }
				Rows        []struct {
					Name, Verdict, Library string
					Total                  struct {
						Median float64 `json:"median_ns"`
						Low    float64 `json:"low_ns"`
						High   float64 `json:"high_ns"`
					}
					GPU any
				}
			}
		}
	}
	if err := json.NewDecoder(results).Decode(&notebook); err != nil {
		return nil, fmt.Errorf("results of a notebook: %w", err)
	}
	var lines bytes.Buffer
	for _, c := range notebook.Cells {
		if c.ID != cell {
			continue
		}
		for _, r := range c.Records {
			size, operator, err := titleOf(r.Title)
			if r.Kind != record.Figures {
				continue
			}
			lines.Reset() // a cell may show its table in full and short
			if err != nil {
				return nil, fmt.Errorf("cell %s: %w", cell, err)
			}
			device, _, _ := strings.Cut(r.Environment.Device, " (")
			for _, row := range r.Rows {
				line := map[string]any{"operator": operator, "name": row.Name, "size": size, "verdict": row.Verdict,
					"median_ns": row.Total.Median, "low_ns": row.Total.Low, "high_ns": row.Total.High, "device": device}
				if row.GPU != nil {
					line["gpu"] = row.GPU
				}
				if row.Library == "" {
					line["environment"] = r.Environment
				}
				if err := json.NewEncoder(&lines).Encode(line); err != nil {
					return nil, err
				}
			}
		}
	}
	if lines.Len() == 0 {
		return nil, fmt.Errorf("cell %q: no latency table, expected one in the results of `warpbook run`", cell)
	}
	return &lines, nil
}

// titleOf reads "latency of reduce: n = 25600000" and "latency of gemm: m = 512, n = 512, k = 512".
func titleOf(title string) (size []int, operator string, err error) {
	operator, numbers, found := strings.Cut(strings.TrimPrefix(title, "latency of "), ": ")
	for _, part := range strings.Split(numbers, ", ") {
		var name string
		var n int
		if _, err := fmt.Sscanf(part, "%s = %d", &name, &n); err != nil {
			found = false
		}
		size = append(size, n)
	}
	if !found {
		return nil, "", fmt.Errorf("title %q, expected that of a latency table", title)
	}
	return size, operator, nil
}
