package mcp

import (
	"context"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// Run serves one client that speaks over pipes, such as stdin and stdout,
// until it leaves or ctx ends; that is no error. It closes both. What a client
// asked before it closed its end is still answered.
func (s *Server) Run(ctx context.Context, in io.ReadCloser, out io.WriteCloser) error {
	conn, err := s.sdk.Connect(ctx, &pipes{sdk.IOTransport{Reader: in, Writer: out}}, nil)
	if err != nil {
		return fmt.Errorf("mcp: %w", err)
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() }) // its client may be gone as well
	defer stop()
	if err := conn.Wait(); err != nil && ctx.Err() == nil {
		return fmt.Errorf("mcp: %w", err)
	}
	return nil
}

// lastAnswers is how long a client that has closed its end is waited for: the
// SDK would drop the calls under way at once, and requests piped into the
// command would find no answer.
const lastAnswers = 2 * time.Second

// pipes is a transport whose end of input is only seen when all is answered.
type pipes struct{ sdk.IOTransport }

func (p *pipes) Connect(ctx context.Context) (sdk.Connection, error) {
	c, err := p.IOTransport.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &pipe{Connection: c, open: map[any]bool{}, closed: make(chan struct{})}, nil
}

type pipe struct {
	sdk.Connection
	closing sync.Once
	closed  chan struct{}

	mu    sync.Mutex
	open  map[any]bool  // calls that are not answered, by ID
	empty chan struct{} // closed when there are none; nil while nobody waits
}

func (p *pipe) Read(ctx context.Context) (jsonrpc.Message, error) {
	m, err := p.Connection.Read(ctx)
	// A subscription is answered when it ends.
	if r, ok := m.(*jsonrpc.Request); ok && r.IsCall() && r.Method != "subscriptions/listen" {
		p.mu.Lock()
		p.open[r.ID.Raw()] = true
		p.mu.Unlock()
	}
	if err != nil {
		p.answered(ctx)
	}
	return m, err
}

// answered waits until all calls are.
func (p *pipe) answered(ctx context.Context) {
	p.mu.Lock()
	if len(p.open) == 0 {
		p.mu.Unlock()
		return
	}
	empty := make(chan struct{})
	p.empty = empty
	p.mu.Unlock()
	select {
	case <-empty:
	case <-ctx.Done():
	case <-p.closed:
	case <-time.After(lastAnswers):
	}
}

func (p *pipe) Write(ctx context.Context, m jsonrpc.Message) error {
	err := p.Connection.Write(ctx, m)
	if r, ok := m.(*jsonrpc.Response); ok {
		p.mu.Lock()
		defer p.mu.Unlock()
		if delete(p.open, r.ID.Raw()); len(p.open) == 0 && p.empty != nil {
			close(p.empty)
			p.empty = nil
		}
	}
	return err
}

func (p *pipe) Close() error {
	p.closing.Do(func() { close(p.closed) })
	return p.Connection.Close()
}
