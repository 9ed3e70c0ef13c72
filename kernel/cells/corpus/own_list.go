package corpus

// OwnNotebook is how a notebook of this repository is compared with compiled Go.
type OwnNotebook struct {
	Name       string
	Parameters []string // smaller sizes, such as n=4096
	Races      []string // texts of cells of which the emulator's workers decide the numbers
	Quick      bool     // it is of those that take the least time, which the test runs
	Cells      int      // the least number of cells that are compared, in both runs
	Lines      int      // the least number of lines that are equal
}

// OwnNotebooks are the notebooks of this repository.
var OwnNotebooks = []OwnNotebook{
	{Name: "00-your-gpu", Parameters: []string{"n=256"}, Quick: true, Cells: 62, Lines: 480},
	{Name: "01-reduce", Parameters: []string{"n=4096"}, Cells: 150, Lines: 2500},
	{Name: "02-gemm", Parameters: []string{"most=128"}, Cells: 158, Lines: 3800},
	{Name: "03-transpose", Parameters: []string{"n=32"}, Cells: 60, Lines: 800},
	{Name: "04-warp", Cells: 60, Lines: 570},
	{Name: "05-copy-if-histogram", Parameters: []string{"n=500"}, Races: []string{"the race loses counts"}, Cells: 84, Lines: 1100},
	{Name: "06-elementwise", Parameters: []string{"n=64"}, Cells: 74, Lines: 1400},
	{Name: "07-convolution", Parameters: []string{"n=512", "side=16"}, Cells: 114, Lines: 1500},
	{Name: "08-scan-sort", Parameters: []string{"n=2000"}, Races: []string{"LimitWorkers(8)"}, Cells: 76, Lines: 1200},
	{Name: "09-softmax", Parameters: []string{"rows=8", "columns=128"}, Cells: 68, Lines: 1300},
	{Name: "10-sparse-triangles", Parameters: []string{"rows=64", "scale=5", "part_scale=6"}, Cells: 56, Lines: 700},
	{Name: "11-streams-events-graphs", Parameters: []string{"repeats=1", "chunks=2"}, Quick: true, Cells: 46, Lines: 190},
	{Name: "12-write-your-own", Parameters: []string{"n=1027"}, Quick: true, Cells: 40, Lines: 350},
	{Name: "13-languages", Parameters: []string{"n=512"}, Cells: 44, Lines: 680},
	{Name: "14-puzzles", Cells: 228, Lines: 1900},
	{Name: "15-many-gpus", Parameters: []string{"n=1000", "scale=5"}, Quick: true, Cells: 20, Lines: 80},
	{Name: "16-reduce-more", Parameters: []string{"n=4096"}, Cells: 86, Lines: 600},
	{Name: "17-gemm-inside", Quick: true, Cells: 52, Lines: 750},
	{Name: "18-debugger", Quick: true, Cells: 26, Lines: 45},
	{Name: "19-programs", Quick: true, Cells: 4, Lines: 18},
}
