package main

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"warpbook/kernel/messages"
)

// TestLanguage: the language of cells is that of the notebook which jupyter_server names,
// unless the user has set one.
func TestLanguage(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		return path
	}
	chinese := write("zh.ipynb", `{"metadata": {"lang": "zh-CN", "kernelspec": {}}, "cells": []}`)
	for name, test := range map[string]struct {
		file, set string
		want      []string
	}{
		"Chinese":         {chinese, "", []string{"WARPBOOK_LANG=zh-CN"}},
		"set by the user": {chinese, "en", nil},
		"no language":     {write("en.ipynb", `{"metadata": {}}`), "", nil},
		"a number":        {write("number.ipynb", `{"metadata": {"lang": 1}}`), "", nil},
		"half written":    {write("half.ipynb", `{"metadata": {"lang": "zh`), "", nil},
		"a console":       {"console-1", "", nil},
		"no file":         {filepath.Join(dir, "none.ipynb"), "", nil},
		"no tab":          {"", "", nil},
	} {
		env := map[string]string{sessionEnv: test.file, messages.Variable: test.set}
		if got := language(func(name string) string { return env[name] }); !slices.Equal(got, test.want) {
			t.Errorf("%s: %q, expected %q", name, got, test.want)
		}
	}
}
