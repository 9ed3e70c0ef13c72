package jupyter

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/hex"
	"fmt"
	"hash"
	"sync"
)

// remembered is the number of signatures that a key keeps to detect replays.
const remembered = 1 << 16

// schemes are the signature schemes of connection files.
var schemes = map[string]func() hash.Hash{
	"hmac-sha256": sha256.New,
	"hmac-sha384": sha512.New384,
	"hmac-sha512": sha512.New,
}

// Key signs and verifies messages. An empty key signs nothing and accepts
// everything. Its methods may be called from any goroutine.
type Key struct {
	secret []byte
	macs   sync.Pool // of hash.Hash keyed with secret: keying takes longer than hashing a small message

	mu     sync.Mutex        // guards the fields below
	seen   map[mark]struct{} // accepted signatures; a replayed message is rejected
	oldest []mark            // the keys of seen in order; a ring once it is full
	next   int               // where the ring is overwritten
}

// mark is the beginning of a signature, half as long as the shortest scheme's. It
// identifies the signature.
type mark [16]byte

// NewKey makes the key of a connection file.
func NewKey(scheme, secret string) (*Key, error) {
	if secret == "" {
		return &Key{}, nil
	}
	hash, ok := schemes[scheme]
	if !ok {
		return nil, fmt.Errorf("jupyter: signature scheme %q: unknown, expected hmac-sha256, hmac-sha384 or hmac-sha512", scheme)
	}
	k := &Key{secret: []byte(secret), seen: map[mark]struct{}{}}
	k.macs.New = func() any { return hmac.New(hash, k.secret) }
	return k, nil
}

// sign returns the signature in hexadecimal digits.
func (k *Key) sign(body [][]byte) []byte {
	if len(k.secret) == 0 {
		return nil
	}
	mac := k.macs.Get().(hash.Hash)
	defer k.macs.Put(mac)
	mac.Reset()
	for _, part := range body {
		mac.Write(part)
	}
	return hex.AppendEncode(nil, mac.Sum(nil))
}

// verify accepts each signed message once; it rejects replays.
func (k *Key) verify(signature []byte, body [][]byte) error {
	if len(k.secret) == 0 {
		return nil
	}
	if !hmac.Equal(signature, k.sign(body)) {
		return fmt.Errorf("jupyter: verify: %w: not of this key", ErrSignature)
	}
	if k.replayed(signature) {
		return fmt.Errorf("jupyter: verify: %w: seen before", ErrSignature)
	}
	return nil
}

// replayed remembers a signature and reports whether it was known.
func (k *Key) replayed(signature []byte) bool {
	var m mark
	hex.Decode(m[:], signature[:hex.EncodedLen(len(m))]) // it equals ours, so it is long enough
	k.mu.Lock()
	defer k.mu.Unlock()
	if _, known := k.seen[m]; known {
		return true
	}
	k.seen[m] = struct{}{}
	if len(k.oldest) < remembered {
		k.oldest = append(k.oldest, m)
		return false
	}
	delete(k.seen, k.oldest[k.next])
	k.oldest[k.next] = m
	k.next = (k.next + 1) % remembered
	return false
}
