// Command clusters compares the domains that clustering makes of a catalog with
// its folders, by the adjusted Rand index of Hubert and Arabie (Comparing
// partitions, 1985): 1 where they divide the skills alike, about 0 by chance.
// Clustering sees no folders.
//
//	go run ./bench/clusters CATALOG
package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"skillrouter/definitions"
	"skillrouter/domains"
	"skillrouter/embed"
	"skillrouter/index"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "clusters:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 1 {
		return errors.New("name one catalog of skills in folders")
	}
	ctx := context.Background()
	e, err := embed.New()
	if err != nil {
		return err
	}
	catalog, err := definitions.Load(ctx, []definitions.Root{{Path: args[0]}}, nil)
	if err != nil {
		return err
	}
	ix, err := index.Build(ctx, catalog, e, nil)
	if err != nil {
		return err
	}
	p := domains.Cluster(ix.Items(nil), nil)
	// A skill that is in two domains counts for the first.
	made := map[string]string{}
	for _, d := range p.Domains {
		for _, m := range d.Members {
			if _, ok := made[m.Skill]; !ok {
				made[m.Skill] = d.Name
			}
		}
	}
	var pairs [][2]string
	for skill, name := range made {
		if i, ok := ix.Lookup(skill); ok {
			pairs = append(pairs, [2]string{name, ix.Domains()[ix.DomainsOf(i)[0]].Name})
		}
	}
	fmt.Printf("%d skills in %d domains, %d in none; adjusted Rand index with %d folders %.3f\n",
		len(pairs), len(p.Domains), len(p.Unassigned), len(ix.Domains()), adjustedRand(pairs))
	return nil
}

// adjustedRand compares two divisions of the same things: pairs holds the part of
// each in the one and in the other. It is 1 where there is nothing to divide.
func adjustedRand(pairs [][2]string) float64 {
	both, one, other := map[[2]string]int{}, map[string]int{}, map[string]int{}
	for _, p := range pairs {
		both[p]++
		one[p[0]]++
		other[p[1]]++
	}
	together, a, b, all := twos(both), twos(one), twos(other), choose2(len(pairs))
	if a == b && (a == 0 || a == all) {
		return 1
	}
	chance := a * b / all
	return (together - chance) / ((a+b)/2 - chance)
}

// twos counts the pairs of things that are in one part.
func twos[K comparable](sizes map[K]int) float64 {
	sum := 0.0
	for _, n := range sizes {
		sum += choose2(n)
	}
	return sum
}

func choose2(n int) float64 { return float64(n) * float64(n-1) / 2 }
