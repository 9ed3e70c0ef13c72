//go:build !windows

package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"warpbook/kernel/fallbackfont"
	"warpbook/kernel/leaf/atomicfile"
	"warpbook/kernel/nbformat"
	"warpbook/kernel/report"
)

// formats are what report writes, with the extension of each. The tables of --csv go
// into a folder.
var formats = []format{
	{"html", ".html", "write one HTML page (the default)"},
	{"pdf", ".pdf", "write a PDF"},
	{"md", ".md", "write Markdown, with its plots in a folder beside it"},
	{"csv", "_csv", "write every table as a CSV file, into a folder"},
}

type format struct{ name, extension, usage string }

type reportOptions struct {
	notebook string
	formats  []string // extensions
	out      string
	folder   bool // --out is one
	files    string
	force    bool
}

func parseReport(args []string) (o reportOptions, err error) {
	f := newFlags("report")
	chosen := map[string]*bool{}
	for _, format := range formats {
		chosen[format.extension] = f.Bool(format.name, false, format.usage)
	}
	f.StringVar(&o.out, "out", "", "write into the folder `DIR`, or to one file, whose extension chooses the format (default beside the notebook)")
	f.StringVar(&o.files, "files", "", "write every table as CSV and Markdown and every plot as SVG, PDF and PNG into `DIR`")
	f.BoolVar(&o.force, "force", false, forceUsage)
	others, err := parse(f, args, 1)
	if err != nil {
		return o, err
	}
	o.notebook = others[0]
	for _, format := range formats {
		if *chosen[format.extension] {
			o.formats = append(o.formats, format.extension)
		}
	}
	if o.folder = o.out != "" && isFolder(o.out); o.out != "" && !o.folder {
		if err := mayReplace(o.out, true, o.notebook); err != nil {
			return o, fmt.Errorf("report: %w", err)
		}
		return o, o.oneFile()
	}
	if len(o.formats) == 0 && o.files == "" {
		o.formats = []string{".html"}
	}
	return o, nil
}

// isFolder reports whether --out names a folder: one that is there, a name that ends in /,
// or a new name without the extension of a file. The end of report-1.5 is none.
func isFolder(out string) bool {
	if info, err := os.Stat(out); err == nil {
		return info.IsDir()
	}
	extension := strings.TrimLeft(filepath.Ext(out), ".")
	return extension == "" || !unicode.IsLetter(rune(extension[0])) || os.IsPathSeparator(out[len(out)-1])
}

// oneFile chooses the format of the file --out, and refuses others.
func (o *reportOptions) oneFile() error {
	extension := filepath.Ext(o.out)
	known := slices.ContainsFunc(formats, func(f format) bool { return f.extension == extension })
	switch {
	case len(o.formats) > 1:
		return usageError{fmt.Errorf("report: --out %s: expected a folder, for %d formats", o.out, len(o.formats))}
	case len(o.formats) == 1 && o.formats[0] == "_csv":
		return usageError{fmt.Errorf("report: --out %s: expected a folder, for tables", o.out)}
	case len(o.formats) == 1 && o.formats[0] != extension:
		return usageError{fmt.Errorf("report: --out %s: expected a folder or a name that ends in %s", o.out, o.formats[0])}
	case !known:
		return usageError{fmt.Errorf("report: --out %s: expected a folder or a name that ends in .html, .pdf or .md", o.out)}
	}
	o.formats = []string{extension}
	return nil
}

// path returns the path of a result.
func (o *reportOptions) path(extension string) string {
	name := strings.TrimSuffix(o.notebook, filepath.Ext(o.notebook)) + extension
	switch {
	case o.out == "":
		return name
	case o.folder:
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
	if err := o.mayWrite(nb); err != nil { // before anything is written
		return fmt.Errorf("report: %w", err)
	}
	if o.folder {
		if err := os.MkdirAll(o.out, 0o777); err != nil {
			return fmt.Errorf("report: --out: %w", err)
		}
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
			err = writeFiles(path, tablesOf(nb))
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

// mayWrite returns why a result must not be written: see mayReplace.
func (o *reportOptions) mayWrite(nb *nbformat.Notebook) error {
	for _, format := range o.formats {
		path, err := o.path(format), error(nil)
		switch format {
		case "_csv":
			err = mayFill(path, tablesOf(nb), o.force)
		case ".md":
			if err = mayReplace(path, o.force, o.notebook); err == nil {
				err = mayFill(filesFolder(path), report.Files(nb), o.force)
			}
		default:
			err = mayReplace(path, o.force, o.notebook)
		}
		if err != nil {
			return err
		}
	}
	if o.files == "" {
		return nil
	}
	return mayFill(o.files, report.Files(nb), o.force)
}

// tablesOf are the tables of a notebook as CSV.
func tablesOf(nb *nbformat.Notebook) []atomicfile.File {
	return slices.DeleteFunc(report.Files(nb), func(f atomicfile.File) bool { return filepath.Ext(f.Name) != ".csv" })
}

// filesFolder is the folder of the files that Markdown shows.
func filesFolder(markdown string) string {
	return strings.TrimSuffix(markdown, filepath.Ext(markdown)) + "_files"
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
	folder := filesFolder(path)
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
	if err == nil && len(files) > 0 {
		err = atomicfile.Together(context.Background(), folder, listed(folder, files))
	}
	if err != nil {
		return fmt.Errorf("report: %w", err)
	}
	fmt.Printf("wrote %d files into %s\n", len(files), folder)
	return nil
}
