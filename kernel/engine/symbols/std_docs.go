package symbols

import (
	"archive/zip"
	_ "embed"
	"encoding/json"
	"strings"
	"sync"
)

// stdDocs has a member for each package of the standard library: a JSON object
// of names and documentation. Compressed it is a quarter as large, and a
// package is read only when it is asked about.
//
//go:embed std_docs.zip
var stdDocs string

// std caches the packages that have been asked about.
var std struct {
	sync.Mutex // guards docs
	docs       map[string]map[string]string
}

func stdDoc(path, name string) string {
	std.Lock()
	defer std.Unlock()
	docs, ok := std.docs[path]
	if !ok {
		if std.docs == nil {
			std.docs = map[string]map[string]string{}
		}
		docs = readStdDocs(path)
		std.docs[path] = docs
	}
	return docs[name]
}

// readStdDocs returns nil for a package that does not exist.
func readStdDocs(path string) (docs map[string]string) {
	z, err := zip.NewReader(strings.NewReader(stdDocs), int64(len(stdDocs)))
	if err != nil {
		panic(err) // the program was built from a damaged file
	}
	for _, m := range z.File {
		if m.Name != path {
			continue
		}
		r, err := m.Open()
		if err == nil {
			err = json.NewDecoder(r).Decode(&docs)
		}
		if err != nil {
			panic(err)
		}
	}
	return docs
}
