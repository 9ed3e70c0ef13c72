// An in-memory file system with the functions of Node's fs and process that Go's
// syscall package calls. One instance belongs to one program.
"use strict";

(() => {
	const O = { WRONLY: 1, RDWR: 2, CREAT: 0o100, EXCL: 0o200, TRUNC: 0o1000, APPEND: 0o2000, DIRECTORY: 0o200000 };
	const DIR = 0o040755, FILE = 0o100644, CHAR = 0o020620;

	class Failure extends Error {
		constructor(code) { super(code); this.code = code; }
	}

	// Files holds nodes: {mode, ino, mtime, children: Map} or {mode, ino, mtime, bytes, size}.
	class Files {
		// print gets the bytes that the program writes to descriptors 1 and 2.
		constructor(print) {
			this.print = print;
			this.inodes = 0;
			this.root = this.folder();
			this.descriptors = [{ node: this.device() }, { node: this.device() }, { node: this.device() }];
			this.current = "/";
		}

		folder() { return { mode: DIR, ino: ++this.inodes, mtime: Date.now(), children: new Map() }; }
		file() { return { mode: FILE, ino: ++this.inodes, mtime: Date.now(), bytes: new Uint8Array(0), size: 0 }; }
		device() { return { mode: CHAR, ino: ++this.inodes, mtime: Date.now(), size: 0 }; }

		// add writes a whole file and makes its folders.
		add(path, bytes) {
			const names = this.names(path), name = names.pop();
			let at = this.root;
			for (const n of names) {
				if (!at.children.has(n)) at.children.set(n, this.folder());
				at = at.children.get(n);
			}
			const node = this.file();
			node.bytes = bytes;
			node.size = bytes.length;
			at.children.set(name, node);
		}

		names(path) {
			const names = [];
			for (const n of (path.startsWith("/") ? path : this.current + "/" + path).split("/")) {
				if (n === "..") names.pop();
				else if (n !== "" && n !== ".") names.push(n);
			}
			return names;
		}

		resolve(path) { return "/" + this.names(path).join("/"); }

		// find returns a node, its folder and its name; node is undefined if only the folder exists.
		find(path) {
			const names = this.names(path);
			let parent, node = this.root;
			names.forEach((n, i) => {
				if (!node) throw new Failure("ENOENT");
				if (!node.children) throw new Failure("ENOTDIR");
				parent = node;
				node = node.children.get(n);
			});
			return { parent, node, name: names[names.length - 1] };
		}

		existing(path) {
			const { node } = this.find(path);
			if (!node) throw new Failure("ENOENT");
			return node;
		}

		of(fd) {
			const d = this.descriptors[fd];
			if (!d) throw new Failure("EBADF");
			return d;
		}

		stats(node) {
			return {
				dev: 1, ino: node.ino, mode: node.mode, nlink: 1, uid: 0, gid: 0, rdev: 0, size: node.size || 0,
				blksize: 4096, blocks: Math.ceil((node.size || 0) / 512), atimeMs: node.mtime, mtimeMs: node.mtime, ctimeMs: node.mtime,
				isDirectory: () => !!node.children,
			};
		}

		resize(node, size) {
			if (size > node.bytes.length) {
				const bytes = new Uint8Array(Math.max(size, 2 * node.bytes.length));
				bytes.set(node.bytes.subarray(0, node.size));
				node.bytes = bytes;
			} else if (size < node.size) {
				node.bytes = node.bytes.slice(0, size);
			}
			node.size = size;
			node.mtime = Date.now();
		}

		open(path, flags, mode) {
			const at = this.find(path);
			let node = at.node;
			if (!node) {
				if (!(flags & O.CREAT)) throw new Failure("ENOENT");
				node = this.file();
				if (mode) node.mode = 0o100000 | (mode & 0o777);
				at.parent.children.set(at.name, node);
			} else if ((flags & O.CREAT) && (flags & O.EXCL)) {
				throw new Failure("EEXIST");
			} else if (node.children && (flags & (O.WRONLY | O.RDWR))) {
				throw new Failure("EISDIR");
			} else if (!node.children && (flags & O.DIRECTORY)) {
				throw new Failure("ENOTDIR");
			} else if ((flags & O.TRUNC) && !node.children) {
				this.resize(node, 0);
			}
			const fd = this.descriptors.findIndex((d) => !d);
			const descriptor = { node, position: 0, append: !!(flags & O.APPEND) };
			if (fd < 0) return this.descriptors.push(descriptor) - 1;
			this.descriptors[fd] = descriptor;
			return fd;
		}

		read(fd, buffer, offset, length, position) {
			const d = this.of(fd);
			if (d.node.children) throw new Failure("EISDIR");
			if (!d.node.bytes) return 0;
			const from = position === null ? d.position : position;
			const part = d.node.bytes.subarray(from, Math.min(from + length, d.node.size));
			buffer.set(part, offset);
			if (position === null) d.position += part.length;
			return part.length;
		}

		write(fd, buffer, offset, length, position) {
			const d = this.of(fd), part = buffer.subarray(offset, offset + length);
			if (!d.node.bytes) {
				this.print(fd, part.slice());
				return length;
			}
			const from = d.append ? d.node.size : position === null ? d.position : position;
			if (from + length > d.node.size) this.resize(d.node, from + length);
			d.node.bytes.set(part, from);
			if (position === null) d.position = from + length;
			return length;
		}

		mkdir(path, mode) {
			const at = this.find(path);
			if (at.node) throw new Failure("EEXIST");
			const node = this.folder();
			node.mode = 0o040000 | (mode & 0o777);
			at.parent.children.set(at.name, node);
		}

		unlink(path) {
			const at = this.find(path);
			if (!at.node) throw new Failure("ENOENT");
			if (at.node.children) throw new Failure("EISDIR");
			at.parent.children.delete(at.name);
		}

		rmdir(path) {
			const at = this.find(path);
			if (!at.node) throw new Failure("ENOENT");
			if (!at.node.children) throw new Failure("ENOTDIR");
			if (at.node.children.size) throw new Failure("ENOTEMPTY");
			at.parent.children.delete(at.name);
		}

		rename(from, to) {
			const a = this.find(from), b = this.find(to);
			if (!a.node) throw new Failure("ENOENT");
			if (b.node && b.node.children && b.node.children.size) throw new Failure("ENOTEMPTY");
			a.parent.children.delete(a.name);
			b.parent.children.set(b.name, a.node);
		}

		chdir(path) {
			if (!this.existing(path).children) throw new Failure("ENOTDIR");
			this.current = this.resolve(path);
		}

		// fs returns the object that Go takes for Node's fs. Callbacks are called at once.
		fs() {
			const table = {
				open: (path, flags, mode) => this.open(path, flags, mode),
				close: (fd) => { this.of(fd); this.descriptors[fd] = undefined; },
				read: (...a) => this.read(...a),
				write: (...a) => this.write(...a),
				fstat: (fd) => this.stats(this.of(fd).node),
				stat: (path) => this.stats(this.existing(path)),
				lstat: (path) => this.stats(this.existing(path)),
				readdir: (path) => {
					const node = this.existing(path);
					if (!node.children) throw new Failure("ENOTDIR");
					return [...node.children.keys()];
				},
				mkdir: (path, mode) => this.mkdir(path, mode),
				unlink: (path) => this.unlink(path),
				rmdir: (path) => this.rmdir(path),
				rename: (from, to) => this.rename(from, to),
				truncate: (path, size) => this.resize(this.existing(path), size),
				ftruncate: (fd, size) => this.resize(this.of(fd).node, size),
				fsync: () => { },
				chmod: (path, mode) => { const n = this.existing(path); n.mode = (n.mode & ~0o777) | (mode & 0o777); },
				fchmod: (fd, mode) => { const n = this.of(fd).node; n.mode = (n.mode & ~0o777) | (mode & 0o777); },
				utimes: (path, _, mtime) => { this.existing(path).mtime = 1000 * mtime; },
			};
			const fs = { constants: {} };
			for (const [name, value] of Object.entries(O)) fs.constants["O_" + name] = value;
			for (const name of ["chown", "fchown", "lchown", "link", "symlink", "readlink"]) table[name] = () => { throw new Failure("ENOSYS"); };
			for (const [name, f] of Object.entries(table)) {
				fs[name] = (...args) => {
					const callback = args.pop();
					let result;
					try {
						result = f(...args);
					} catch (e) {
						if (!(e instanceof Failure)) throw e;
						callback(e);
						return;
					}
					callback(null, result);
				};
			}
			fs.writeSync = (fd, buffer) => this.write(fd, buffer, 0, buffer.length, null); // of the Go runtime
			return fs;
		}

		process() {
			const none = () => -1;
			return {
				getuid: none, getgid: none, geteuid: none, getegid: none, getgroups: () => [], pid: 1, ppid: 0,
				umask: () => 0o022, cwd: () => this.current, chdir: (path) => this.chdir(path),
			};
		}
	}

	globalThis.warpbook = Object.assign(globalThis.warpbook || {}, { Files });
})();
