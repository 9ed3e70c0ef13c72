package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"warpbook/kernel/fallbackfont"
	"warpbook/kernel/leaf/atomicfile"
	"warpbook/kernel/nbformat"
	"warpbook/kernel/report"
)

// reportCommand renders a notebook without executing it.
func reportCommand(args []string) error {
	f := newFlags("report")
	out := f.String("out", "", "write the report to `FILE`, or into a folder that is there, else beside the notebook")
	pdf := f.Bool("pdf", false, "write a PDF instead of HTML")
	md := f.String("md", "", "write the notebook as Markdown to `FILE`, with its plots in a folder beside it")
	files := f.String("files", "", "write every table as CSV and Markdown and every plot as SVG, PDF and PNG into `DIR`")
	others, err := parse(f, args, 1)
	if err != nil {
		return err
	}
	nb, err := nbformat.Read(others[0])
	if err != nil {
		return err
	}
	if *md != "" || *files != "" {
		return extract(nb, *md, *files)
	}
	extension := ".html"
	if *pdf {
		extension = ".pdf"
	}
	name := strings.TrimSuffix(nb.Name, filepath.Ext(nb.Name)) + extension
	if info, err := os.Stat(*out); *out == "" {
		*out = name
	} else if err == nil && info.IsDir() {
		*out = filepath.Join(*out, filepath.Base(name))
	}
	if *pdf {
		err = writePDF(*out, nb)
	} else {
		err = report.Write(*out, nb, report.Origin{})
	}
	if err == nil {
		fmt.Println("wrote", *out)
	}
	return err
}

// writePDF names the characters that stand as boxes in the PDF.
func writePDF(path string, nb *nbformat.Notebook) error {
	missing, err := report.WritePDF(path, nb, report.Origin{})
	if err == nil && len(missing) > 0 {
		fmt.Fprintf(os.Stderr, "warpbook: report: no font here has %d characters, which are shown as \ufffd: %q; set %s to a .ttf, .otf or .ttc file that has them\n",
			len(missing), string(missing), fallbackfont.Variable)
	}
	return err
}

// extract writes parts of the notebook as files.
func extract(nb *nbformat.Notebook, md, files string) error {
	if md != "" {
		folder := strings.TrimSuffix(md, filepath.Ext(md)) + "_files"
		if err := writeFiles(nb, folder); err != nil {
			return err
		}
		if err := atomicfile.Write(md, func(w io.Writer) error { return report.Markdown(w, nb, filepath.Base(folder)) }); err != nil {
			return fmt.Errorf("report: %w", err)
		}
		fmt.Println("wrote", md)
	}
	if files != "" {
		return writeFiles(nb, files)
	}
	return nil
}

func writeFiles(nb *nbformat.Notebook, folder string) error {
	list := report.Files(nb)
	err := os.MkdirAll(folder, 0o777)
	if err == nil && len(list) > 0 {
		err = atomicfile.Together(context.Background(), folder, list)
	}
	if err != nil {
		return fmt.Errorf("report: %w", err)
	}
	fmt.Printf("wrote %d files into %s\n", len(list), folder)
	return nil
}
