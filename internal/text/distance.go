package text

// Distance returns how many characters must be put in, taken out or changed to
// make b of a (Levenshtein). The cost is that of comparing each with each.
func Distance(a, b string) int {
	to := []rune(b)
	row := make([]int, len(to)+1)
	for j := range row {
		row[j] = j
	}
	i := 0
	for _, x := range a {
		corner := row[0]
		i++
		row[0] = i
		for j, y := range to {
			change := corner
			if x != y {
				change++
			}
			corner = row[j+1]
			row[j+1] = min(change, row[j]+1, corner+1)
		}
	}
	return row[len(to)]
}
