package symbols

import (
	_ "embed"
	"encoding/json"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// packedDocs is a JSON object of the packages of the standard library: objects of names
// and their documentation. Compressed it is a fifth as large.
//
//go:embed std_docs.json.zst
var packedDocs []byte

// stdDocs is read at the first question: most sessions ask for no documentation.
var stdDocs = sync.OnceValue(func() (docs map[string]map[string]string) {
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
	if err != nil {
		panic(err) // its options are constants
	}
	defer d.Close()
	text, err := d.DecodeAll(packedDocs, nil)
	if err == nil {
		err = json.Unmarshal(text, &docs)
	}
	if err != nil {
		panic(err) // the program was built from a damaged file
	}
	return docs
})

// stdDoc is "" for what does not exist.
func stdDoc(path, name string) string { return stdDocs()[path][name] }
