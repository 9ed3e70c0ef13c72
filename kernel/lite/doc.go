// Package lite builds a static site in which the notebooks' cells run in a browser tab:
// the cells program compiled to WebAssembly, the JavaScript that starts it in a web
// worker, and pages. Its main functions are Program and Site; package install calls
// Site.
//
// The program speaks the frames of package cellproto with its worker. The JavaScript is
// in this folder: files.js is the file system that Go's system calls see, vectors.js runs
// the emulator's vector instructions, program.js starts the program in a worker or in Node,
// client.js drives a worker from a page, keep.js registers the service worker, worker.js and
// node.js are the two places where the program runs. exec.js runs Go tests in Node,
// compiler_node.js the compiler of a site. wasm_exec.js comes from the Go toolchain at build
// time and is not committed.
//
// It must not import the engine, the server, gpu or ops.
package lite
