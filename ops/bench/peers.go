package bench

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"warpbook/gpu"
	"warpbook/ops/ladder"
	"warpbook/ops/peers"
	"warpbook/ops/results"
)

// Peers runs the named peers of the operator on the GPU, all for none: CUB,
// torch, cuBLAS, and what memory or arithmetic gives at most. Those that are
// not there are named in the notes, and so are all of them on the emulator.
func (b *Bench) Peers(names ...string) (*results.Peers, error) {
	p := &results.Peers{Subject: b.subject(b.Method.Describe(b.site.Device.Info()) + "; each peer verifies its own result")}
	b.step(0, 1, "peers of "+b.operator.Name)
	session, err := b.PeersInTurns([]ladder.Size{b.site.Size}, 1, names...)
	if err != nil {
		return nil, err
	}
	defer session.Close()
	if p.Figures, err = session.Turn(); err != nil {
		return nil, fmt.Errorf("ops: %s: %w", b.operator.Name, err)
	}
	p.Environment.NotRun = session.Notes
	b.step(1, 1, "peers of "+b.operator.Name)
	return p, nil
}

// PeersInTurns starts the named peers. Each times on request, each size so many times
// before the next, so that our rungs and the peers can take turns. The notes of
// the session name the peers that are not run.
func (b *Bench) PeersInTurns(sizes []ladder.Size, turns int, names ...string) (*peers.Session, error) {
	set := peers.Set{Operator: b.operator.Name, Programs: b.operator.Peers, Files: b.operator.Files}
	if err := set.CheckNames(names); err != nil {
		return nil, fmt.Errorf("ops: %s: %w", b.operator.Name, err)
	}
	if why := noPeers(b.operator, b.Method, b.site.Device.Info()); why != "" {
		return peers.None(why), nil
	}
	all := make([][]int, len(sizes))
	for i, size := range sizes {
		all[i] = size
	}
	session, err := peers.Start(context.Background(), set, all, turns,
		peers.Options{Only: names, Method: b.Method.Clock.String(), Repeats: b.Repeats, Flushed: b.Method.Cache == results.Flushed, GPU: b.site.Device.Info().UUID, Seed: b.seed, Set: settings(b.operator)})
	if err != nil {
		return nil, fmt.Errorf("ops: %s: %w", b.operator.Name, err)
	}
	return session, nil
}

// settings are the parameters that the peers take, where they have not their defaults.
func settings(o *ladder.Operator) (all []string) {
	for _, p := range o.Parameters {
		if p.Value != p.Default && slices.Contains(o.PeersTake, p.Name) {
			all = append(all, p.Name+"="+strconv.FormatFloat(p.Value, 'g', -1, 64))
		}
	}
	return all
}

// noPeers is the reason why no peer is run, "" if peers are run.
func noPeers(o *ladder.Operator, m results.Method, device gpu.Info) string {
	switch {
	case o.Settings() != "" && slices.ContainsFunc(o.Parameters, func(p ladder.Parameter) bool {
		return p.Value != p.Default && !slices.Contains(o.PeersTake, p.Name)
	}):
		return "peers, which compute the operator without " + o.Settings()
	case device.Emulated:
		return "peers, which need a GPU"
	case m.Clock == results.BackToBack || m.Cache == results.Rotated:
		return "peers, which are timed by events, with L2 warm or flushed, or as a graph, and not by " + m.Clock.String() + " with L2 " + m.Cache.String()
	}
	return ""
}
