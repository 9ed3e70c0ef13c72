package jupyter

import (
	"crypto/hmac"
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha3"
	"crypto/sha512"
	"encoding/hex"
	"fmt"
	"hash"
	"maps"
	"slices"
	"strings"
	"sync"
)

// remembered is the number of signatures that a key keeps to detect replays.
const remembered = 1 << 16

// schemes are the signature schemes of connection files: hmac and a hash of Python's
// hashlib that the standard library has.
var schemes = map[string]func() hash.Hash{
	"hmac-md5":      md5.New,
	"hmac-sha1":     sha1.New,
	"hmac-sha224":   sha256.New224,
	"hmac-sha256":   sha256.New,
	"hmac-sha384":   sha512.New384,
	"hmac-sha512":   sha512.New,
	"hmac-sha3_224": func() hash.Hash { return sha3.New224() },
	"hmac-sha3_256": func() hash.Hash { return sha3.New256() },
	"hmac-sha3_384": func() hash.Hash { return sha3.New384() },
	"hmac-sha3_512": func() hash.Hash { return sha3.New512() },
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

// mark is the beginning of a signature, as long as the shortest scheme's. It identifies
// the signature.
type mark [16]byte

// NewKey makes the key of a connection file.
func NewKey(scheme, secret string) (*Key, error) {
	if secret == "" {
		return &Key{}, nil
	}
	hash, ok := schemes[scheme]
	if !ok {
		return nil, fmt.Errorf("jupyter: signature scheme %q: unknown, expected one of %s", scheme, strings.Join(slices.Sorted(maps.Keys(schemes)), ", "))
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
		return fmt.Errorf("jupyter: verify: %w: not of this key", errSignature)
	}
	if k.replayed(signature) {
		return fmt.Errorf("jupyter: verify: %w: seen before", errSignature)
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
