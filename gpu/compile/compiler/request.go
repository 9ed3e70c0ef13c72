package compiler

// Request is the JSON that the program gpu/nvrtc reads from its standard input
// when it is started with -json. It writes a Reply to its standard output.
type Request struct {
	Name    string   // of the source, in messages and line information
	Text    string   // CUDA C++
	Options []string // of NVRTC, without those that name folders
	Names   []string // name expressions: templates to instantiate
}

// Reply is the result of a compilation. One of PTX and Error is empty.
type Reply struct {
	Release string            // of NVRTC, "12.0"
	PTX     string            // without folders in its line information
	Lowered map[string]string // name expressions to symbols of the PTX
	Log     string            // the compiler's messages, warnings included
	Error   string            // why there is no PTX
	Missing bool              // libnvrtc was not found, Error is the remedy
}
