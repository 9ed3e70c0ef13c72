package main

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"warpbook/kernel/leaf/verdict"
	"warpbook/ops"
	"warpbook/ops/peers"
)

// headline is a row of ops/figures.md.
type headline struct {
	title, operator string
	size            []int
	settings, clock string // of our lines
	rung            string
	before          string // the measured file of the run from before lines were kept; "" where it lacks the rung or today's fastest library
}

const (
	graph  = "graph"
	events = "events"
)

// headlines are the rows in their order.
var headlines = []headline{
	{"reduce, 25.6 million float32, between events", "reduce", []int{25_600_000}, "", events, "reduce_eight_loads", ""},
	{"the same as a graph of runs", "reduce", []int{25_600_000}, "", graph, "reduce_eight_loads", ""},
	{"GEMM, float32, 4096", "gemm", []int{4096, 4096, 4096}, "", graph, "gemm_specialized", "gemm_headline"},
	{"GEMM, bfloat16, 4096", "gemm_bf16", []int{4096, 4096, 4096}, "", graph, "gemm_bf16_wgmma", "gemm_headline"},
	{"GEMM, bfloat16, 8192", "gemm_bf16", []int{8192, 8192, 8192}, "", graph, "gemm_bf16_wgmma", "gemm_headline"},
	{"transpose, float32, 4096 x 4096", "transpose", []int{4096, 4096}, "", graph, "transpose_swizzle", "transpose_times"},
	{"histogram, int32, 2^28 values in 256 bins", "histogram", []int{1 << 28}, "", graph, "histogram_prefetch", "histogram_times"},
	{"histogram of 2^28 values, 65 536 bins", "histogram", []int{1 << 28}, "bins = 65536", graph, "histogram_u16_prefetch", "histogram_bins"},
	{"softmax, float32, 8192 x 8192", "softmax", []int{8192, 8192}, "", graph, "softmax_auto", "softmax_times"},
	{"softmax, float32, 128 rows of 131 072", "softmax", []int{128, 131_072}, "", graph, "softmax_auto", "softmax_times"},
	{"radix sort of 2^26 uint32", "sort", []int{1 << 26}, "", graph, "sort_onesweep_early", "sort_times"},
	{"the same, pairs of key and value", "sort_pairs", []int{1 << 26}, "", graph, "sort_pairs_onesweep_large", "sort_types"},
	{"the same, uint64", "sort_u64", []int{1 << 26}, "", graph, "sort_u64_onesweep_early", "sort_types"},
	{"sort of 2^12 uint32", "sort", []int{1 << 12}, "", graph, "sort_block_buckets", "sort_small"},
	{"sort of 2^16 uint32", "sort", []int{1 << 16}, "", graph, "sort_network_few", "sort_small"},
	{"sort of 2^20 uint32", "sort", []int{1 << 20}, "", graph, "sort_network_few", "sort_small"},
	{"inclusive scan of 2^28 float32", "scan", []int{1 << 28}, "", graph, "scan_pipeline_groups", "scan_times"},
	{"scan of 2^14 float32", "scan", []int{1 << 14}, "", graph, "scan_auto", "scan_small"},
	{"scan of 2^20 float32", "scan", []int{1 << 20}, "", graph, "scan_auto", "scan_small"},
	{"scan by key, 2^28 float32", "scan_by_key", []int{1 << 28}, "", graph, "scan_by_key_look_back_wide", "scan_by_key"},
	{"cumulative sums of the rows of 8192 x 8192", "cumsum", []int{8192, 8192}, "", graph, "cumsum_wide_512", ""},
	{"copy_if of 2^28 float32, order kept", "copy_if", []int{1 << 28}, "", graph, "copy_if_pipeline", "copyif_times"},
	{"convolution 3 x 3, float16, 32 images of 64 channels of 56 x 56", "conv2d_fp16", []int{32, 64, 56, 56, 64, 3, 3}, "", graph, "conv2d_fp16_resident", ""},
	{"the same, TF32", "conv2d_tf32", []int{32, 64, 56, 56, 64, 3, 3}, "", graph, "conv2d_tf32_resident", ""},
	{"the same, float32", "conv2d", []int{32, 64, 56, 56, 64, 3, 3}, "", graph, "conv2d_fp16x3", "conv2d_times"},
	{"convolution 3 x 3, float16, 32 images of 256 channels of 28 x 28", "conv2d_fp16", []int{32, 256, 28, 28, 256, 3, 3}, "", graph, "conv2d_fp16_wide", ""},
	{"the same, TF32", "conv2d_tf32", []int{32, 256, 28, 28, 256, 3, 3}, "", graph, "conv2d_tf32_wide", ""},
	{"the same, float32", "conv2d", []int{32, 256, 28, 28, 256, 3, 3}, "", graph, "conv2d_fp16x3", "conv2d_times"},
	{"convolution 3 x 3 x 3, TF32, 4 volumes of 32 channels of 16 x 56 x 56", "conv3d_tf32", []int{4, 32, 16, 56, 56, 32, 3, 3, 3}, "", graph, "conv3d_tf32_depths", "conv3d_tensor"},
	{"the same, float32", "conv3d", []int{4, 32, 16, 56, 56, 32, 3, 3, 3}, "", graph, "conv3d_fp16x2", "conv3d_times"},
	{"convolution of 2^26 float32 by 9 taps", "conv1d", []int{1 << 26, 9}, "", graph, "conv1d_vector", "conv1d_times"},
	{"convolution of 2^26 float32 by 101 taps", "conv1d", []int{1 << 26, 101}, "", graph, "conv1d_toeplitz_warps", "conv1d_times"},
	{"maximum pooling, 2048 planes of 112 x 112", "maxpool", []int{2048, 112, 112}, "", graph, "maxpool_pairs", ""},
	{"sparse matrix times vector, 2^22 rows of 16, banded", "spmv", []int{1 << 22, 1 << 22, 1 << 26}, "", graph, "spmv_vec4_ahead", "spmv_times"},
	{"the same, an RMAT matrix", "spmv", []int{1 << 22, 1 << 22, 1 << 26}, "rmat", graph, "spmv_hot_columns", "spmv_rmat"},
	{"sparse matrix times matrix, 16 384 x 16 384 with 1 %, 256 columns", "spmm", []int{16384, 16384, 2_684_354, 256}, "random", graph, "spmm_tall_32_warps", ""},
	{"sparse times sparse, 16 384 x 16 384 with 0.1 %", "spgemm", []int{16384, 268_435, 4_600_000}, "", graph, "spgemm_bitmap", "spgemm_times"},
	{"vector add, 2^28 float32", "vectoradd", []int{1 << 28}, "", graph, "vectoradd_block_1024", "vectoradd_times"},
	{"fused bias, mask, scale and add of 2^28 float16", "fused_half", []int{1 << 18, 1024}, "", graph, "fused_half_evict_last", "fused_times"},
	{"GELU, float16, 2^26 values, erf form", "gelu_erf", []int{1 << 26}, "", graph, "gelu_erf_two_vectors", "gelu_times"},
	{"GELU, tanh form", "gelu", []int{1 << 26}, "", graph, "gelu_block_128", "gelu_times"},
	{"concat of two matrices of 8192 x 8192, by columns", "concat", []int{8192, 8192, 8192}, "", graph, "concat_evict_last", "concat_times"},
}

// timed is a rung or a library in one run: its median and range over repetitions, in us.
type timed struct {
	median float64
	verdict.Interval
}

// headlineRun is what one run has measured for a headline.
type headlineRun struct {
	ours, theirs map[string]timed
}

// keepRun checks the lines of a run and keeps them, without the single timings, as the file
// of a name below FOLDER/headlines/GPU. Compressed they are a twelfth as large; zcat prints them.
func keepRun(lines io.Reader, folder, gpu, name string) error {
	if name != filepath.Base(name) || name == "." {
		return fmt.Errorf("--keep %q: expected the name of a run, such as 2026-11-29-1b78982c", name)
	}
	var kept strings.Builder
	var from source
	in := bufio.NewScanner(lines)
	in.Buffer(nil, 1<<20)
	ours := 0
	for n := 1; in.Scan(); n++ {
		var x figure
		if err := json.Unmarshal(in.Bytes(), &x); err != nil {
			return fmt.Errorf("line %.60q: %w", in.Text(), err)
		}
		if err := from.check(n, x); err != nil {
			return err
		}
		if x.Environment.Device != "" {
			ours++
			if err := committed(x.Environment.Commit); err != nil {
				return fmt.Errorf("line %d: %s: %w", n, x.Name, err)
			}
		}
		raw := map[string]any{}
		if err := json.Unmarshal(in.Bytes(), &raw); err != nil {
			return err
		}
		delete(raw, "samples_ns")
		text, err := json.Marshal(raw)
		if err != nil {
			return err
		}
		kept.Write(append(text, '\n'))
	}
	if err := in.Err(); err != nil {
		return err
	}
	if ours == 0 {
		return fmt.Errorf("run %q: no figure of a variant, expected the lines of OUT/headlines-*.jsonl", name)
	}
	dir := filepath.Join(folder, "headlines", gpu)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	if _, err := io.WriteString(w, kept.String()); err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, name+".jsonl.gz"), packed.Bytes(), 0o644)
}

// keptRuns are the runs below FOLDER/headlines/GPU, the oldest name first: of each headline
// what it has.
func keptRuns(folder, gpu string) (runs []map[int]headlineRun, err error) {
	files, err := filepath.Glob(filepath.Join(folder, "headlines", gpu, "*.jsonl.gz"))
	if err != nil {
		return nil, err
	}
	slices.Sort(files)
	for _, file := range files {
		text, err := peers.ReadKept(file)
		if err != nil {
			return nil, err
		}
		run, err := readRun(text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		runs = append(runs, run)
	}
	return runs, nil
}

// readRun reads kept lines. A peer belongs to the clock of our line before it: one that
// cannot be part of a graph is timed between events.
func readRun(text string) (map[int]headlineRun, error) {
	times, clock := map[int]map[string][]float64{}, ""
	for line := range strings.Lines(text) {
		var x peers.Figure
		if err := json.Unmarshal([]byte(line), &x); err != nil {
			return nil, fmt.Errorf("line %.60q: %w", line, err)
		}
		if x.Environment != nil {
			clock = x.Method
		}
		if x.Verdict != ops.Pass || x.MedianNS == 0 {
			continue
		}
		i := slices.IndexFunc(headlines, func(h headline) bool {
			return h.operator == x.Operator && slices.Equal(h.size, x.Size) && h.settings == x.Settings && h.clock == clock
		})
		if i < 0 {
			continue
		}
		if times[i] == nil {
			times[i] = map[string][]float64{}
		}
		times[i][x.Name] = append(times[i][x.Name], micros(x.MedianNS))
	}
	run := map[int]headlineRun{}
	for i, names := range times {
		r := headlineRun{map[string]timed{}, map[string]timed{}}
		for name, all := range names {
			if len(all) >= verdict.LeastRepetitions {
				slices.Sort(all)
				r.add(headlines[i].operator, name, timed{(all[(len(all)-1)/2] + all[len(all)/2]) / 2, verdict.Interval{Low: all[0], High: all[len(all)-1]}})
			}
		}
		run[i] = r
	}
	return run, nil
}

// add puts a time to ours or to those of libraries. Limits, copies and rungs that were removed
// since the run are neither. A library's name loses the kind of the operator, as in measured
// files.
func (r headlineRun) add(operator, name string, t timed) {
	o, err := ops.Find(operator)
	if err != nil {
		return
	}
	if _, err := o.Variant(name); err == nil {
		r.ours[name] = t
		return
	}
	if kind, relative := strings.CutPrefix(operator, filepath.Base(o.Folder)+"_"); relative {
		name = strings.TrimSuffix(name, "_"+kind)
	}
	if !strings.HasPrefix(name, operator+"_") && !strings.HasPrefix(name, "limit_") && (operator != "concat" || name != "torch_copy") {
		r.theirs[name] = t
	}
}

// whole reports whether a run has the rung of a headline and a library.
func (r headlineRun) whole(h headline) bool {
	_, found := r.ours[h.rung]
	return found && len(r.theirs) > 0
}

// runBefore is the run of a headline whose lines were not kept, from its measured file.
func runBefore(h headline, gpu string) (r headlineRun, err error) {
	r = headlineRun{map[string]timed{}, map[string]timed{}}
	m, err := ops.MeasuredRun(h.before + "." + gpu)
	if err != nil {
		return r, err
	}
	for _, t := range m.Times {
		operator := t.Operator
		if operator == "" { // that of the folder
			operator, _, _ = strings.Cut(h.before, "_")
		}
		label := h.settings == "" || !strings.Contains(h.settings, "=") || strings.HasSuffix(t.Label, h.settings)
		if operator != h.operator || !slices.Equal(t.Size, h.size) || !label || t.Turns < verdict.LeastRepetitions {
			continue
		}
		for name, of := range t.RangeUS {
			one := timed{t.US[name], verdict.Interval{Low: of[0], High: of[1]}}
			if !slices.Contains(t.Theirs, name) && !strings.HasPrefix(name, operator+"_") {
				name = operator + "_" + name
			}
			r.add(h.operator, name, one)
		}
	}
	if !r.whole(h) {
		return r, fmt.Errorf("%s.%s: no times of %s at %v beside a library", h.before, gpu, h.rung, h.size)
	}
	return r, nil
}

// fastest is the name with the least median.
func fastest(of map[string]timed) string {
	names := make([]string, 0, len(of))
	for name := range of {
		names = append(names, name)
	}
	return slices.MinFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(of[a].median, of[b].median), cmp.Compare(a, b)) })
}

// row is the line of a headline in Markdown, of its runs, the newest last. The library is the
// fastest of the newest run. Runs that did not time it are left out: they were beside weaker
// ones. Each run is judged beside the library that was the fastest in it.
func (h headline) row(runs []headlineRun) (line string, counted int) {
	library := fastest(runs[len(runs)-1].theirs)
	runs = slices.DeleteFunc(slices.Clone(runs), func(r headlineRun) bool { _, found := r.theirs[library]; return !found })
	ours, theirs := runs[0].ours[h.rung].Interval, runs[0].theirs[library].Interval
	least, low, high := math.Inf(1), math.Inf(1), 0.0
	var each, beside []verdict.Interval
	for _, r := range runs {
		mine, other := r.ours[h.rung], r.theirs[fastest(r.theirs)]
		each, beside = append(each, mine.Interval), append(beside, other.Interval)
		ours, theirs = ours.Join(mine.Interval), theirs.Join(r.theirs[library].Interval)
		ratio := other.median / mine.median
		least, low, high = min(least, mine.median), min(low, ratio), max(high, ratio)
	}
	judged := verdict.OfRuns(each, beside)
	if judged != verdict.Same {
		judged = span(low, high, 2) + " " + judged
	}
	title := h.title
	if o, err := ops.Find(h.operator); err == nil && strings.HasPrefix(h.operator, "gemm") {
		title += fmt.Sprintf(" (%.3g TFLOP/s)", o.Work(h.size).Operations/least/1e6)
	}
	return fmt.Sprintf("| %s | %s us `%s` | %s %s us | %s | %d |", title, span(ours.Low, ours.High, digits(ours.High)), h.rung,
		libraryName(library), span(theirs.Low, theirs.High, digits(theirs.High)), judged, len(each)), len(each)
}

// digits are the decimals of a time in us.
func digits(us float64) int {
	if us >= 1000 {
		return 0
	}
	return 1
}

// span is a range, one number where both ends are written alike.
func span(low, high float64, digits int) string {
	from, to := fmt.Sprintf("%.*f", digits, low), fmt.Sprintf("%.*f", digits, high)
	if from == to {
		return from
	}
	return from + " to " + to
}

// libraryName is the name of a peer's library, as readers know it.
func libraryName(peer string) string {
	for _, known := range [][2]string{
		{"torch_compile", "torch.compile"}, {"torch_histc", "torch.histc"}, {"torch_bincount", "torch.bincount"}, {"torch", "torch"}, {"triton", "Triton"},
		{"cudnn_fused", "cuDNN, fused"}, {"cudnn", "cuDNN"}, {"cublaslt", "cuBLASLt"}, {"cublas", "cuBLAS"}, {"cusparse", "cuSPARSE"}, {"cub_", "CUB"}, {"cupy", "cupy"}, {"thrust", "Thrust"},
	} {
		if strings.HasPrefix(peer, known[0]) {
			return known[1]
		}
	}
	return peer
}

// headlineTable is the table of a GPU, and how many of its rows have verdict.LeastRuns.
func headlineTable(folder, gpu string) (table string, enough int, err error) {
	kept, err := keptRuns(folder, gpu)
	if err != nil {
		return "", 0, err
	}
	var text strings.Builder
	fmt.Fprintf(&text, "| on an NVIDIA %s | ours | fastest library | verdict | runs |\n| --- | --- | --- | --- | --- |\n", strings.ToUpper(gpu))
	for i, h := range headlines {
		var runs []headlineRun
		if h.before != "" {
			before, err := runBefore(h, gpu)
			if err != nil {
				return "", 0, fmt.Errorf("%s: %w", h.title, err)
			}
			runs = append(runs, before)
		}
		for _, run := range kept {
			if r, found := run[i]; found && r.whole(h) {
				runs = append(runs, r)
			}
		}
		if len(runs) == 0 {
			return "", 0, fmt.Errorf("%s: no run has %s beside a library", h.title, h.rung)
		}
		line, counted := h.row(runs)
		fmt.Fprintln(&text, line)
		if counted >= verdict.LeastRuns {
			enough++
		}
	}
	return text.String(), enough, nil
}

// runHeadlines writes the table of figures.md below a folder from all runs, and README's
// rows in both languages, which are copies of some of them.
func runHeadlines(folder, gpu string) error {
	pages, err := headlinePages(folder, gpu)
	if err != nil {
		return err
	}
	for path, text := range pages {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// runsOfRows is the sentence of figures.md that counts the rows with enough runs.
var runsOfRows = regexp.MustCompile(`\d+ of \d+ rows have the three runs`)

// headlinePages are the texts of the pages, by their paths, with today's table.
func headlinePages(folder, gpu string) (map[string]string, error) {
	table, enough, err := headlineTable(folder, gpu)
	if err != nil {
		return nil, err
	}
	root := filepath.Join(folder, "..")
	figures, readme, chinese := filepath.Join(folder, "figures.md"), filepath.Join(root, "README.md"), filepath.Join(root, "notebooks", "README.zh.md")
	pages := map[string]string{}
	for _, path := range []string{figures, readme, chinese} {
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		if path == chinese {
			pages[path], err = inChinese(string(text), pages[readme])
		} else {
			pages[path], err = withHeadlines(string(text), table, path == readme)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	pages[figures] = runsOfRows.ReplaceAllString(pages[figures], fmt.Sprintf("%d of %d rows have the three runs", enough, len(headlines)))
	return pages, nil
}

// rowsOfFigures finds the rows of a table of figures: title, and what follows it.
var rowsOfFigures = regexp.MustCompile("(?m)^(\\| [^|]+ )(\\| [0-9.]+ [^|]* us `.*)$")

// chineseWords are those of the columns of figures.
var chineseWords = strings.NewReplacer(" to ", " 到 ", " FASTER ", " 更快 ", " SLOWER ", " 更慢 ", " SAME ", " 相当 ")

// inChinese is the Chinese page with the figures of README's rows, which are in the same order.
func inChinese(page, readme string) (string, error) {
	english, n := rowsOfFigures.FindAllStringSubmatch(readme, -1), 0
	text := rowsOfFigures.ReplaceAllStringFunc(page, func(row string) string {
		n++
		if n > len(english) {
			return row
		}
		return rowsOfFigures.FindStringSubmatch(row)[1] + chineseWords.Replace(english[n-1][2])
	})
	if n == 0 || n != len(english) {
		return "", fmt.Errorf("%d rows of figures, expected the %d of README.md", n, len(english))
	}
	return text, nil
}

// withHeadlines is a page with the table in the place of its own, which begins with the same
// words; with some, only the rows whose titles the page has.
func withHeadlines(page, table string, some bool) (string, error) {
	first, _, _ := strings.Cut(table, " | ours |")
	before, rest, found := strings.Cut(page, first+" | ours |")
	old, after, ended := strings.Cut(rest, "\n\n")
	if !found || !ended {
		return "", fmt.Errorf("no table that begins with %q", first)
	}
	var lines []string
	for n, line := range slices.Collect(strings.Lines(table)) {
		if n < 2 || !some || strings.Contains(old, "\n"+titleOfRow(line)) {
			lines = append(lines, line)
		}
	}
	return before + strings.Join(lines, "") + "\n" + after, nil
}

// titleOfRow is the first cell of a row, without the rate in brackets.
func titleOfRow(row string) string {
	title, _, _ := strings.Cut(row, " | ")
	title, _, _ = strings.Cut(title, " (")
	return title
}
