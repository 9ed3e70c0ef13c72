package engine

import (
	"errors"
	"os"
	"reflect"
	"runtime/debug"
	"time"

	"warpbook/kernel/engine/ask"
	"warpbook/kernel/engine/check"
	"warpbook/kernel/engine/compile"
	"warpbook/kernel/engine/graph"
	"warpbook/kernel/engine/magic"
	"warpbook/kernel/engine/namespace"
	"warpbook/kernel/engine/packages"
	"warpbook/kernel/engine/rtypes"
	"warpbook/kernel/engine/stop"
)

// New starts a session.
func New(config Config) (*Engine, error) {
	if !edited {
		return nil, errors.New("engine: the engine library was built without its corrections, expected a program built with: go run ./kernel/edited/go build ./kernel/cells")
	}
	debug.SetMaxStack(maxStack)
	if config.AbandonAfter == 0 {
		config.AbandonAfter = 2 * time.Second
	}
	if config.Lasting == nil {
		config.Lasting = func() {}
	}
	ctx := compile.NewContext(0)
	names, f := namespace.New(), &namespace.Files{Ctx: ctx, Importer: packages.NewImporter(ctx)}
	h := newHost(&config, f)
	config.Advice.Namespace = namespace.Lookup{Namespace: names, Importer: f.Importer}
	c := &check.Checker{Namespace: names, Files: f, Language: &check.Language{Magics: magic.Builtin(config.Magics...), Advice: &config.Advice}}
	p := newCompiler(names, f, h)
	c.Grow = p.Types.Grow
	e := &Engine{Namespace: names, Files: f, Checker: c, Compiler: p, host: h, config: config,
		Asker: &ask.Asker{Checker: c, Docs: config.Doc, Busy: h.stop.Busy, Texts: config.Texts}}
	c.Instrument = e.instrument
	if err := e.registerRuntime(); err != nil {
		return nil, err
	}
	return e, nil
}

func newCompiler(names *namespace.Namespace, f *namespace.Files, h *host) *compile.Compiler {
	c := &compile.Compiler{Namespace: names, Files: f, Externals: h.externals, Hook: h.hook, Reached: reached, Execute: h.execute}
	names.Graph = graph.New(c.ImportedUnit)
	c.Types = rtypes.New(f.Ctx, names.Graph.Nested)
	c.Types.Home, c.Types.Replaced = c.Home, h.methods
	names.MadeTypes = c.MadeTypes
	c.Loader = &rtypes.Loader{Loader: f.Ctx.Loader, Types: c.Types, Nested: names.Graph.Nested}
	f.Ctx.Loader = c.Loader
	return c
}

func newHost(config *Config, f *namespace.Files) *host {
	h := &host{config: config, files: f, stop: stop.New(), externals: map[string]any{}, methods: map[string]map[reflect.Type]reflect.Value{}}
	h.stdout, h.stderr = stream{h, "stdout", os.Stdout}, stream{h, "stderr", os.Stderr}
	h.hook(f.Ctx)
	return h
}
