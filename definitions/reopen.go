package definitions

import (
	"context"
	"encoding/hex"
	"fmt"
	"io/fs"
	"slices"
)

// NewSource returns the source that [Load] of roots would give, without
// loading. A nil opts means the zero [Options]; the error names the option that
// is wrong.
func NewSource(roots []Root, opts *Options) (*Source, error) {
	o, err := complete(opts)
	if err != nil {
		return nil, err
	}
	return &Source{roots: slices.Clone(roots), settings: o}, nil
}

// Roots returns the paths of the roots, in the order given to [Load].
func (s *Source) Roots() []string {
	paths := make([]string, len(s.roots))
	for i, r := range s.roots {
		paths[i] = r.Path
	}
	return paths
}

// Depth is how many levels of folders below a root are looked at.
func (s *Source) Depth() int { return s.settings.Depth }

// Orders is what happens to text that gives orders to the agent.
func (s *Source) Orders() Level { return s.settings.Orders }

// Stamp returns a digest of the names, sizes and times of all that [Load]
// would read now: equal stamps mean that nothing changed in between. It reads
// folders but no files.
func (s *Source) Stamp(ctx context.Context) (string, error) {
	if s.closed.Load() {
		return "", fmt.Errorf("definitions: the source is closed: %w", fs.ErrClosed)
	}
	t, errs := openTree(s.roots, s.settings.LinkRoots)
	defer t.close()
	walks, err := t.walkAll(ctx, s.roots, &s.settings)
	if err != nil {
		return "", err
	}
	stamp := t.stamp(s.roots, walks, errs)
	return hex.EncodeToString(stamp[:]), nil
}

// UnmarshalText reads what MarshalText writes.
func (s *Severity) UnmarshalText(word []byte) error {
	for _, v := range []Severity{Note, Warning, Error} {
		if v.String() == string(word) {
			*s = v
			return nil
		}
	}
	return fmt.Errorf("definitions: %q is no severity", word)
}
