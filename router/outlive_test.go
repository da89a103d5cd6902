package router

import (
	"log/slog"
	"testing"
)

// A refresh that tidies a session up is no call of the session.
func TestTidyingIsNotBusy(t *testing.T) {
	ss := newSessions(slog.New(slog.DiscardHandler))
	c := ss.get("a/main")
	done, stop := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-stop:
				return
			default:
				ss.outlive(1)
			}
		}
	}()
	for i := range 50_000 {
		if err := c.lock(t.Context(), true); err != nil {
			t.Errorf("call %d, the only one: %v", i, err)
			break
		}
		c.unlock()
	}
	close(stop)
	<-done
}
