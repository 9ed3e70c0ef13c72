package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"warpbook/kernel/fallbackfont"
	"warpbook/kernel/leaf/atomicfile"
	"warpbook/kernel/nbformat"
	"warpbook/kernel/report"
)

// formats are what report writes, with the extension of each. The tables of --csv go
// into a folder.
var formats = []struct{ name, extension, usage string }{
	{"html", ".html", "write one HTML page (the default)"},
	{"pdf", ".pdf", "write a PDF"},
	{"md", ".md", "write Markdown, with its plots in a folder beside it"},
	{"csv", "_csv", "write every table as a CSV file, into a folder"},
}

type reportOptions struct {
	notebook string
	formats  []string // extensions
	out      string
	files    string
}

func parseReport(args []string) (o reportOptions, err error) {
	f := newFlags("report")
	chosen := map[string]*bool{}
	for _, format := range formats {
		chosen[format.extension] = f.Bool(format.name, false, format.usage)
	}
	f.StringVar(&o.out, "out", "", "write to `FILE`, whose extension chooses the format, or into a folder (default beside the notebook)")
	f.StringVar(&o.files, "files", "", "write every table as CSV and Markdown and every plot as SVG, PDF and PNG into `DIR`")
	others, err := parse(f, args, 1)
	if err != nil {
		return o, err
	}
	o.notebook = others[0]
	named := "" // the format of --out
	for _, format := range formats {
		if *chosen[format.extension] {
			o.formats = append(o.formats, format.extension)
		}
		if filepath.Ext(o.out) == format.extension {
			named = format.extension
		}
	}
	switch {
	case o.intoFolder(): // its name says nothing
	case len(o.formats) > 1:
		return o, usageError{fmt.Errorf("report: --out %s: expected a folder that is there, for %d formats", o.out, len(o.formats))}
	case len(o.formats) == 1 && named != "" && named != o.formats[0]:
		return o, usageError{fmt.Errorf("report: --out %s: expected a name that ends in %s", o.out, o.formats[0])}
	case len(o.formats) == 0 && named != "":
		o.formats = []string{named}
	}
	if len(o.formats) == 0 && o.files == "" {
		o.formats = []string{".html"}
	}
	return o, nil
}

// intoFolder reports whether the results have their own names, in a folder.
func (o *reportOptions) intoFolder() bool {
	info, err := os.Stat(o.out)
	return o.out == "" || err == nil && info.IsDir()
}

// path returns the path of a result.
func (o *reportOptions) path(extension string) string {
	name := strings.TrimSuffix(o.notebook, filepath.Ext(o.notebook)) + extension
	switch {
	case o.out == "":
		return name
	case o.intoFolder():
		return filepath.Join(o.out, filepath.Base(name))
	}
	return o.out
}

// reportCommand renders a notebook without executing it.
func reportCommand(args []string) error {
	o, err := parseReport(args)
	if err != nil {
		return err
	}
	nb, err := nbformat.Read(o.notebook)
	if err != nil {
		return err
	}
	for _, format := range o.formats {
		path := o.path(format)
		switch format {
		case ".html":
			err = report.Write(path, nb, report.Origin{})
		case ".pdf":
			err = writePDF(path, nb)
		case ".md":
			err = writeMarkdown(path, nb)
		case "_csv":
			tables := slices.DeleteFunc(report.Files(nb), func(f atomicfile.File) bool { return filepath.Ext(f.Name) != ".csv" })
			err = writeFiles(path, tables)
		}
		if err != nil {
			return err
		}
		if format != "_csv" {
			fmt.Println("wrote", path)
		}
	}
	if o.files != "" {
		return writeFiles(o.files, report.Files(nb))
	}
	return nil
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

// writeMarkdown writes the files that the Markdown shows first.
func writeMarkdown(path string, nb *nbformat.Notebook) error {
	err := atomicfile.Replaceable(path)
	folder := strings.TrimSuffix(path, filepath.Ext(path)) + "_files"
	if files := report.Files(nb); err == nil && len(files) > 0 {
		err = writeFiles(folder, files)
	}
	if err == nil {
		err = atomicfile.Write(path, func(w io.Writer) error { return report.Markdown(w, nb, filepath.Base(folder)) })
	}
	if err != nil {
		return fmt.Errorf("report: %w", err)
	}
	return nil
}

func writeFiles(folder string, files []atomicfile.File) error {
	err := os.MkdirAll(folder, 0o777)
	if err == nil {
		err = atomicfile.Together(context.Background(), folder, files)
	}
	if err != nil {
		return fmt.Errorf("report: %w", err)
	}
	fmt.Printf("wrote %d files into %s\n", len(files), folder)
	return nil
}
