// Command gen writes simplified.bin of package text from the character table of
// OpenCC (data/dictionary/TSCharacters.txt, Apache-2.0):
//
//	go run ./internal/text/gen TSCharacters.txt internal/text/simplified.bin
//
// Of a traditional character with several simplified ones the first counts, the
// common one. Those beyond the basic plane, which nobody types, stay.
package main

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"os"
	"strings"
)

const first, last = 0x3400, 0x9fff

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: gen TSCharacters.txt simplified.bin")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

func run(from, to string) error {
	f, err := os.Open(from)
	if err != nil {
		return err
	}
	defer f.Close()
	simple := map[rune]rune{}
	for lines := bufio.NewScanner(f); lines.Scan(); {
		fields := strings.Fields(lines.Text())
		if len(fields) < 2 {
			continue
		}
		a, b := []rune(fields[0]), []rune(fields[1])
		if len(a) == 1 && len(b) == 1 && a[0] != b[0] && within(a[0]) && within(b[0]) {
			simple[a[0]] = b[0]
		}
	}
	table := make([]byte, 2*(last-first+1))
	for a, b := range simple {
		for range 3 { // folding twice must change nothing
			if next, ok := simple[b]; ok {
				b = next
			}
		}
		binary.LittleEndian.PutUint16(table[2*(a-first):], uint16(b))
	}
	return os.WriteFile(to, table, 0o644)
}

func within(r rune) bool { return first <= r && r <= last }
