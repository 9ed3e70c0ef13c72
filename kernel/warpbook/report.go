package main

import (
	"fmt"
	"path/filepath"
	"strings"

	"warpbook/kernel/nbformat"
	"warpbook/kernel/report"
)

// reportCommand renders a notebook as it is.
func reportCommand(args []string) error {
	f := newFlags("report")
	out := f.String("out", "", "write the report to `FILE`, else beside the notebook")
	others, err := parse(f, args, 1)
	if err != nil {
		return err
	}
	nb, err := nbformat.Read(others[0])
	if err != nil {
		return err
	}
	if *out == "" {
		*out = strings.TrimSuffix(nb.Name, filepath.Ext(nb.Name)) + ".html"
	}
	if err := report.Write(*out, nb); err != nil {
		return err
	}
	fmt.Println("wrote", *out)
	return nil
}
