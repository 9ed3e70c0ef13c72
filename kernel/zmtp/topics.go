package zmtp

// The bounds of one peer's subscriptions.
const (
	topicLength = 1 << 10 // bytes of a topic
	topicCount  = 1 << 13 // topics
)

// topicOverhead is the memory that a subscription takes besides its bytes.
const topicOverhead = 128

// topics are the subscriptions of one peer, with how often each was made. The
// peer's mu guards them.
type topics struct {
	budget *Budget
	count  map[string]int
	bytes  int
}

// add begins a subscription.
func (t *topics) add(topic string) error {
	if t.count[topic] > 0 {
		t.count[topic]++
		return nil
	}
	size := len(topic) + topicOverhead
	switch {
	case len(topic) > topicLength:
		return violates("zmtp: subscription to a topic of %d bytes, expected at most %d", len(topic), topicLength)
	case len(t.count) == topicCount:
		return violates("zmtp: more than %d subscriptions", topicCount)
	case !t.budget.take(&t.budget.topics, size):
		return violates("zmtp: subscriptions of all peers take more than %d bytes", topicsBytes)
	}
	t.count[topic] = 1
	t.bytes += size
	return nil
}

// remove ends a subscription that was made once.
func (t *topics) remove(topic string) {
	switch n := t.count[topic]; {
	case n > 1:
		t.count[topic]--
	case n == 1:
		delete(t.count, topic)
		size := len(topic) + topicOverhead
		t.bytes -= size
		t.budget.give(&t.budget.topics, size)
	}
}

// clear ends all subscriptions.
func (t *topics) clear() {
	t.budget.give(&t.budget.topics, t.bytes)
	t.count, t.bytes = nil, 0
}

// match reports whether one of the topics is a prefix of topic. It looks up each
// prefix: there are fewer than subscriptions may be.
func (t *topics) match(topic string) bool {
	if len(t.count) == 0 {
		return false
	}
	for n := range min(len(topic), topicLength) + 1 {
		if t.count[topic[:n]] > 0 {
			return true
		}
	}
	return false
}
