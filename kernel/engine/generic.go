package engine

import (
	"crypto/hkdf"
	"crypto/pbkdf2"
	"errors"
	"fmt"
	"hash"
	"hash/maphash"
)

// generic are the generic functions of the standard library that the engine's own
// packages lack, by package: compiled code cannot be registered for them. Functions
// without a body are in genericBodies.
var generic = map[string]string{
	"errors": `package errors

import "errors"

func AsType[E error](err error) (E, bool) {
	var e E
	ok := errors.As(err, &e)
	return e, ok
}
`,
	"reflect": `package reflect

import "reflect"

func TypeAssert[T any](v reflect.Value) (T, bool) {
	t, ok := v.Interface().(T)
	return t, ok
}
`,
	"hash/maphash": `package maphash

import "hash/maphash"

func comparable_(seed maphash.Seed, v any) uint64
func writeComparable(h *maphash.Hash, x any)

func Comparable[T comparable](seed maphash.Seed, v T) uint64 { return comparable_(seed, v) }

func WriteComparable[T comparable](h *maphash.Hash, x T) { writeComparable(h, x) }
`,
	"crypto/hkdf": `package hkdf

import "hash"

func extract(h func() hash.Hash, secret, salt []byte) ([]byte, error)
func expand(h func() hash.Hash, pseudorandomKey []byte, info string, keyLength int) ([]byte, error)
func key(h func() hash.Hash, secret, salt []byte, info string, keyLength int) ([]byte, error)

func Extract[H hash.Hash](h func() H, secret, salt []byte) ([]byte, error) {
	return extract(func() hash.Hash { return h() }, secret, salt)
}

func Expand[H hash.Hash](h func() H, pseudorandomKey []byte, info string, keyLength int) ([]byte, error) {
	return expand(func() hash.Hash { return h() }, pseudorandomKey, info, keyLength)
}

func Key[Hash hash.Hash](h func() Hash, secret, salt []byte, info string, keyLength int) ([]byte, error) {
	return key(func() hash.Hash { return h() }, secret, salt, info, keyLength)
}
`,
	"crypto/pbkdf2": `package pbkdf2

import "hash"

func key(h func() hash.Hash, password string, salt []byte, iter, keyLength int) ([]byte, error)

func Key[Hash hash.Hash](h func() Hash, password string, salt []byte, iter, keyLength int) ([]byte, error) {
	return key(func() hash.Hash { return h() }, password, salt, iter, keyLength)
}
`,
}

// genericBodies are the compiled instances that these functions call.
var genericBodies = map[string]any{
	"hash/maphash@patch.comparable_":     maphash.Comparable[any],
	"hash/maphash@patch.writeComparable": maphash.WriteComparable[any],
	"crypto/hkdf@patch.extract":          hkdf.Extract[hash.Hash],
	"crypto/hkdf@patch.expand":           hkdf.Expand[hash.Hash],
	"crypto/hkdf@patch.key":              hkdf.Key[hash.Hash],
	"crypto/pbkdf2@patch.key":            pbkdf2.Key[hash.Hash],
}

// registerGeneric gives cells these functions.
func (e *host) registerGeneric() (err error) {
	for path, source := range generic {
		if failed := e.files.Ctx.RegisterPatch(path, source); failed != nil {
			err = errors.Join(err, fmt.Errorf("engine: register generic functions of %s: %w", path, failed))
		}
	}
	for name, f := range genericBodies {
		e.external(name, f)
	}
	return err
}
