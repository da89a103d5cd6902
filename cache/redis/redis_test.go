package redis_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"skillrouter/cache"
	"skillrouter/cache/cachetest"
	"skillrouter/cache/redis"
)

func TestContract(t *testing.T) {
	srv := start(t)
	client := srv.client()
	defer client.Close()
	cachetest.RunSessions(t, func(t *testing.T, o cachetest.Options) cachetest.Store {
		prefix := t.Name() + ":"
		store := srv.open(redis.Options{Prefix: prefix, Idle: o.Idle})
		if o.Now == nil {
			return store
		}
		return &aged{Store: store, t: t, client: client, keys: prefix + "*", now: o.Now, last: o.Now()}
	})
}

// An aged store lets a clock's time pass for its keys on the server, whose
// clock cannot be set: it takes it off their times to live.
type aged struct {
	*redis.Store
	t      *testing.T
	client *goredis.Client
	keys   string
	now    func() time.Time
	last   time.Time
}

func (a *aged) pass() {
	a.t.Helper()
	now := a.now()
	passed := now.Sub(a.last)
	a.last = now
	if passed == 0 {
		return
	}
	keys, err := a.client.Keys(a.t.Context(), a.keys).Result()
	if err != nil {
		a.t.Fatal(err)
	}
	for _, key := range keys {
		left, err := a.client.PTTL(a.t.Context(), key).Result()
		if err != nil {
			a.t.Fatal(err)
		}
		if left < 0 { // no limit, or gone
			continue
		}
		// The server drops at once what has no time left.
		if err := a.client.Do(a.t.Context(), "PEXPIRE", key, (left - passed).Milliseconds()).Err(); err != nil {
			a.t.Fatal(err)
		}
	}
}

func (a *aged) Load(ctx context.Context, key string) ([]byte, uint64, error) {
	a.pass()
	return a.Store.Load(ctx, key)
}

func (a *aged) Save(ctx context.Context, key string, state []byte, revision uint64) (uint64, error) {
	a.pass()
	return a.Store.Save(ctx, key, state, revision)
}

func TestOptions(t *testing.T) {
	client := goredis.NewClient(&goredis.Options{})
	defer client.Close()
	cluster := goredis.NewClusterClient(&goredis.ClusterOptions{})
	defer cluster.Close()
	ring := goredis.NewRing(&goredis.RingOptions{})
	defer ring.Close()
	bounded := goredis.NewClient(&goredis.Options{ContextTimeoutEnabled: true})
	defer bounded.Close()
	for name, test := range map[string]struct {
		client goredis.UniversalClient
		opts   *redis.Options
		want   string
	}{
		"no client":         {nil, nil, "no client"},
		"unbounded":         {client, nil, "ContextTimeoutEnabled"},
		"unbounded cluster": {cluster, nil, "ContextTimeoutEnabled"},
		"unbounded ring":    {ring, nil, "ContextTimeoutEnabled"},
		"Idle too short":    {bounded, &redis.Options{Idle: time.Microsecond}, "Idle 1µs"},
		"fine":              {bounded, nil, ""},
	} {
		store, err := redis.New(test.client, test.opts)
		if test.want == "" {
			if err != nil || store == nil {
				t.Errorf("%s: %v", name, err)
			} else if err := store.Close(); err != nil {
				t.Errorf("%s: Close: %v", name, err)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: error %v, want one about %q", name, err, test.want)
		}
	}
	for _, url := range []string{"", "localhost:6379", "http://localhost", "redis://user:secret@local host:x/0", "redis://h/secret"} {
		if _, err := redis.Open(url, nil); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("Open(%q): %v, want an error that quotes nothing of it", url, err)
		}
	}
	if _, err := redis.Open("redis://localhost:1/0", &redis.Options{Idle: 1}); err == nil {
		t.Error("Open with an Idle of 1 ns: no error")
	}
}

// What stands on the server is said in the package's documentation.
func TestLayout(t *testing.T) {
	srv := start(t)
	client := srv.client()
	defer client.Close()
	ctx := t.Context()
	store := srv.open(redis.Options{})
	revision, err := store.Save(ctx, "a/main", []byte("state"), 0)
	if err != nil {
		t.Fatal(err)
	}
	const key = "skillrouter:session:a/main"
	value, err := client.Get(ctx, key).Result()
	if want := fmt.Sprintf("\x01%sstate", bigEndian(revision)); err != nil || value != want {
		t.Errorf("the server has %q, %v; want %q", value, err, want)
	}
	if ttl, err := client.PTTL(ctx, key).Result(); err != nil || ttl <= 0 || ttl > time.Hour {
		t.Errorf("time to live %v, %v; want up to an hour", ttl, err)
	}
	// A store without a limit takes away the one that was given.
	forever := srv.open(redis.Options{Idle: -1})
	if _, _, err := forever.Load(ctx, "a/main"); err != nil {
		t.Fatal(err)
	}
	if ttl, err := client.PTTL(ctx, key).Result(); err != nil || ttl != -1 {
		t.Errorf("time to live %v, %v after a Load without limit; want none", ttl, err)
	}

	for name, value := range map[string]string{"short": "\x01xy", "empty": "", "another layout": "\x02" + strings.Repeat("x", 20)} {
		if err := client.Set(ctx, key, value, 0).Err(); err != nil {
			t.Fatal(err)
		}
		if _, _, err := store.Load(ctx, "a/main"); err == nil || !strings.Contains(err.Error(), "no session of layout 1") || errors.Is(err, redis.ErrUnreachable) {
			t.Errorf("Load of a value that is %s: %v", name, err)
		}
	}
	if err := client.Del(ctx, key).Err(); err != nil {
		t.Fatal(err)
	}
	if err := client.LPush(ctx, key, "x").Err(); err != nil {
		t.Fatal(err)
	}
	_, _, loadErr := store.Load(ctx, "a/main")
	_, saveErr := store.Save(ctx, "a/main", nil, 0)
	for what, err := range map[string]error{"Load": loadErr, "Save": saveErr} {
		if err == nil || !strings.Contains(err.Error(), "WRONGTYPE") || errors.Is(err, redis.ErrUnreachable) {
			t.Errorf("%s of a list: %v, want what the server says", what, err)
		}
	}
}

func bigEndian(x uint64) []byte {
	b := make([]byte, 8)
	for i := range b {
		b[i] = byte(x >> (56 - 8*i))
	}
	return b
}

// A twice is a client that gives each command again, as one whose connection
// broke before the answer came.
type twice struct{}

func (twice) DialHook(next goredis.DialHook) goredis.DialHook { return next }

func (twice) ProcessPipelineHook(next goredis.ProcessPipelineHook) goredis.ProcessPipelineHook {
	return next
}

func (twice) ProcessHook(next goredis.ProcessHook) goredis.ProcessHook {
	return func(ctx context.Context, cmd goredis.Cmder) error {
		_ = next(ctx, cmd) // the answer that was lost
		return next(ctx, cmd)
	}
}

func TestRepeatedSaveIsNoConflict(t *testing.T) {
	srv := start(t)
	client := srv.client()
	defer client.Close()
	client.AddHook(twice{})
	store, err := redis.New(client, &redis.Options{Timeout: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	var revision uint64
	for i := range 3 {
		if revision, err = store.Save(t.Context(), "a", []byte{byte(i)}, revision); err != nil {
			t.Fatalf("Save %d: %v", i, err)
		}
		if state, r, err := store.Load(t.Context(), "a"); err != nil || r != revision || string(state) != string([]byte{byte(i)}) {
			t.Errorf("Load: %q, revision %d, %v; want %d", state, r, err, revision)
		}
	}
}

// A server that is away or hangs is ErrUnreachable, and a wait has a bound.
func TestUnreachable(t *testing.T) {
	srv := start(t)
	client := srv.client() // its own waits have none
	defer client.Close()
	store, err := redis.New(client, &redis.Options{Timeout: 50 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	patient := srv.open(redis.Options{})
	revision, err := patient.Save(t.Context(), "a", []byte("state"), 0)
	if err != nil {
		t.Fatal(err)
	}
	all := func(ctx context.Context, what string, want error) {
		t.Helper()
		_, _, loadErr := store.Load(ctx, "a")
		_, saveErr := store.Save(ctx, "other", []byte("changed"), 0)
		for name, err := range map[string]error{"Load": loadErr, "Save": saveErr, "Delete": store.Delete(ctx, "other")} {
			if !errors.Is(err, want) || errors.Is(err, cache.ErrNotFound) || errors.Is(err, cache.ErrConflict) {
				t.Errorf("%s, %s: %v, want %v", what, name, err, want)
			}
		}
	}
	srv.signal(syscall.SIGSTOP)
	all(t.Context(), "the server hangs", redis.ErrUnreachable)
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	all(ctx, "the context ends", context.DeadlineExceeded)
	if _, _, err := store.Load(ctx, "a"); errors.Is(err, redis.ErrUnreachable) {
		t.Errorf("the context has ended, and the server is to blame: %v", err)
	}
	srv.signal(syscall.SIGCONT)
	if state, r, err := patient.Load(t.Context(), "a"); err != nil || r != revision || string(state) != "state" {
		t.Errorf("after it: %q, revision %d, %v", state, r, err)
	}
	srv.kill()
	all(t.Context(), "the server is killed", redis.ErrUnreachable)
	srv.restart()
	if _, _, err := patient.Load(t.Context(), "a"); !errors.Is(err, cache.ErrNotFound) {
		t.Errorf("the server is back, empty: %v", err)
	}
	// Whoever loaded before it was lost must not go on as if nothing had been.
	if _, err := patient.Save(t.Context(), "a", []byte("anew"), revision); !errors.Is(err, cache.ErrConflict) {
		t.Errorf("Save with the revision from before: %v", err)
	}
}

func BenchmarkLoadSave(b *testing.B) {
	srv := start(b)
	store := srv.open(redis.Options{})
	for _, size := range []int{600, 4 << 10, 16 << 10} {
		b.Run(fmt.Sprintf("%d bytes", size), func(b *testing.B) {
			key, state := b.Name(), make([]byte, size)
			if _, err := store.Save(b.Context(), key, state, 0); err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				_, revision, err := store.Load(b.Context(), key)
				if err != nil {
					b.Fatal(err)
				}
				if _, err := store.Save(b.Context(), key, state, revision); err != nil {
					b.Fatal(err)
				}
			}
			b.StopTimer()
			if err := store.Delete(b.Context(), key); err != nil {
				b.Fatal(err)
			}
		})
	}
}
