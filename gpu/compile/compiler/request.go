package compiler

// Request is a compilation: the JSON that the program gpu/nvrtc reads from its standard
// input when it is started with -json, and writes a Reply to its standard output. Package
// gpu/clang takes the same.
type Request struct {
	Name    string            // of the source, in messages and line information
	Text    string            // CUDA C++
	Options []string          // of NVRTC, without those that name folders
	Headers map[string]string // texts of headers by name, found before those of folders
	Names   []string          // name expressions: templates to instantiate
}

// Reply is the result of a compilation. One of PTX and Error is empty.
type Reply struct {
	Compiler string            // "NVRTC 12.0", "clang 22.1.8"
	Release  string            // of NVRTC, "12.0"; the name of another compiler
	PTX      string            // without folders in its line information
	Lowered  map[string]string // name expressions to symbols of the PTX
	Log      string            // the compiler's messages, warnings included
	Error    string            // why there is no PTX
	Newer    bool              // the compiler is newer than those that warpbook was tried with
	Missing  bool              // the compiler was not found, Error is the remedy
}
