// Package moduletest serves Go modules to the go command from a folder, so that
// tests of modules need no network.
package moduletest

import (
	"archive/zip"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Serve makes the go command find these modules and no others. A module's name is its
// path and version, as in example.com/m@v1.2.3; its files include go.mod.
func Serve(t testing.TB, modules map[string]map[string]string) {
	t.Helper()
	proxy := t.TempDir()
	for name, files := range modules {
		path, version, _ := strings.Cut(name, "@")
		dir := filepath.Join(proxy, path, "@v")
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(dir, "list"), version+"\n")
		write(t, filepath.Join(dir, version+".info"), `{"Version": "`+version+`"}`)
		write(t, filepath.Join(dir, version+".mod"), files["go.mod"])
		pack(t, filepath.Join(dir, version+".zip"), name, files)
	}
	for k, v := range map[string]string{
		"GOPROXY": "file://" + filepath.ToSlash(proxy), "GOSUMDB": "off", "GONOSUMDB": "", "GOPRIVATE": "", "GONOPROXY": "",
		"GOMODCACHE": t.TempDir(), "GOFLAGS": "-modcacherw",
	} {
		t.Setenv(k, v)
	}
}

func write(t testing.TB, file, text string) {
	f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err == nil {
		_, err = f.WriteString(text)
		f.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
}

func pack(t testing.TB, file, prefix string, files map[string]string) {
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z := zip.NewWriter(f)
	for name, text := range files {
		w, err := z.Create(prefix + "/" + name)
		if err == nil {
			_, err = w.Write([]byte(text))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
}
