package router

import (
	"errors"
	"strings"
	"testing"
)

func TestState(t *testing.T) {
	snap := &snapshot{opts: Options{SummaryTurns: 5}}
	st, err := newState(&snap.opts)
	if err != nil {
		t.Fatal(err)
	}
	// The longest names that a catalog may have, and more of everything than
	// any session comes to.
	name := func(i int) string { return strings.Repeat("名", 60) + string(rune('一'+i)) }
	for i := range 500 {
		st.Visible = append(st.Visible, visible{Domain: name(i), Skills: []string{name(i), name(i + 500)}})
		st.summaries.Put(name(i), "hash")
		st.definitions.Put(name(i), strings.Repeat("0", 32))
		st.TaskDomains = append(st.TaskDomains, name(i))
		st.leaveOut(name(i), true, 7)
		st.Lines = append(st.Lines, name(i))
		st.Gone = append(st.Gone, name(i))
		st.Left = append(st.Left, name(i))
		if i < keptEvents {
			st.Events = append(st.Events, record{Rule: "match", Names: []string{name(i)}})
		}
	}
	st.Loaded = st.definitions.Keys()
	data, err := st.encode()
	if err != nil || len(data) > maxState {
		t.Fatalf("%d bytes, at most %d: %v", len(data), maxState, err)
	}
	again, err := decodeState(data, &snap.opts)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := again.encode(); string(got) != string(data) || err != nil {
		t.Errorf("a round trip changes the state: %v\n%s\n%s", err, got, data)
	}
	for _, name := range again.Loaded {
		if _, ok := again.definitions.Peek(name); !ok {
			t.Errorf("%s is loaded but not kept", name)
		}
	}
}

func TestDecodeState(t *testing.T) {
	for name, data := range map[string]string{"not JSON": "x", "another version": `{"v":99}`, "nothing": "{}"} {
		if _, err := decodeState([]byte(data), &Options{}); !errors.Is(err, ErrState) || !strings.Contains(err.Error(), "end the session") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
