package nbformat

import (
	"bytes"
	"encoding/base64"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"warpbook/kernel/leaf/palettepng"
)

var pngOutput = regexp.MustCompile(`"image/png": "([^"]+)"`)

// Plots of committed results have a palette, as package display draws them now. -update
// encodes the others again.
func TestCommittedPlots(t *testing.T) {
	files, err := filepath.Glob("../../notebooks/results/*/*.ipynb")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d results, %v", len(files), err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		changed := pngOutput.ReplaceAllFunc(text, func(output []byte) []byte {
			encoded := strings.ReplaceAll(string(pngOutput.FindSubmatch(output)[1]), `\n`, "")
			raw, err := base64.StdEncoding.DecodeString(encoded)
			if err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			img, err := png.Decode(bytes.NewReader(raw))
			if err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			if _, whole := img.(*image.RGBA); !whole {
				return output
			}
			small, err := palettepng.Encode(img)
			if err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			return []byte(`"image/png": "` + base64.StdEncoding.EncodeToString(small) + `"`)
		})
		if bytes.Equal(changed, text) {
			continue
		}
		if !*update {
			t.Errorf("%s has plots without a palette: run go test ./kernel/nbformat -run CommittedPlots -update", file)
		} else if err := os.WriteFile(file, changed, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
