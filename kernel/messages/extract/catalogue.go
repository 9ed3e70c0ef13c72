package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// catalogueFile is the Chinese catalogue below the root of the repository.
const catalogueFile = "kernel/messages/zh-CN.json"

func readCatalogue(root string) (map[string]string, error) {
	data, err := os.ReadFile(filepath.Join(root, catalogueFile))
	if err != nil {
		return nil, err
	}
	entries := map[string]string{}
	if err := json.Unmarshal(data, &entries); err != nil {
		return nil, fmt.Errorf("%s: %w", catalogueFile, err)
	}
	return entries, nil
}

// writeCatalogue writes the entries in the order of their keys.
func writeCatalogue(root string, entries map[string]string) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	if err := e.Encode(entries); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(root, catalogueFile), b.Bytes(), 0o666)
}
