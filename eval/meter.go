package eval

import (
	"context"
	"sync/atomic"

	"skillrouter/router"
)

// A Meter is a session store that notes how large states are. It is as safe
// for concurrent use as the store that it stands before.
type Meter struct {
	router.SessionStore
	last atomic.Int64
}

// NewMeter returns a meter before store.
func NewMeter(store router.SessionStore) *Meter { return &Meter{SessionStore: store} }

// Save notes the size of the state and saves it.
func (m *Meter) Save(ctx context.Context, key string, state []byte, revision uint64) (uint64, error) {
	m.last.Store(int64(len(state)))
	return m.SessionStore.Save(ctx, key, state, revision)
}

// Last is the size of the state that was saved last, in bytes; 0 before any.
func (m *Meter) Last() int { return int(m.last.Load()) }
