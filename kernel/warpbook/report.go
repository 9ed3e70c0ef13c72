package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"warpbook/kernel/nbformat"
	"warpbook/kernel/report"
)

// reportCommand renders a notebook as it is.
func reportCommand(args []string) error {
	f := newFlags("report")
	out := f.String("out", "", "write the report to `FILE`, or into a folder that is there, else beside the notebook")
	others, err := parse(f, args, 1)
	if err != nil {
		return err
	}
	nb, err := nbformat.Read(others[0])
	if err != nil {
		return err
	}
	name := strings.TrimSuffix(nb.Name, filepath.Ext(nb.Name)) + ".html"
	if info, err := os.Stat(*out); *out == "" {
		*out = name
	} else if err == nil && info.IsDir() {
		*out = filepath.Join(*out, filepath.Base(name))
	}
	if err := report.Write(*out, nb); err != nil {
		return err
	}
	fmt.Println("wrote", *out)
	return nil
}
