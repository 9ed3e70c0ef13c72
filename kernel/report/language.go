package report

import (
	"fmt"
	"strings"

	"warpbook/kernel/leaf/lazyregexp"
	"warpbook/kernel/leaf/record"
	"warpbook/kernel/nbformat"
)

// languageTag matches a tag of BCP 47 such as "en" or "zh-CN".
var languageTag = lazyregexp.New(`^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*$`)

// proseLanguage returns the language of the notebook's prose: metadata.lang, a tag of
// BCP 47, or "en" without one. The Jupyter format names only the language of cells.
// "lang" is the name that HTML and Pandoc use.
func proseLanguage(nb *nbformat.Notebook) string {
	if tag, ok := nb.Metadata["lang"].(string); ok && languageTag().MatchString(tag) {
		return tag
	}
	return "en"
}

// phrases are the fixed texts of a page. Outputs of cells, names of settings, and
// notices of what cannot be rendered are in English on every page.
type phrases struct {
	Contents, Recorded, Code, Rendered   string
	parameters, injected, skipped        string // labels of cells
	numbers, picture, expected           string // in outputs
	table, figure                        string // with their number
	executed, failedChecks, expectedRows func(n, of int) string
	failedCells, unreadable              func(n int) string
	passed, recordedPassed               func(n int) string
}

// phrasesIn returns the phrases in a language, in English for one that has none.
func phrasesIn(language string) *phrases {
	if primary, _, _ := strings.Cut(strings.ToLower(language), "-"); primary == "zh" {
		return &chinese
	}
	return &english
}

var english = phrases{
	Contents:       "Contents",
	Recorded:       "Rendered without execution: all outputs, figures and verdicts are as recorded in the file, and none was verified.",
	Code:           "Code",
	Rendered:       "Rendered by warpbook from %s. It is complete in itself and loads nothing.",
	parameters:     "parameters",
	injected:       "parameters set for this run",
	skipped:        "not executed",
	numbers:        "Numbers",
	picture:        "picture",
	table:          "Table %d",
	figure:         "Figure %d",
	expected:       "%s (expected)",
	executed:       func(n, of int) string { return fmt.Sprintf("%d of %s executed", n, count(of, "cell")) },
	failedChecks:   func(n, of int) string { return fmt.Sprintf("%d of %s failed", n, count(of, "check")) },
	failedCells:    func(n int) string { return count(n, "cell") + " failed" },
	unreadable:     func(n int) string { return count(n, "record") + " cannot be read" },
	passed:         func(n int) string { return count(n, "check") + " as expected" },
	recordedPassed: func(n int) string { return count(n, "check") + " recorded as expected, not verified" },
	expectedRows:   record.Must,
}

var chinese = phrases{
	Contents:       "目录",
	Recorded:       "未经执行生成：所有输出、数据和检查结果均为文件中的记录，没有一项经过验证。",
	Code:           "代码",
	Rendered:       "由 warpbook 根据 %s 生成。本页自成一体，不加载任何外部内容。",
	parameters:     "参数",
	injected:       "本次运行设置的参数",
	skipped:        "未执行",
	numbers:        "数据",
	picture:        "图",
	table:          "表 %d",
	figure:         "图 %d",
	expected:       "%s（预期）",
	executed:       func(n, of int) string { return fmt.Sprintf("共 %d 个单元格，执行了 %d 个", of, n) },
	failedChecks:   func(n, of int) string { return fmt.Sprintf("共 %d 项检查，失败 %d 项", of, n) },
	failedCells:    func(n int) string { return fmt.Sprintf("%d 个单元格失败", n) },
	unreadable:     func(n int) string { return fmt.Sprintf("%d 条记录无法读取", n) },
	passed:         func(n int) string { return fmt.Sprintf("%d 项检查符合预期", n) },
	recordedPassed: func(n int) string { return fmt.Sprintf("%d 项检查记录为符合预期，未经验证", n) },
	expectedRows:   func(n, of int) string { return fmt.Sprintf("%d 项中有 %d 项按预期失败", of, n) },
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
