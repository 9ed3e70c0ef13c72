// Command extract lists the texts that packages and notebooks display, as they stand in the
// sources: the keys of the catalogues of package messages.
//
//	go run ./kernel/messages/extract                    list the texts without a translation
//	go run ./kernel/messages/extract -all               list all texts
//	go run ./kernel/messages/extract -add               add those without one to the catalogue, with an empty translation
//	go run ./kernel/messages/extract -shown FILE.ipynb  list the English texts in the outputs of an executed Chinese notebook
//
// It runs at the root of the repository.
package main

import (
	"flag"
	"fmt"
	"os"
)

func main() {
	all := flag.Bool("all", false, "list translated texts too")
	add := flag.Bool("add", false, "add texts without a translation to the catalogue")
	file := flag.String("shown", "", "list the English texts in the outputs of `FILE`")
	flag.Parse()
	if err := run(*all, *add, *file); err != nil {
		fmt.Fprintln(os.Stderr, "extract:", err)
		os.Exit(1)
	}
}

func run(all, add bool, file string) error {
	if file != "" {
		texts, err := shown(file)
		for _, text := range texts {
			fmt.Println(text)
		}
		return err
	}
	texts, err := extract(".")
	if err != nil {
		return err
	}
	entries, err := readCatalogue(".")
	if err != nil {
		return err
	}
	for _, t := range texts {
		if entries[t.format] == "" || all {
			fmt.Printf("%s: %q\n", t.place, t.format)
		}
		if _, known := entries[t.format]; !known && add {
			entries[t.format] = ""
		}
	}
	if add {
		return writeCatalogue(".", entries)
	}
	return nil
}
