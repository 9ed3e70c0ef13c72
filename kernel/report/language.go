package report

import (
	"fmt"
	"strings"

	"warpbook/kernel/leaf/record"
)

// phrases are the fixed texts of a page. Outputs of cells, names of settings, and
// notices of what cannot be rendered are in English on every page.
type phrases struct {
	Contents, Recorded, Rendered         string
	Definitions                          string // heading
	parameters, injected, skipped        string // labels of cells
	numbers, picture, expected           string // in outputs
	table, figure, environment           string // with their number
	like                                 string // another environment but for some settings
	again                                string // of a table or figure that stands above
	more                                 string // measurements than a summary names
	measured, device, date, commit       string // lines of a summary
	result, overlap, beside              string
	counted, most, byCounters            string // where no GPU measured times
	emulated, emulatorTime               string
	folded                               func(lines int) string
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
	Definitions:    "Definitions",
	Recorded:       "Rendered without execution: all outputs, figures and verdicts are as recorded in the file, and none was verified.",
	Rendered:       "Rendered by warpbook from %s. It is complete in itself and loads nothing.",
	parameters:     "parameters",
	injected:       "parameters set for this run",
	skipped:        "not executed",
	numbers:        "Numbers",
	picture:        "picture",
	table:          "Table %d",
	figure:         "Figure %d",
	environment:    "Environment %d",
	like:           "as %s, but:",
	again:          "%s again",
	more:           "%d more",
	measured:       "measured",
	device:         "device",
	date:           "date",
	commit:         "commit",
	result:         "result",
	counted:        "%s: %s, the best of %d rungs by counters: %s sectors of global memory",
	most:           " (the most: %s, %s)",
	byCounters:     "Best by counters, as the emulator counts: the fewest sectors, of equal ones the fewest wavefronts of shared memory, then the fewest warp instructions.",
	emulated:       "Times are those of the emulation and say nothing about a GPU; counters and verdicts do.",
	emulatorTime:   "%s (emulator time)",
	overlap:        ", the fastest library %s: the intervals overlap",
	beside:         ", the fastest library %s: %.2f times as long",
	folded:         func(n int) string { return "Code, " + count(n, "line") },
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
	Definitions:    "术语表",
	Recorded:       "未经执行生成：所有输出、数据和检查结果均为文件中的记录，没有一项经过验证。",
	Rendered:       "由 warpbook 根据 %s 生成。本页自成一体，不加载任何外部内容。",
	parameters:     "参数",
	injected:       "本次运行设置的参数",
	skipped:        "未执行",
	numbers:        "数据",
	picture:        "图",
	table:          "表 %d",
	figure:         "图 %d",
	environment:    "环境 %d",
	like:           "同%s，仅以下不同：",
	again:          "同%s",
	more:           "另有 %d 项",
	measured:       "测量内容",
	device:         "设备",
	date:           "日期",
	commit:         "提交",
	result:         "结果",
	counted:        "%[1]s：按计数，%[3]d 级台阶中最好的是 %[2]s：全局内存 %[4]s 个 sector",
	most:           "（最多的是 %s：%s）",
	byCounters:     "“按计数最好”依模拟器的计数：sector 最少；相同时共享内存的 wavefront 最少，再次 warp 指令最少。",
	emulated:       "时间是模拟本身的时间，不能说明 GPU 的情况；计数和检查结果可以。",
	emulatorTime:   "%s（模拟时间）",
	overlap:        "，最快的库 %s：区间重叠",
	beside:         "，最快的库 %s：用时为前者的 %.2f 倍",
	folded:         func(n int) string { return fmt.Sprintf("代码，%d 行", n) },
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
