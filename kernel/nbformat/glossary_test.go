package nbformat

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// avoided are the words of the glossary's last column, each with the agreed one.
func avoided(t *testing.T, glossary string) map[string]string {
	words := map[string]string{}
	for line := range strings.Lines(glossary) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		if len(cells) != 3 || strings.Contains(line, "---") || strings.Contains(line, "English") {
			continue
		}
		for word := range strings.SplitSeq(cells[2], "、") {
			if word = strings.TrimSpace(word); word != "" {
				words[word] = strings.TrimSpace(cells[1])
			}
		}
	}
	return words
}

// misnamed are the avoided words in a text, apart from code and quotations.
func misnamed(text string, words map[string]string) (found []string) {
	text = quotation.ReplaceAllString(codeSpan.ReplaceAllString(codeBlock.ReplaceAllString(text, ""), ""), "")
	for word, agreed := range words {
		if strings.Contains(text, word) {
			found = append(found, word+", expected "+agreed)
		}
	}
	return found
}

// quotation is of the notes, which have words of their own.
var quotation = regexp.MustCompile(`“[^”]*”`)

// TestGlossary: the Chinese of notebooks, pages and messages uses the words of the glossary.
func TestGlossary(t *testing.T) {
	root := filepath.Join("..", "..")
	glossary, err := os.ReadFile(filepath.Join(root, "notebooks", "glossary.zh.md"))
	if err != nil {
		t.Fatal(err)
	}
	words := avoided(t, string(glossary))
	if len(words) < 50 || words["存储体"] != "bank、bank 冲突" {
		t.Fatalf("%d words to avoid, expected those of the table: %v", len(words), words)
	}
	texts := map[string]string{}
	pages, _ := filepath.Glob(filepath.Join(root, "notebooks", "*.zh.md"))
	for _, path := range pages {
		if filepath.Base(path) == "glossary.zh.md" {
			continue
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		texts[filepath.Base(path)] = string(text)
	}
	notebooks, _ := filepath.Glob(filepath.Join(root, "notebooks", "*.zh.ipynb"))
	for _, path := range notebooks {
		for _, c := range readNotebook(t, path).Cells {
			if c.Type == Markdown {
				texts[filepath.Base(path)+" "+c.ID] = c.Source
			}
		}
	}
	for _, name := range []string{"kernel/messages/zh-CN.json", "kernel/lite/notebooks.json"} {
		text, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		var any json.RawMessage
		if err := json.Unmarshal(text, &any); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for line := range strings.Lines(string(text)) {
			texts[name+": "+strings.TrimSpace(line)] = line
		}
	}
	if len(texts) < 500 {
		t.Errorf("%d texts, expected those of notebooks and messages", len(texts))
	}
	for name, text := range texts {
		for _, word := range misnamed(text, words) {
			t.Errorf("%s: %s", name, word)
		}
	}
}

func TestMisnamed(t *testing.T) {
	words := map[string]string{"存储体": "bank"}
	if got := misnamed("有 32 个存储体", words); len(got) != 1 {
		t.Errorf("%q, expected the word", got)
	}
	if got := misnamed("有 32 个 bank；笔记写“存储体”，代码里是 `存储体`", words); len(got) != 0 {
		t.Errorf("%q, expected no word", got)
	}
}
