package main

import "sync"

// guarded is a value that several may read and set.
type guarded[T any] struct {
	mu sync.Mutex
	v  T
}

func (g *guarded[T]) get() T {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.v
}

func (g *guarded[T]) set(v T) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.v = v
}

// with changes the value.
func (g *guarded[T]) with(change func(*T)) {
	g.mu.Lock()
	defer g.mu.Unlock()
	change(&g.v)
}
