//go:build !windows

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"

	"warpbook/kernel/cellbuild"
	"warpbook/kernel/kernelspec"
	"warpbook/kernel/leaf/atomicfile"
	"warpbook/kernel/leaf/buildcache"
	"warpbook/kernel/leaf/release"
)

// install builds, copies and registers, in an order in which an interruption leaves an
// older installation working. Of two concurrent installs one waits.
func install(ctx context.Context, place kernelspec.Place) error {
	if err := os.MkdirAll(place.Programs, 0o755); err != nil {
		return elsewhere(err)
	}
	built, err := cellbuild.Cells(ctx, os.Stdout)
	if err != nil {
		return err
	}
	root, err := moduleRoot(ctx)
	if err != nil {
		return err
	}
	hash, err := cellbuild.HashSource(root)
	if err != nil {
		return err
	}
	if err := replace(ctx, place, hash, built, buildCompiler(ctx)); err != nil {
		return err
	}
	buildWorker(ctx)
	fmt.Printf("programs   %s\n           %s\nkernelspec %s\n", place.Kernel(), place.Cells(), place.Spec)
	next(ctx)
	return nil
}

// replace puts the programs and the kernelspec in place, with the lock of the programs'
// folder held. The kernel gets the hash of its source, which the cells program has, too.
// nvrtc may be "": cells then compile elsewhere.
func replace(ctx context.Context, place kernelspec.Place, hash, built, nvrtc string) error {
	folder, err := os.Open(place.Programs)
	if err != nil {
		return elsewhere(err)
	}
	defer folder.Close() // releases the lock
	waiting := sync.OnceFunc(func() { fmt.Println("waiting for another install into", place.Programs) })
	if err := atomicfile.Lock(ctx, folder, waiting); err != nil && ctx.Err() != nil {
		return err // a folder without locks, as on some networks, is installed into nevertheless
	}
	_, before := kernelspec.Read(place.Spec)
	if err := buildcache.Put(place.Cells(), copyFrom(built)); err != nil {
		return elsewhere(err)
	}
	if err := buildcache.Put(place.Kernel(), buildKernel(ctx, hash)); err != nil {
		return elsewhere(err)
	}
	if nvrtc != "" {
		if err := buildcache.Put(place.Compiler(), copyFrom(nvrtc)); err != nil {
			return elsewhere(err)
		}
	}
	if err := kernelspec.New(place.Kernel(), place.Cells()).Write(place.Spec); err != nil {
		return elsewhere(err)
	}
	if _, err := buildcache.Remove(place.Former()); err != nil {
		return elsewhere(err)
	}
	if before == nil {
		fmt.Println("an older installation was replaced")
	}
	return nil
}

// elsewhere adds the remedy to an error about a folder that is not writable.
func elsewhere(err error) error {
	if errors.Is(err, fs.ErrPermission) {
		return fmt.Errorf("%w: choose a folder that you may write with --user or --prefix DIR", err)
	}
	return err
}

func copyFrom(source string) func(string) error {
	return func(fresh string) error {
		from, err := os.Open(source)
		if err != nil {
			return err
		}
		defer from.Close()
		to, err := os.OpenFile(fresh, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o755)
		if err != nil {
			return err
		}
		_, err = io.Copy(to, from)
		return errors.Join(err, to.Close())
	}
}

func buildKernel(ctx context.Context, hash string) func(string) error {
	return func(fresh string) error {
		fmt.Println("building the kernel")
		var out []byte
		var err error
		// go version -m shows the commit of an installed kernel. If git rejects the
		// folder, such as one of another user, the kernel is built without the commit.
		for _, stamp := range []string{"-buildvcs=auto", "-buildvcs=false"} {
			c := exec.CommandContext(ctx, "go", "build", stamp, "-ldflags="+release.Stamp(hash), "-o", fresh, "warpbook/kernel/warpbook-kernel")
			c.Env = append(os.Environ(), "CGO_ENABLED=0")
			if out, err = c.CombinedOutput(); err == nil {
				return nil
			}
			if !bytes.Contains(out, []byte("VCS status")) {
				break
			}
		}
		return fmt.Errorf("go build warpbook/kernel/warpbook-kernel: %w: %s", err, bytes.TrimSpace(out))
	}
}

// next prints the user's next command.
func next(ctx context.Context) {
	if err := exec.CommandContext(ctx, "jupyter", "lab", "--version").Run(); err != nil {
		fmt.Println("JupyterLab was not found; get it with: python3 -m pip install jupyterlab")
	}
	fmt.Println("start with: jupyter lab notebooks/01-reduce.ipynb")
}

// remove removes the kernelspec first, so that Jupyter never offers a kernel whose
// programs are gone.
func remove(place kernelspec.Place) error {
	found, err := kernelspec.Remove(place.Spec)
	if err != nil {
		return err
	}
	for _, path := range []string{place.Kernel(), place.Cells(), place.Compiler(), place.Former()} {
		removed, err := buildcache.Remove(path)
		if err != nil {
			return err
		}
		found = found || removed
	}
	os.Remove(place.Programs) // fails if other files are left
	os.Remove(filepath.Dir(place.Programs))
	if !found {
		fmt.Println("nothing is installed in", place.Spec)
		return nil
	}
	fmt.Println("removed", place.Spec, "and", place.Programs)
	return nil
}

// pythonPrefix returns the root of the active Python environment.
func pythonPrefix(ctx context.Context) (string, error) {
	for _, name := range []string{"VIRTUAL_ENV", "CONDA_PREFIX"} {
		if dir := os.Getenv(name); dir != "" {
			return dir, nil
		}
	}
	out, err := exec.CommandContext(ctx, "python3", "-c", "import sys; print(sys.prefix)").Output()
	if err != nil {
		return "", fmt.Errorf("--sys-prefix: python3: %w: activate an environment, or name it with --prefix DIR", err)
	}
	return strings.TrimSpace(string(out)), nil
}
