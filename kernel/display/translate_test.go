package display

import (
	"encoding/json"
	"strings"
	"testing"

	"warpbook/kernel/leaf/record"
	"warpbook/kernel/messages"
)

func inChinese(t *testing.T) {
	t.Helper()
	if err := messages.SetLanguage("zh"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { messages.SetLanguage("en") })
}

// shownIn is what a value shows in English, and then in Chinese.
func shownIn(t *testing.T, v any) (english, chinese map[string]any) {
	t.Helper()
	english, _, err := Draw(v)
	if err != nil {
		t.Fatal(err)
	}
	inChinese(t)
	if chinese, _, err = Draw(v); err != nil {
		t.Fatal(err)
	}
	return english, chinese
}

func has(t *testing.T, data map[string]any, mime string, wanted ...string) {
	t.Helper()
	s, _ := data[mime].(string)
	for _, want := range wanted {
		if !strings.Contains(s, want) {
			t.Errorf("%s has no %q:\n%s", mime, want, s)
		}
	}
}

// A table shows its headings, verdicts and notes in Chinese. Names, numbers, alignment,
// colours and the record are those of English.
func TestTableInChinese(t *testing.T) {
	table := NewTable("variant", "bank conflicts", "verdict").Row("reduce_v1", 12345, "PASS").Row("reduce_v2", 0, "FAIL").
		SetTitle("counters of reduce: n = 4").Note("method: times of the emulation on this host, not of a GPU").Note("device: emulator of NVIDIA H200; data: uniform in [0, 1), seed 7; code: a, b, c; date: d")
	english, chinese := shownIn(t, table)
	has(t, chinese, textPlain, "reduce 的计数：n = 4", "变体", "bank 冲突", "12 345  通过", "方法：本机上模拟的时间", "设备：NVIDIA H200 的模拟器；数据：[0, 1) 上均匀分布，种子 7")
	has(t, chinese, textHTML, "<strong>reduce 的计数：n = 4</strong>", `<strong style="color: #2a8a44">通过</strong>`, `<strong style="color: #d9413a">失败</strong>`,
		"<details>", "NVIDIA H200 的模拟器: 方法与环境", `text-align: right; white-space: nowrap">12`+"\u00a0"+"345")
	if before, after := string(english[record.MIME].(json.RawMessage)), string(chinese[record.MIME].(json.RawMessage)); before != after || !strings.Contains(before, `"bank conflicts"`) {
		t.Errorf("the record is %s, expected %s", after, before)
	}
}

// Names that are words of texts too stay, in a column of names.
func TestNamesStay(t *testing.T) {
	_, chinese := shownIn(t, NewTable("score", "launch").Row("blocks", "blocks").Row("add_block", "threads"))
	has(t, chinese, textPlain, "得分", "\nblocks     线程块\nadd_block  线程")
}

// A lesson is Chinese. The error of a false statement is English, as all errors are.
func TestLessonInChinese(t *testing.T) {
	inChinese(t)
	lesson := NewLesson().Claim(true, "One lane of 32 is active: %.1f %%.", 3.125).Find(false, "yes", "Instructions do not rise at this n.").Say("Not in the catalogue.")
	data, _, err := Draw(lesson)
	if want := "✓ 32 个 lane 中只有一个在工作：3.1 %。\n\n在这个 n 下指令没有增加。\n\nNot in the catalogue."; err != nil || data[textMarkdown] != want {
		t.Errorf("%v, %v, expected %q", data, err, want)
	}
	data, _, err = Draw(lesson.Claim(false, "One lane of 32 is active: %.1f %%.", 100.0))
	if err == nil || !strings.HasSuffix(err.Error(), "One lane of 32 is active: 100.0 %.") {
		t.Errorf("error %v, expected the English statement", err)
	}
	has(t, data, textMarkdown, "✗ **与这些数据不符：** 32 个 lane")
}

func TestChartInChinese(t *testing.T) {
	chart := BarChart{Title: "Active lanes", Axis: "time (us)", Log: true, Labels: []string{"reduce_v0", "reduce_v1"},
		Series: []Series{{Name: "bank conflicts", Values: []float64{1, 20}}, {Name: "barriers", Values: []float64{3, 4}}}, Notes: []string{"wide loads"}}
	_, chinese := shownIn(t, chart)
	has(t, chinese, textPlain, "工作的 lane", "时间（us），对数坐标", "bank 冲突", "同步", "reduce_v0", "wide loads")
	has(t, chinese, imageSVG, ">工作的", " lane<", "对数坐标<", "冲突<", ">同步<", ">reduce_v0<", ">wide loads<") // text is set in pieces of one font
	if chinese[imagePNG] == nil {
		t.Error("no PNG")
	}
}

// What a value draws itself is translated between its tags. Code stays.
func TestBundleInChinese(t *testing.T) {
	_, chinese := shownIn(t, bundled{map[string]any{
		textPlain:    "barriers\nfor (;;) sum += x;",
		textMarkdown: "barriers\n\n```\nbarriers\n```\n\n> shuffles\n",
		textHTML:     `<p title="barriers">barriers</p><pre>barriers</pre><td>1 &lt; 2</td>`,
		"text/x":     "barriers",
	}})
	for mime, want := range map[string]string{
		textPlain:    "同步\nfor (;;) sum += x;",
		textMarkdown: "同步\n\n```\nbarriers\n```\n\n> 洗牌\n",
		textHTML:     `<p title="barriers">同步</p><pre>barriers</pre><td>1 &lt; 2</td>`,
		"text/x":     "barriers",
	} {
		if chinese[mime] != want {
			t.Errorf("%s: %q, expected %q", mime, chinese[mime], want)
		}
	}
}

type bundled struct{ data map[string]any }

func (b bundled) MIMEBundle() (data, metadata map[string]any) { return b.data, nil }
