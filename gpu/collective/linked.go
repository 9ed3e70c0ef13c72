package collective

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"warpbook/gpu"
)

// Linked is a device that a library joins to others of its kind, so that collectives do not
// go by way of the host: a GPU with NCCL.
type Linked interface {
	gpu.Device

	// Library names the library and its version. The error has the remedy.
	Library() (string, error)

	// GroupID is the number of a new group.
	GroupID() ([]byte, error)

	// Join makes the device a rank of the group. It returns when all ranks have joined,
	// or when ctx ends, with the cause of that.
	Join(ctx context.Context, id []byte, rank, size int) (Member, error)
}

// Member is a rank of the library's group. It is for one goroutine at a time.
type Member interface {
	// Run runs collectives whose buffers were checked, one after the other, and returns
	// when the device has ended them, with the time of one repeat of all. When ctx ends it
	// aborts the group and returns the cause; then the contents of their outputs are
	// undefined.
	Run(ctx context.Context, t gpu.Timing, calls ...Call) (time.Duration, error)

	// Lost is why the rank has left the group without Close, as when its process has ended;
	// nil if it has not.
	Lost() error

	// Close ends the rank's part of the group without waiting for other ranks.
	Close() error
}

// joining limits how long ranks wait for each other when a group is made.
const joining = time.Minute

// New makes a group of a rank for each device. Its bytes are sent by NCCL if all devices are
// GPUs and each has the library, otherwise by way of the host's memory: Transport names
// which, and why. The deadline is that of InMemory; with NCCL it also ends a collective that
// all ranks have joined and that does not end on the device, with the work before it.
func New(deadline time.Duration, devices ...gpu.Device) ([]Communicator, error) {
	all, err := InMemory(deadline, devices...)
	if err != nil {
		return nil, err
	}
	members, library, err := join(devices)
	if err != nil {
		for _, c := range all {
			c.(*memory).why = err.Error()
		}
		return all, nil
	}
	for i, c := range all {
		all[i] = &linked{memory: c.(*memory), member: members[i], transport: library}
	}
	return all, nil
}

// join joins devices by their library. The error is the reason why it does not.
func join(devices []gpu.Device) (members []Member, library string, err error) {
	if len(devices) == 1 {
		return nil, "", errors.New("there is one rank")
	}
	var links []Linked
	for rank, d := range devices {
		l, ok := d.(Linked)
		if !ok {
			return nil, "", fmt.Errorf("rank %d is no GPU", rank)
		}
		found, err := l.Library()
		if err != nil {
			return nil, "", fmt.Errorf("rank %d: %w", rank, err)
		}
		if rank > 0 && found != library {
			return nil, "", fmt.Errorf("rank 0 has %s, rank %d %s, expected one version", library, rank, found)
		}
		links, library = append(links, l), found
	}
	id, err := links[0].GroupID()
	if err != nil {
		return nil, "", fmt.Errorf("rank 0: %w", err)
	}
	ctx, fail := context.WithCancelCause(context.Background())
	defer fail(nil)
	late := time.AfterFunc(joining, func() { fail(fmt.Errorf("the ranks did not join within %v", joining)) })
	defer late.Stop()
	members = make([]Member, len(links))
	var wg sync.WaitGroup
	for rank, l := range links {
		wg.Go(func() {
			m, err := l.Join(ctx, id, rank, len(links))
			if err != nil {
				fail(fmt.Errorf("rank %d: %w", rank, err))
				return
			}
			members[rank] = m
		})
	}
	wg.Wait()
	if err := context.Cause(ctx); err != nil {
		for _, m := range slices.DeleteFunc(members, func(m Member) bool { return m == nil }) {
			if e := m.Close(); e != nil {
				err = fmt.Errorf("%w; %w", err, e) // in one line
			}
		}
		return nil, "", err
	}
	return members, library, nil
}

// linked is a rank whose group sends by a library. The ranks meet as those of memory do, and
// then run what they agree on: the library does not check that.
type linked struct {
	*memory
	transport string // the library and its version

	mu     sync.Mutex
	member Member // nil when it is closed; guarded by mu, which is held while it runs
}

// Transport implements Communicator.
func (l *linked) Transport() string { return l.transport }

// String is the rank and its device.
func (l *linked) String() string {
	return fmt.Sprintf("rank %d of %d, on %v, by %s", l.rank, l.group.size, l.device.Info(), l.transport)
}

// AllReduce implements Communicator.
func (l *linked) AllReduce(in, out gpu.Buffer, op Op) error {
	_, err := l.Time(once, Call{Kind: AllReduce, In: in, Out: out, Op: op})
	return err
}

// Broadcast implements Communicator.
func (l *linked) Broadcast(buffer gpu.Buffer, root int) error {
	_, err := l.Time(once, Call{Kind: Broadcast, In: buffer, Out: buffer, Root: root})
	return err
}

// ReduceScatter implements Communicator.
func (l *linked) ReduceScatter(in, out gpu.Buffer, op Op) error {
	_, err := l.Time(once, Call{Kind: ReduceScatter, In: in, Out: out, Op: op})
	return err
}

// Run implements Communicator.
func (l *linked) Run(calls ...Call) error {
	_, err := l.Time(once, calls...)
	return err
}

var once = gpu.Timing{Repeats: 1}

// Time implements Communicator.
func (l *linked) Time(t gpu.Timing, calls ...Call) (time.Duration, error) {
	c, byHost, interrupts := l.describe(t, calls), false, l.device.Interrupts()
	if err := l.gone(c.kind); err != nil {
		return 0, err
	}
	var sent []Call // those with elements
	if c.err == nil {
		for _, of := range calls {
			typ := of.In.Type()
			byHost = byHost || of.Kind != Broadcast && (typ == gpu.Int16 || typ == gpu.Uint16)
			if of.In.Len() > 0 {
				sent = append(sent, of)
			}
		}
	}
	if _, err := l.group.meet(l.memory, c, interrupts); err != nil {
		return 0, l.ended(err)
	}
	if byHost { // on all ranks, which have agreed: NCCL combines no integers of 16 bits
		took, err := l.memory.Time(t, calls...)
		if err != nil {
			err = l.ended(err)
		}
		return took, err
	}
	if len(sent) == 0 { // NCCL, which waits for the device's work, has nothing to do
		if err := l.device.Sync(); err != nil {
			return 0, l.ended(l.lost(c.kind, err))
		}
		return 0, nil
	}
	return l.together(t, sent, interrupts)
}

// together runs collectives that all ranks have agreed on.
func (l *linked) together(t gpu.Timing, calls []Call, interrupts uint64) (time.Duration, error) {
	kind := calls[0].Kind
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.member == nil {
		return 0, l.group.ended()
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		l.watch(ctx, cancel, kind, interrupts)
	}()
	took, err := l.member.Run(ctx, t, calls...)
	cancel(nil)
	<-watched
	if err == nil {
		return took, nil
	}
	if !errors.Is(err, gpu.ErrClosed) { // the rank that is lost has the better reason
		select {
		case <-l.group.failed:
		case <-time.After(200 * time.Millisecond):
		}
	}
	if ended := l.group.ended(); ended != nil {
		return 0, l.close(ended)
	}
	return 0, l.close(l.lost(kind, err))
}

// watch cancels a collective when the group ends, at the deadline, and at an interrupt of
// the rank's device, until ctx ends.
func (l *linked) watch(ctx context.Context, cancel context.CancelCauseFunc, kind Kind, interrupts uint64) {
	timer, look := time.NewTimer(l.group.deadline), time.NewTicker(20*time.Millisecond)
	defer timer.Stop()
	defer look.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-l.group.failed:
			cancel(l.group.ended())
		case <-timer.C:
			l.group.end(fmt.Errorf("collective: %v: %w: it did not end on rank %d within %v: the group has ended, make another of the ranks that are left",
				kind, ErrMissing, l.rank, l.group.deadline))
		case <-look.C:
			l.look(kind, interrupts)
		}
	}
}

// gone ends the group if the library has lost the rank since its last collective.
func (l *linked) gone(kind Kind) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.member == nil || l.group.ended() != nil {
		return nil // the next meeting returns the error
	}
	if err := l.member.Lost(); err != nil {
		return l.close(l.lost(kind, err))
	}
	return nil
}

// ended closes the member of a group that has ended, and returns the error.
func (l *linked) ended(err error) error {
	if l.group.ended() == nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.close(err)
}

// close closes the member and returns the error; l.mu is held.
func (l *linked) close(err error) error {
	if l.member != nil {
		l.member.Close() // the error that ended the group matters more
		l.member = nil
	}
	return err
}

// Close implements Communicator.
func (l *linked) Close() error {
	l.memory.Close()
	l.mu.Lock()
	defer l.mu.Unlock()
	m := l.member
	l.member = nil
	if m == nil {
		return nil
	}
	return m.Close()
}
