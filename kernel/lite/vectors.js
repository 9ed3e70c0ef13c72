// Vectors runs the emulator's steps with the vector instructions of WebAssembly, which the
// Go compiler does not emit: a second module shares the memory of the Go program, which
// carries it, see gpu/emu/simd/vector_js.go.
"use strict";

(() => {
	// The Go program imports a function of the second module, whose import is the memory of
	// the first. A table breaks the circle: this module calls what the table holds. It is
	// (module (type (func (param i32))) (table (export "table") 1 funcref)
	//   (func (export "run") (param i32) (call_indirect (local.get 0) (i32.const 0))))
	const relay = new Uint8Array([
		0, 0x61, 0x73, 0x6d, 1, 0, 0, 0,
		1, 5, 1, 0x60, 1, 0x7f, 0, // type 0: (i32)
		3, 2, 1, 0, // function 0 of type 0
		4, 4, 1, 0x70, 0, 1, // a table of one function
		7, 15, 2, 3, 0x72, 0x75, 0x6e, 0, 0, 5, 0x74, 0x61, 0x62, 0x6c, 0x65, 1, 0, // exports
		10, 11, 1, 9, 0, 0x20, 0, 0x41, 0, 0x11, 0, 0, 0x0b,
	]);

	// imports returns what a Go program needs beside what wasm_exec.js gives it. memory
	// returns the program's memory, once it runs.
	function imports(memory) {
		const { run, table } = new WebAssembly.Instance(new WebAssembly.Module(relay)).exports;
		globalThis.warpbookVectors = (bytes) => {
			if (!WebAssembly.validate(bytes)) return false; // a browser without SIMD128
			table.set(0, new WebAssembly.Instance(new WebAssembly.Module(bytes), { env: { memory: memory() } }).exports.run);
			return true;
		};
		return { warpbook: { run } };
	}

	globalThis.warpbook = Object.assign(globalThis.warpbook || {}, { vectors: imports });
})();
