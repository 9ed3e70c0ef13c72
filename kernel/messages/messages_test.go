package messages

import (
	"fmt"
	"strings"
	"testing"
)

func use(t *testing.T, tag string) {
	t.Helper()
	if err := SetLanguage(tag); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { current.Store(nil) })
}

// with replaces the catalogue of the test by these entries.
func with(t *testing.T, entries map[string]string) {
	current.Store(newCatalogue(entries))
	t.Cleanup(func() { current.Store(nil) })
}

func TestText(t *testing.T) {
	with(t, map[string]string{
		"barriers": "同步", "device: %s; date: %s": "设备：%s；日期：%s", "emulator of %s": "%s 的模拟器",
		"%s, seed %d": "%s，种子 %d", "uniform": "均匀分布",
		"%d of %d elements, the first %s": "%[2]d 个元素中有 %[1]d 个，第一个是 %[3]s",
		"100 %% of %s waits":              "%s 全部在等",
		"%.1f us against %.1f":            "%.1f us 对 %.1f us",
		"takes %.0f %% of it":             "占 %.0f %%",
		"%s of %s":                        "%[2]s 的 %[1]s", // matches too much: not used
		"for":                             "用于",
	})
	for english, want := range map[string]string{
		"":                        "",
		"barriers":                "同步",
		" barriers\n":             " 同步\n",
		"barriers\nnames":         "同步\nnames",
		"reduce_v0: barriers":     "reduce_v0：同步",
		"reduce_v0: names":        "reduce_v0: names",
		"names; barriers":         "names；同步",
		"names; others":           "names; others",
		"Barriers":                "Barriers",
		"reduce_v0":               "reduce_v0",
		"sum of terms":            "sum of terms",
		"for (int i; i < n; i++)": "for (int i; i < n; i++)",
		"device: x; date: y":      "设备：x；日期：y",
		"device: emulator of H200; date: uniform": "设备：H200 的模拟器；日期：均匀分布",
		"uniform, seed 7":                         "均匀分布，种子 7",
		"uniform, seed x":                         "uniform, seed x",
		"3 of 9 elements, the first a":            "9 个元素中有 3 个，第一个是 a",
		"100 % of it waits":                       "it 全部在等",
		"2.0 us against 13.5":                     "2.0 us 对 13.5 us",
		"takes 95 % of it":                        "占 95 %",
	} {
		if got := Text(english); got != want {
			t.Errorf("%q: %q, expected %q", english, got, want)
		}
	}
}

func TestSprintf(t *testing.T) {
	with(t, map[string]string{
		"One of %d lanes: %.1f %%.": "%d 个 lane 中的一个：%.1f %%。",
		"%s takes %d us":            "要 %[2]d us：%[1]s",
		"a copy":                    "复制",
		"4 % of it":                 "它的 4 %",
	})
	for _, test := range []struct {
		format, want string
		values       []any
	}{
		{"One of %d lanes: %.1f %%.", "32 个 lane 中的一个：3.1 %。", []any{32, 3.125}},
		{"%s takes %d us", "要 7 us：复制", []any{"a copy", 7}},
		{"4 % of it", "它的 4 %", nil},
		{"%s", "复制", []any{"a copy"}},
		{"unknown %v", "unknown [1 2]", []any{[]int{1, 2}}},
	} {
		if got := Sprintf(test.format, test.values...); got != test.want {
			t.Errorf("%q: %q, expected %q", test.format, got, test.want)
		}
	}
}

// TestEnglish: in English every text is what package fmt makes of it.
func TestEnglish(t *testing.T) {
	for _, tag := range []string{"", "en", "EN-gb"} {
		use(t, tag)
		if !English() || Language() != "en" {
			t.Errorf("language %q is %s, expected en", tag, Language())
		}
		const format = "total, %s (us)"
		if got, want := Sprintf(format, "barriers"), fmt.Sprintf(format, "barriers"); got != want {
			t.Errorf("%q, expected %q", got, want)
		}
		if got := Text("barriers; bank conflicts"); got != "barriers; bank conflicts" {
			t.Errorf("%q, expected the text itself", got)
		}
	}
}

func TestSetLanguage(t *testing.T) {
	use(t, "zh-Hans-CN")
	if got := Text("barriers"); Language() != "zh-CN" || got != "同步" {
		t.Errorf("language %s, barriers are %q", Language(), got)
	}
	if err := SetLanguage("fr"); err == nil || !strings.Contains(err.Error(), "expected en or zh") || Language() != "zh-CN" {
		t.Errorf("fr: error %v, then language %s, expected an error and zh-CN", err, Language())
	}
	t.Setenv(Variable, "xx")
	if err := SetFromEnvironment(); err == nil || !strings.Contains(err.Error(), Variable) {
		t.Errorf("error %v, expected one that names %s", err, Variable)
	}
	if In("en", "barriers") != "barriers" || In("zh-CN", "barriers") != "同步" {
		t.Error("In does not translate into the named language alone")
	}
}

// TestChineseOfJoinedTexts: texts that packages join from several are translated whole.
func TestChineseOfJoinedTexts(t *testing.T) {
	use(t, "zh")
	for english, want := range map[string]string{
		"Shown: the request that costs most, 8 wavefronts on s; of warp 0 in block (0,0,0), and of 390 others.":       "图中：代价最大的请求，8 个 wavefront，访问 s；取自线程块 (0,0,0) 的线程束 0，另有 390 个请求与它相同。",
		"Bank 0 is asked for word 0 (lane 0), word 32 (lane 4); 3 other banks are asked for more than one word, too.": "bank 0 被请求 字 0（lane 0）、字 32（lane 4）；另有 3 个 bank 也被请求一个以上的字。",
		"gpu: mine: ld.shared.f32 at a.cu:10 (a.ptx:92): race: read-after-write hazard on byte 128 of shared variable s: thread (32,0,0) wrote it with st.shared.f32 at a.cu:10 (line 76 of the PTX), and no barrier stands between: put __syncthreads() there: after this line if it is in a loop, or between its read and its write, with the value in a variable, block (0,0,0) thread (0,0,0)": "gpu：mine：ld.shared.f32，位于 a.cu:10（a.ptx:92）：数据竞争（写后读 hazard）：共享变量 s 的第 128 字节：线程 (32,0,0) 用 st.shared.f32 在 a.cu:10（PTX 第 76 行）写入，中间没有同步：请在那里加 __syncthreads()：这一行在循环中时，加在它之后，否则加在它的读与写之间，中间的值放在变量里，线程块 (0,0,0) 线程 (0,0,0)",
		"give s 1 word behind every 32, so that a row of 32 has 33 (index i becomes i + i / 32)":                                                                                                                                                                            "给 s 每 32 个之后加 1 个字，使 32 个一行变成 33 个（下标 i 变成 i + i / 32）",
		"measured: NVIDIA H200, 2026-11-24; each result verified before and after; median, and an interval that holds it with 95 % confidence (fewer than 6 repeats: smallest to largest); data uniform in [0, 1), seed 7":                                                  "实测：NVIDIA H200，2026-11-24；每个结果在计时前后都经过验证；中位数，以及置信度 95 % 包含它的区间（重复少于 6 次时：从最小到最大）；数据在 [0, 1) 上均匀分布，种子 7",
		"bank conflict at reduce.cu:40 (ld.shared.f32; PTX 360): 55\u00a0554 wavefronts, 14\u00a0184 at best; let neighbouring lanes ask for neighbouring elements: the requests of this line take 14\u00a0184 instead of 55\u00a0554 wavefronts, verified on 108 patterns": "bank 冲突，位于 reduce.cu:40（ld.shared.f32；PTX 360）：55\u00a0554 个 wavefront，最少 14\u00a0184；让相邻的 lane 请求相邻的元素：这一行的请求需要 14\u00a0184 个 wavefront，而不是 55\u00a0554 个，已在 108 种模式上验证",
	} {
		if got := Text(english); got != want {
			t.Errorf("%q:\ngot  %q\nwant %q", english, got, want)
		}
	}
}
