package redis_test

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"skillrouter/cache/redis"
)

// A server is a real Redis or Valkey that keeps nothing on disk, on a loopback
// port that stays its own when it is killed and started again.
type server struct {
	t       testing.TB
	program string
	dir     string
	port    int
	process *os.Process // nil: it does not run
	ended   chan struct{}
}

// start starts a server until the test ends.
func start(t testing.TB) *server {
	t.Helper()
	s := &server{t: t, dir: t.TempDir()}
	for _, name := range []string{"redis-server", "valkey-server"} {
		if path, err := exec.LookPath(name); err == nil {
			s.program = path
			break
		}
	}
	if s.program == "" {
		t.Skip("neither redis-server nor valkey-server is on this machine (Debian: apt-get install redis-server)")
	}
	t.Cleanup(s.kill)
	for range 5 { // another program may take the port before the server does
		s.port = freePort(t)
		if s.run() {
			return s
		}
	}
	t.Fatalf("%s does not start", s.program)
	return nil
}

func freePort(t testing.TB) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

// run starts the process, and tells whether it answers.
func (s *server) run() bool {
	s.t.Helper()
	var out bytes.Buffer
	cmd := exec.Command(s.program, "--port", fmt.Sprint(s.port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", s.dir)
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		_ = cmd.Wait() // it is killed
		close(ended)
	}()
	s.process, s.ended = cmd.Process, ended
	client := s.client()
	defer client.Close()
	for range 1000 {
		if client.Ping(s.t.Context()).Err() == nil {
			return true
		}
		select {
		case <-ended:
			s.process = nil
			s.t.Logf("%s: %s", s.program, out.String())
			return false
		case <-time.After(10 * time.Millisecond):
		}
	}
	s.t.Fatalf("%s does not answer", s.program)
	return false
}

// kill ends the process at once; all sessions are lost.
func (s *server) kill() {
	if s.process == nil {
		return
	}
	_ = s.process.Kill() // fails if it has ended
	<-s.ended
	s.process = nil
}

// restart starts the server anew, empty.
func (s *server) restart() {
	s.t.Helper()
	s.kill()
	if !s.run() {
		s.t.Fatalf("%s does not start again on port %d", s.program, s.port)
	}
}

func (s *server) signal(sig os.Signal) {
	s.t.Helper()
	if err := s.process.Signal(sig); err != nil {
		s.t.Fatal(err)
	}
}

// client returns one whose waits have no bound but that of their contexts.
func (s *server) client() *goredis.Client {
	return goredis.NewClient(&goredis.Options{
		Addr: fmt.Sprintf("127.0.0.1:%d", s.port), ContextTimeoutEnabled: true, ReadTimeout: -1, WriteTimeout: -1,
		MaxRetries: -1, DialerRetries: 1,
	})
}

// open returns a store on the server, with the patience of a busy machine
// unless opts say otherwise.
func (s *server) open(opts redis.Options) *redis.Store {
	s.t.Helper()
	if opts.Timeout == 0 {
		opts.Timeout = time.Minute
	}
	store, err := redis.Open(fmt.Sprintf("redis://127.0.0.1:%d/0", s.port), &opts)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() {
		if err := store.Close(); err != nil {
			s.t.Errorf("Close: %v", err)
		}
	})
	return store
}
