# shellcheck shell=bash
# The functions that .ci/run names as steps. .ci/run sources this file: it has the
# versions, the folder $tmp, and the functions that run a step and try a test again.

tools() {
  if ! command -v chromium >/dev/null; then
    retry apt-get -o DPkg::Lock::Timeout=120 update -qq &&
      retry apt-get -o DPkg::Lock::Timeout=120 install -y -qq chromium fonts-noto-cjk >/dev/null || return
  fi
  if ! command -v slurmctld >/dev/null; then
    retry apt-get -o DPkg::Lock::Timeout=120 update -qq &&
      retry apt-get -o DPkg::Lock::Timeout=120 install -y -qq slurmctld slurmd slurm-client munge >/dev/null || return
  fi
  if ! command -v fish >/dev/null || ! command -v zsh >/dev/null; then # completion
    retry apt-get -o DPkg::Lock::Timeout=120 install -y -qq fish zsh >/dev/null || return
  fi
  if ! command -v debootstrap >/dev/null; then
    retry apt-get -o DPkg::Lock::Timeout=120 install -y -qq debootstrap >/dev/null || return
  fi
  python3 -m venv "$tmp/venv" || return
  retry "$tmp/venv/bin/pip" install -q -r .ci/requirements.txt || return
  (cd "$tmp" && retry npm install --silent --no-audit --no-fund playwright-core@1.64.1 axe-core@4.14.1) || return
  "$tmp/venv/bin/python" --version && chromium --version
}

modules() { # the module's, and the toolchains of other Go versions; programs that several steps run
  retry go mod download && go build -o "$tmp/editedgo" ./kernel/edited/go && go build -o "$tmp/warpbook" ./kernel/warpbook && retry env GOTOOLCHAIN=$newer go version && retry env GOTOOLCHAIN=$older go version && go version
}

formatted() { # gofmt and go mod tidy change nothing
  test -z "$(gofmt -l . | tee /dev/stderr)" && retry go mod tidy -diff
}

anchors() { # anchors FILE.md: those that code hosts give its headings
  sed '/^ *```/,/^ *```/d' "$1" | sed -nE 's/^#+ //p' | tr '[:upper:] ' '[:lower:]-' | sed -E 's/[^[:alnum:]_-]//g'
}

documented() { # relative links of pages name files and headings, and CONTRIBUTING.md names this staticcheck
  local page link file missing=0
  for page in $(git ls-files '*.md'); do
    for link in $(sed '/^ *```/,/^ *```/d' "$page" | grep -oE '\]\([^): ]+' | cut -c 3-); do # not in code
      file=$page
      [ -z "${link%%#*}" ] || file=$(dirname "$page")/${link%%#*}
      [ -e "$file" ] || { echo "$page: $link: no such file" && missing=1 && continue; }
      [[ $link != *.md#* && $link != \#* ]] || anchors "$file" | grep -qxF -- "${link#*#}" || { echo "$page: $link: no such heading" && missing=1; }
    done
  done
  grep -qF "$staticcheck" .github/CONTRIBUTING.md && [ "$missing" -eq 0 ]
}

# The tags of the corrected engine and of the cells program leave out only the stubs of
# kernel/cells and kernel/engine, which are built without tags. Without tags the symbols of
# cells use ixgo as it is, which nothing links: their types are checked.
vetted() { # vetted GO: compiles and vets the whole module with the cells program; other steps link what they run
  export GOTOOLCHAIN=$1
  edited vet ./... && go build ./kernel/cells ./kernel/engine && go vet ./kernel/cells ./kernel/engine &&
    go run ./kernel/edited/go types -unedited ./kernel/engine/symbols/... # built by this Go: an older one does not read its library
}

files() { # the files of each package and of those that it imports, without the standard library's
  edited list -deps -test -f '{{if .Module}}{{.ImportPath}} {{.GoFiles}} {{.CgoFiles}} {{.SFiles}} {{.TestGoFiles}} {{.XTestGoFiles}}{{end}}' ./... | grep . | sort -u
}

# With the same files, packages have the same findings of the compiler and of vet. What runs
# with CGO_ENABLED=1 is README's command and the race detector.
cgo() { # CGO_ENABLED changes no file of ours, and the one package whose files it changes builds with both
  local differ
  for GOTOOLCHAIN in "$GOTOOLCHAIN" "$newer"; do
    differ=$(comm -3 <(CGO_ENABLED=0 files) <(CGO_ENABLED=1 files) | awk '{ print $1 }' | sort -u)
    echo "$GOTOOLCHAIN: CGO_ENABLED=1 changes files of" $differ
    [ -n "$differ" ] && ! grep -v '^github.com/ebitengine/purego' <<<"$differ" && CGO_ENABLED=1 go vet '-gcflags=all=-N -l' ./gpu/nvrtc &&
      CGO_ENABLED=1 go build '-gcflags=all=-N -l' -o "$tmp/cgo-$GOTOOLCHAIN" ./gpu/nvrtc || return
  done
}

checked() { # staticcheck: the module with the cells program, the stubs, the CUDA worker
  retry env GOBIN="$tmp" go install "$staticcheck" || return
  # It takes no -modfile, and a workspace replaces modules, too. Its folder has no clone below it.
  local workspace
  workspace=$(mktemp -d "$tmp/workspace.XXXXXX")/go.work
  { echo "go 1.26" && echo "use $PWD" && edited list -m -f '{{if .Replace}}replace {{.Path}} => {{.Dir}}{{end}}' all | grep .; } >"$workspace" &&
    GOWORK=$workspace "$tmp/staticcheck" -tags=cells,edited ./... && "$tmp/staticcheck" ./kernel/cells ./kernel/engine &&
    CGO_ENABLED=1 CGO_CFLAGS=-I$tmp/cuda12/nvidia/cuda_runtime/include "$tmp/staticcheck" -tags=cuda ./gpu/cuda/worker
}

tests() { # every test once, corpora whole; then what depends on the version of Go, with the newer one
  WARPBOOK_LONG=1 twice "-timeout 30m" ./... &&
    GOTOOLCHAIN=$newer twice "-timeout 30m" ./kernel/cellbuild ./kernel/warpbook
}

edited() { # edited VERB ARGUMENTS...: a go command with the corrected engine
  "$tmp/editedgo" "$@"
}

mutated() { # a sample of careless changes of what decides, the same for a commit: tests see each, or kernel/mutants/survivors.txt says why not
  go run ./kernel/mutants -seconds 30 -seed "0x$(git rev-parse --short=12 HEAD)"
}

# Types are checked of all packages: where files differ by platform, nothing else goes wrong
# in Go. Assembly is assembled. The engine's core, which names what the runtime hides, and
# the packages with files of a system are linked; all programs are linked for linux/amd64,
# and for the browser by the step "site". Nothing of it runs, so nothing is optimised.
cross() { # the platforms beside linux/amd64, which other steps build
  local assembly
  for target in linux/arm64 darwin/arm64; do
    (
      export GOOS=${target%/*} GOARCH=${target#*/}
      edited types ./... && assembly=$(edited list -deps -f '{{if .Module}}{{if .SFiles}}{{.ImportPath}}{{end}}{{end}}' ./... | grep .) &&
        edited build '-gcflags=all=-N -l' $assembly &&
        edited test -c -vet=off '-gcflags=all=-N -l' -o "$tmp/cross-$GOOS/" ./kernel/engine/bytecode ./kernel/nonblock ./gpu/nvrtc
    ) || return
    echo "$target builds"
  done
  for command in ./install ./kernel/warpbook ./ops/cmd/bench; do # they name WSL2
    GOOS=windows GOARCH=amd64 go vet '-gcflags=all=-N -l' "$command" || return
  done
}

old_go() { # an older Go says in one line which version is needed
  local out
  out=$(GOTOOLCHAIN=$older go run ./kernel/warpbook --help 2>&1) && return 1
  echo "$out"
  [[ $out == *"requires go >= 1.26"* && $(wc -l <<<"$out") -eq 1 ]]
}

# The mutations are those of one seed, and their number is fixed, so that a release does not
# fail by the chance of an input that no run before has tried: such inputs are searched
# between releases. The coverage that guides them is that of the package and those below it:
# go test -fuzz would compile all that the tests link once more, which takes five times as long.
fuzz_target() { # fuzz_target PACKAGE TARGET: 100,000 inputs, or 10,000 where an input is a cell; what earlier runs found is not read
  local log count=100000 status
  log=$(mktemp "$tmp/fuzz.XXXXXX")
  [ "$1" != ./kernel/engine ] || count=10000
  # go test's own limit does not count while it fuzzes.
  GODEBUG=fuzzseed=17 timeout -s QUIT -k 30 10m "$tmp/editedgo" test -v -vet=off "-gcflags=$1/...=-d=libfuzzer" "$1" -run '^$' -args -test.fuzz="^$2\$" -test.fuzztime=${count}x \
    -test.fuzzminimizetime=1x -test.parallel=1 -test.fuzzcachedir="$(mktemp -d "$tmp/found.XXXXXX")" >"$log" 2>&1
  status=$?
  [ "$status" -eq 0 ] && grep -qa "execs: $count " "$log" && ! grep -a 'without coverage guidance' "$log" || { echo "$1 $2" && cat "$log" && return "$((status ? status : 1))"; }
  echo "$1 $2: $(grep -a 'execs:' "$log" | tail -n 1)"
}

fuzzed() { # fuzzed PACKAGE TARGET: one that waits for ever, which its log shows, is tried once more
  fuzz_target "$@"
  local status=$?
  [ "$status" -eq 124 ] && echo "once more: $*" && fuzz_target "$@" && passed_again "fuzz $*" || return "$status"
}

fuzz() { # every fuzz target, two at a time
  export tmp && export -f fuzz_target fuzzed passed_again
  grep -rHoE '^func Fuzz\w+' --include=*_test.go . | sed -E 's|^(.*)/[^/]*:func (.*)|\1 \2|' |
    xargs -P 2 -n 2 bash -c 'fuzzed "$@"' fuzz
}

# Where the caches of the machine are empty, as in CI, it fills these, and later steps
# do not compile the same packages again.
fresh() { # the README's first command from a fresh clone with empty caches
  git clone -q . "$tmp/clone" || return
  local log=$tmp/fresh.log start status try own
  own=$(find "$(go env GOCACHE)" "$(go env GOMODCACHE)" "${XDG_CACHE_HOME:-$HOME/.cache}/warpbook" -type f 2>/dev/null | head -n 1)
  for try in 1 2; do
    start=$SECONDS
    (
      cd "$tmp/clone" || exit
      if [ "$try" = 2 ] || [ -n "$own" ]; then
        export GOCACHE=$tmp/cache$try GOMODCACHE=$tmp/mod$try XDG_CACHE_HOME=$tmp/user$try
      fi
      env -u CGO_ENABLED go run ./kernel/warpbook run notebooks/01-reduce.ipynb --out report
    ) 2>&1 | while IFS= read -r line; do printf '%4d s  %s\n' $((SECONDS - start)) "$line"; done | tee "$log"
    status=${PIPESTATUS[0]}
    # It downloads its modules: once more where the network failed, and only then.
    [ "$status" -ne 0 ] && grep -qE 'dial tcp|i/o timeout|TLS handshake|connection reset|unexpected EOF|: 50[0-9] ' "$log" || break
  done
  within 240 "everything" $((SECONDS - start)) && within 30 "the first line of our own" "$(awk '/ s  warpbook:/ { print $1; exit }' "$log")" &&
    return "$status"
}

schema() { # what was executed is valid nbformat 4.5; the notebook took at most 40 s, and reports at most 1 s more
  "$tmp/venv/bin/python" .ci/validate.py "$tmp"/clone/report/*.ipynb notebooks/*.ipynb &&
    within 40 "the notebook" "$("$tmp/venv/bin/python" -c 'import json, sys; print(round(json.load(open(sys.argv[1]))["elapsed_s"]))' \
      "$tmp/clone/report/01-reduce.json")" &&
    within 1 "the report of 01-reduce" "$(report_time 01-reduce "$tmp/fresh.log")" &&
    within 1 "the report of 02-gemm" "$(report_time 02-gemm "$tmp/notebooks.log")"
}

report() { # the HTML, network off: no console error, every plot visible, no serious finding of axe
  smaller 1500000 "$tmp/clone/report/01-reduce.html" && smaller 2000000 "$tmp/clone/report/02-gemm.html" &&
    NODE_PATH=$tmp/node_modules node .ci/report.cjs "$tmp"/clone/report/*.html "$tmp/report.png"
}

# The notebook of nbclient, nbconvert and REST has every kind of output that 01-reduce has,
# and a tenth of its work, which papermill and JupyterLab do.
jupyter_suites() { # the kernel as installed: four clients
  (
    export PATH=$tmp/venv/bin:$PATH NODE_PATH=$tmp/node_modules
    go run ./install --prefix "$tmp/venv" || exit
    jupyter kernelspec list
    timeout 1800 python .ci/nbclient_test.py notebooks/03-transpose.ipynb "$tmp/nbclient" || exit
    retry pip install -q --no-deps ./install/papermill && timeout 900 python .ci/papermill_test.py notebooks/01-reduce.ipynb "$tmp/papermill" || exit
    timeout 900 python .ci/rest_test.py notebooks/03-transpose.ipynb "$tmp/rest" || exit
  )
}

# The public suite runs on the kernel of the wheel, and the other clients on that of install.
wheel() { # a wheel brings the command, the notebooks and the kernel to a machine without Go
  local without=/usr/bin:/bin books=$tmp/wheelbooks
  ! PATH=$without command -v go || return
  for home in first second; do # their wheels are equal, and have the GPU worker
    git clone -q . "$tmp/$home/warpbook" &&
      (cd "$tmp/$home/warpbook" && PYTHONPATH=$tmp/zig CUDA_HOME=$tmp/cuda12/nvidia/cuda_runtime GOCACHE=$(go env GOCACHE) XDG_CACHE_HOME=$tmp/$home/cache go run ./install --wheel "$tmp/$home") &&
      python3 -m zipfile -l "$tmp/$home"/*.whl | grep bin/cuda-worker- || return
  done
  cmp "$tmp"/first/*.whl "$tmp"/second/*.whl && smaller 60000000 "$tmp"/first/*.whl && python3 -m venv "$tmp/wheelenv" &&
    "$tmp/wheelenv/bin/pip" install -q --no-index "$tmp"/first/*.whl || return
  (
    cd "$tmp" && export PATH=$without XDG_CACHE_HOME=$tmp/wheelcache JUPYTER_PATH=$tmp/wheelenv/share/jupyter
    wheelenv/bin/warpbook notebooks "$books" && wheelenv/bin/warpbook run "$books/03-transpose.ipynb" --out "$tmp/wheelreport" &&
      wheelenv/bin/warpbook doctor | tee doctor.log && grep -q '^ok  *kernel ' doctor.log
  ) && PATH=$without XDG_CACHE_HOME=$tmp/wheelcache JUPYTER_PATH=$tmp/wheelenv/share/jupyter timeout 900 "$tmp/venv/bin/python" .ci/kernel_test.py &&
    "$tmp/wheelenv/bin/pip" uninstall -q -y warpbook && [ -z "$(find "$tmp"/wheelenv/share "$tmp/wheelenv/bin/warpbook" -type f 2>/dev/null)" ]
}

image() { # the steps of install/Dockerfile in a clean root, with the wheel of the step before
  python3 .ci/image.py "$tmp/first" "$(mktemp -d "$tmp/image.XXXXXX")"
}

lab() { # the installed kernel in a real JupyterLab
  PATH=$tmp/venv/bin:$PATH NODE_PATH=$tmp/node_modules timeout 2700 node .ci/lab.cjs notebooks/01-reduce.ipynb "${CI_SCREENSHOTS:-$tmp/lab}"
}

site() { # the cells program for WebAssembly, JupyterLite and the pages; its compiler in Node beside clang's own back end
  retry go run ./install --site "$tmp/site" &&
    WARPBOOK_SITE=$tmp/site WARPBOOK_ZIG=$tmp/zig unskipped -run 'TestTab|TestSiteIsReproducible' ./ops/puzzles ./gpu/compile ./kernel/lite
}

browser() { # the site of notebooks in the browser: offline after its first load, outputs as those of the native runs
  # Notebook 01 takes another minute and a half: CI_BROWSER_ALL=1 runs it, too.
  local executed=("$tmp/clone/report/12-write-your-own.ipynb")
  [ -z "${CI_BROWSER_ALL:-}" ] || executed=("$tmp/clone/report/01-reduce.ipynb" "${executed[@]}")
  NODE_PATH=$tmp/node_modules timeout 3600 node .ci/lite.cjs "$tmp/site" "${CI_SCREENSHOTS:-$tmp}/browser" "${executed[@]}"
}

sweeps() { # warpbook sweep on a real Slurm cluster of this machine, short form
  timeout 900 "$tmp/venv/bin/python" .ci/slurm_test.py "$tmp/warpbook" "$tmp/slurm" --short
}

memory() { # the installed kernel's, beside ipykernel's; no time is in it
  PATH=$tmp/venv/bin:$PATH python .ci/bench.py memory
}

figures() { # the installed kernel's, beside ipykernel's, which fail nothing and are of fewer rounds
  PATH=$tmp/venv/bin:$PATH python .ci/bench.py --ipykernel-rounds 200 start_and_restart trivial output busy reach
}

floods() { # by peers without the key, on loopback, 2 s each
  PATH=$tmp/venv/bin:$PATH python .ci/flood.py --short
}

wheels() { # NVIDIA's compilers, assembler and headers, from pip; none needs a GPU
  local pip="$tmp/venv/bin/pip install -q --no-deps --target"
  retry $pip "$tmp/cuda12" nvidia-cuda-nvrtc-cu12==12.0.140 nvidia-cuda-runtime-cu12==12.0.146 \
    nvidia-cuda-cccl-cu12==12.9.27 nvidia-cuda-nvcc-cu12==12.0.140 &&
    retry $pip "$tmp/cuda13" nvidia-cuda-runtime==13.0.96 nvidia-cuda-nvrtc==13.0.88 nvidia-cuda-cccl==13.0.85 \
      nvidia-cuda-crt==13.0.88 nvidia-cuda-nvcc==13.0.88 &&
    retry $pip "$tmp/curand" nvidia-curand-cu12==10.3.1.50 && ln -s "$tmp"/cuda12/nvidia/cuda_* "$tmp/curand/nvidia" && # one test needs it, another its absence
    retry $pip "$tmp/disassembler" nvidia-cuda-nvdisasm==13.2.51 nvidia-cuda-cuobjdump==13.2.51 &&
    retry $pip "$tmp/zig" ziglang==0.17.1 # compiles the emulator's steps for WebAssembly, and CUDA C++
}

# An operator's source is compiled in every mode with one of the two: as committed and for a
# debugger with 12.0, with shorter functions with 13.0. The emulator's corpora take all modes.
compilers() { # kernels in cells, committed PTX and the emulator, with NVRTC 12.0 and 13.0, and clang
  (
    export PATH=$PATH:$tmp/cuda13/nvidia/cu13/bin:$tmp/disassembler/nvidia/cu13/bin
    # The step "tests" ran the programs that no compiler here makes.
    export WARPBOOK_NVRTC=$tmp/cuda12 WARPBOOK_ZIG=$tmp/zig
    WARPBOOK_LONG=1 unskipped -skip 'TestAdvice/curandState|TestTab' ./gpu/nvrtc ./gpu/compile/... &&
      WARPBOOK_NVRTC=$tmp/curand WARPBOOK_LONG=1 unskipped -run TestAdvice/curandState ./gpu/compile &&
      WARPBOOK_LONG=1 unskipped -skip TestPrograms ./gpu/emu/programs -modes O3,G &&
      WARPBOOK_LONG=1 unskipped ./gpu/program/... && unskipped -run 'TestProgramCell|TestDebug' ./kernel/cells &&
      unskipped ./gpu/clang ./ops/cmd/clang ./ops/cmd/listings && unskipped -run 'Clang|TestPadding' ./gpu/emu &&
      unskipped -run TestReadmeAddsAVariant ./ops || exit
    # Listings' messages, missing headers and committed bytes are 12.0's; the assembler is the same one.
    export WARPBOOK_NVRTC=$tmp/cuda13
    unskipped -skip 'TestCommittedPTX|TestMissingHeaders|TestListings|Clang|TestAdvice/curandState|TestTab' ./gpu/nvrtc ./gpu/compile/... &&
      unskipped -skip 'TestAssembler|TestPrograms|TestApproximate' ./gpu/emu/programs -modes use_fast_math
  )
}

webassembly() { # the emulator's steps: the committed module is of its source, and gives the results of portable Go in Node
  WARPBOOK_ZIG=$tmp/zig unskipped ./gpu/emu/simd/simd128 && WARPBOOK_LITE=1 unskipped -run 'TestNodeVectors|TestServiceWorker|TestCompiler' ./kernel/lite
}

worker() { # the CUDA worker compiles against headers of 12.x and 13.x
  CUDA_HOME=$tmp/cuda12/nvidia/cuda_runtime unskipped -run TestWorker ./gpu/cuda/build &&
    CUDA_HOME=$tmp/cuda13/nvidia/cu13 unskipped -run TestWorker ./gpu/cuda/build
}

notebook() { # notebook FILE: runs it, and prints its output whole
  local log status
  log=$(mktemp "$tmp/notebook.XXXXXX")
  "$tmp/warpbook" run "$1" --out "$tmp/clone/report" >"$log" 2>&1
  status=$?
  cat "$log"
  return "$status"
}

notebooks() { # every other notebook, from clean, two at a time; kernels in cells with NVRTC and without
  # Of the Chinese copies one runs: a test compares their code with the originals.
  export tmp && export -f notebook
  printf '%s\n' notebooks/*.ipynb | grep -vE '/01-reduce\.|\.zh\.' | cat - <(echo notebooks/12-*.zh.ipynb) |
    xargs -P 2 -n 1 bash -c 'notebook "$1"' notebook | tee "$tmp/notebooks.log" || return
  WARPBOOK_NVRTC=$tmp/cuda12 "$tmp/warpbook" run notebooks/12-write-your-own.ipynb --out "$tmp/nvrtc" &&
    "$tmp/warpbook" sweep notebooks/12-write-your-own.ipynb --set n=0,1,3,100,512,1000,65536,100003 --out "$tmp/sizes"
}

# The checks of operators are minutes of one goroutine that waits for the
# emulator, whose concurrency the other tests drive. What is concurrent in an
# operator is its reference and its handles. Only tests of operators import optest.
operators() {
  go list -f '{{.ImportPath}} {{join .TestImports " "}} {{join .XTestImports " "}}' ./... | awk '/ warpbook\/ops\/optest/ { print $1 }'
}

races_of_operators() { # only references and handles
  CGO_ENABLED=1 twice "-race -timeout 30m -short -run Reference|Handle|Interrupt|Stop" $(operators)
}

# What such a package calls in other packages is driven by several goroutines in their tests.
concurrent() { # the packages with tests whose files, tests included, start goroutines or have what several may share
  local package dir
  go list -f '{{if or .TestGoFiles .XTestGoFiles}}{{.ImportPath}} {{.Dir}}{{end}}' ./... | while read -r package dir; do
    ! grep -qE '\bgo (func\b|[A-Za-z_][A-Za-z_.]*\()|\bchan\b|errgroup|\b(sync|atomic|http|net)\.|AfterFunc|\.Parallel\(|RunParallel' "$dir"/*.go || echo "$package"
  done
}

# Short: one set of vectors. Programs of one worker, in the corpora of defects and of patterns,
# files that are only loaded or read, charts and puzzles of one goroutine have nothing to race: the step
# "tests" runs them.
races() {
  # kernel/engine has one test without the corrections, of an error. gpu/emu/programs has
  # small programs, one after the other; gpu/emu's own tests drive several workers.
  local alone='Profiler|Defects|OfPatterns|TestCorpus|TestPlotBundle|TestLogPlots|TestUndrawable|TestTimeline'
  alone+='|TestExamples|TestNotebooksTwice|TestSoak|TestLatencyChart|TestChart|TestLineChart|TestMissingGlyphs|TestFigureIsAPlot'
  alone+='|TestCellChart|TestCellLetters|TestBarsOfValue|TestVectorsAreTheSame|TestSeriesOfUnknownPlotter|TestPartialSite'
  CGO_ENABLED=1 twice "-race -timeout 30m -short -skip $alone" $(concurrent | grep -vxF "$(operators)" |
    grep -vx -e warpbook/kernel/engine -e warpbook/gpu/emu/programs)
}

engine() { # engine GO: what links the engine, with a Go whose types it lays out
  GOTOOLCHAIN=$1 edited test -vet=off -timeout 30m ./kernel/engine
}
