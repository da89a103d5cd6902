// Package redis keeps the states of sessions in Redis or Valkey, for several
// servers that share them, or for one that is to go on after a restart.
//
// A session is one string under a prefix and its key: a byte that names the
// layout, the revision in eight bytes, and the state. Load reads it and renews
// its time to live in one command, Save is one script. Nothing else is stored,
// so a cluster needs no hash tags.
//
// It needs Redis 6.2 or newer, or any Valkey, and of its commands GETEX,
// GETRANGE, SET, DEL, EVAL and EVALSHA.
package redis

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"skillrouter/cache"
)

// ErrUnreachable is returned, wrapped, when no server answered in time, by a
// context that has not ended. What was asked for may have been done.
var ErrUnreachable = errors.New("no answer from the server")

// Options are the options of [New] and [Open].
type Options struct {
	Prefix  string        // of all keys; "" means "skillrouter:session:"
	Idle    time.Duration // a session not loaded or saved for so long is gone; 0 means 1 hour, negative: no limit
	Timeout time.Duration // for one call, with all that it waits for; 0 means 500 ms, negative: what context and client allow
}

// A Store keeps sessions as [cache.Sessions] does, and under the same
// contract, but on a server. Besides [cache.ErrNotFound], [cache.ErrConflict]
// and the context's, its errors are [ErrUnreachable] and what the server says.
//
// A revision is a random number: none comes again, be the session deleted,
// the server restarted without its data or a clock set back, and a Save that
// the client repeats because an answer was lost is no conflict with itself.
//
// All methods are safe for concurrent use.
type Store struct {
	client  goredis.UniversalClient
	save    *goredis.Script
	prefix  string
	idle    time.Duration // 0: no limit
	timeout time.Duration // 0: none
	owned   bool
}

const (
	layout   = 1     // of a value, its first byte
	headSize = 1 + 8 // the layout and the revision
)

// saveScript is a compare-and-set. The head that is to be saved may be there
// already when the client repeats a call whose answer was lost.
//
//	KEYS[1] the session
//	ARGV[1] the head it must have, empty if it must not exist
//	ARGV[2] what to save
//	ARGV[3] its time to live in milliseconds, 0 for no limit
const saveScript = `
local head = redis.call('GETRANGE', KEYS[1], 0, 8)
if head ~= ARGV[1] and head ~= string.sub(ARGV[2], 1, 9) then return 0 end
if ARGV[3] == '0' then redis.call('SET', KEYS[1], ARGV[2])
else redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3]) end
return 1`

// New returns a store on the server of client, which remains the caller's to
// close. Its option ContextTimeoutEnabled must be on, because without it no
// wait has a bound. A nil opts means the zero [Options]. New does not ask the
// server, so that one that is down does not keep a program from starting.
func New(client goredis.UniversalClient, opts *Options) (*Store, error) {
	bounded := true // of clients that we do not know
	switch c := client.(type) {
	case nil:
		return nil, errors.New("cache/redis: no client: Open makes one of a URL")
	case *goredis.Client:
		bounded = c.Options().ContextTimeoutEnabled
	case *goredis.ClusterClient:
		bounded = c.Options().ContextTimeoutEnabled
	case *goredis.Ring:
		bounded = c.Options().ContextTimeoutEnabled
	}
	if !bounded {
		return nil, errors.New("cache/redis: the client does not heed time limits: set ContextTimeoutEnabled in its options")
	}
	s := &Store{client: client, save: goredis.NewScript(saveScript), prefix: "skillrouter:session:", idle: time.Hour, timeout: 500 * time.Millisecond}
	if opts == nil {
		return s, nil
	}
	if opts.Prefix != "" {
		s.prefix = opts.Prefix
	}
	switch {
	case opts.Idle < 0:
		s.idle = 0
	case opts.Idle > 0 && opts.Idle < time.Millisecond:
		return nil, fmt.Errorf("cache/redis: Idle %v is less than the server's unit, a millisecond", opts.Idle)
	case opts.Idle > 0:
		s.idle = opts.Idle
	}
	switch {
	case opts.Timeout < 0:
		s.timeout = 0
	case opts.Timeout > 0:
		s.timeout = opts.Timeout
	}
	return s, nil
}

// Open returns a store on the server of a URL, such as
// "redis://:password@localhost:6379/0", "rediss://…" for TLS or
// "unix:///run/redis.sock"; go-redis says what else may stand in it. Like New
// it does not ask the server.
func Open(url string, opts *Options) (*Store, error) {
	o, err := goredis.ParseURL(url)
	if err != nil {
		// The URL may hold a password, and net/url quotes what it cannot parse.
		return nil, errors.New("cache/redis: not a URL of a server: it looks like redis://:password@localhost:6379/0")
	}
	o.ContextTimeoutEnabled = true
	if o.DialerRetries == 0 {
		o.DialerRetries = 1 // the default, 5 with pauses, uses up the time when the server is down
	}
	if o.MaxRetries == 0 {
		o.MaxRetries = 1 // a connection may have broken since it was used
	}
	client := goredis.NewClient(o)
	s, err := New(client, opts)
	if err != nil {
		return nil, errors.Join(err, client.Close())
	}
	s.owned = true
	return s, nil
}

// Close ends the connections of a store that Open made.
func (s *Store) Close() error {
	if !s.owned {
		return nil
	}
	return s.client.Close()
}

// Load returns a session's state, which is the caller's, and the revision to
// save its successor with. The session's time to live begins anew.
func (s *Store) Load(ctx context.Context, key string) (state []byte, revision uint64, err error) {
	within, cancel, err := s.begin(ctx)
	if err != nil {
		return nil, 0, err
	}
	defer cancel()
	value, err := s.client.GetEx(within, s.prefix+key, s.idle).Bytes() // 0 takes a limit away that there was
	switch {
	case errors.Is(err, goredis.Nil):
		return nil, 0, fmt.Errorf("cache/redis: session %q: %w", key, cache.ErrNotFound)
	case err != nil:
		return nil, 0, s.failed(ctx, "loading", key, err)
	case len(value) < headSize || value[0] != layout:
		return nil, 0, fmt.Errorf("cache/redis: %q holds no session of layout %d: delete the session, or use a Prefix of your own", s.prefix+key, layout)
	}
	return value[headSize:], binary.BigEndian.Uint64(value[1:headSize]), nil
}

// Save keeps state if revision is still the one of the session, 0 for a
// session that must not exist yet, and returns the new revision. An empty key
// is an error.
func (s *Store) Save(ctx context.Context, key string, state []byte, revision uint64) (uint64, error) {
	within, cancel, err := s.begin(ctx)
	if err != nil {
		return 0, err
	}
	defer cancel()
	if key == "" {
		return 0, errors.New("cache/redis: a session needs a key that is not empty")
	}
	var head []byte
	if revision != 0 {
		head = appendHead(nil, revision)
	}
	next := newRevision()
	value := append(appendHead(make([]byte, 0, headSize+len(state)), next), state...)
	saved, err := s.save.Run(within, s.client, []string{s.prefix + key}, head, value, s.idle.Milliseconds()).Bool()
	switch {
	case err != nil:
		return 0, s.failed(ctx, "saving", key, err)
	case !saved:
		return 0, fmt.Errorf("cache/redis: session %q: %w", key, cache.ErrConflict)
	}
	return next, nil
}

// Delete drops a session. One that is not there is fine.
func (s *Store) Delete(ctx context.Context, key string) error {
	within, cancel, err := s.begin(ctx)
	if err != nil {
		return err
	}
	defer cancel()
	if err := s.client.Del(within, s.prefix+key).Err(); err != nil {
		return s.failed(ctx, "deleting", key, err)
	}
	return nil
}

// begin bounds a call, unless its context has ended.
func (s *Store) begin(ctx context.Context) (context.Context, context.CancelFunc, error) {
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	if s.timeout == 0 {
		return ctx, func() {}, nil
	}
	within, cancel := context.WithTimeout(ctx, s.timeout)
	return within, cancel, nil
}

// failed says why a call failed: the caller gave up, the server said so, or
// there was no answer.
func (s *Store) failed(ctx context.Context, doing, key string, err error) error {
	var answer goredis.Error
	ended := ctx.Err()
	if end, ok := ctx.Deadline(); ok && ended == nil && !time.Now().Before(end) {
		ended = context.DeadlineExceeded // the socket has the same deadline, and may notice first
	}
	switch {
	case ended != nil:
		return fmt.Errorf("cache/redis: %s session %q: %w", doing, key, ended)
	case errors.As(err, &answer):
		return fmt.Errorf("cache/redis: %s session %q: %w", doing, key, err)
	default:
		return fmt.Errorf("cache/redis: %s session %q: %w: %w", doing, key, ErrUnreachable, err)
	}
}

func appendHead(to []byte, revision uint64) []byte {
	return binary.BigEndian.AppendUint64(append(to, layout), revision)
}

// newRevision returns a random number, not 0.
func newRevision() uint64 {
	for {
		var b [8]byte
		_, _ = rand.Read(b[:]) // never fails, by its documentation
		if r := binary.BigEndian.Uint64(b[:]); r != 0 {
			return r
		}
	}
}
