package tools

import (
	"fmt"
	"time"
)

// Dates are those of the Gregorian calendar. A step is bounded so that adding never overflows.
const (
	firstYear = 1583
	lastYear  = 9999
	maxStep   = 4_000_000 // days and the like
	maxWork   = 100_000   // working days, which are counted one by one
)

type dateDifferenceArguments struct {
	From     string   `json:"from"`
	To       string   `json:"to"`
	Holidays []string `json:"holidays"`
}

func dateDifference(a dateDifferenceArguments) (string, error) {
	from, err := parseDate(a.From)
	if err != nil {
		return "", err
	}
	to, err := parseDate(a.To)
	if err != nil {
		return "", err
	}
	free, err := parseHolidays(a.Holidays)
	if err != nil {
		return "", err
	}
	first, last, sign := from, to, 1
	if to.Before(from) {
		first, last, sign = to, from, -1
	}
	days := daysBetween(first, last)
	months := 12*(last.Year()-first.Year()) + int(last.Month()-first.Month())
	if addMonths(first, months).After(last) {
		months--
	}
	return object(struct {
		Days        int    `json:"days"`
		Weeks       int    `json:"weeks"`
		DaysOver    int    `json:"days_over_weeks"`
		Years       int    `json:"years"`
		Months      int    `json:"months_over_years"`
		DaysOfMonth int    `json:"days_over_months"`
		WorkingDays int    `json:"working_days"`
		FromWeekday string `json:"from_weekday"`
		ToWeekday   string `json:"to_weekday"`
	}{
		sign * days, sign * (days / 7), sign * (days % 7),
		sign * (months / 12), sign * (months % 12), sign * daysBetween(addMonths(first, months), last),
		sign * workingDays(first, last, free), from.Weekday().String(), to.Weekday().String(),
	})
}

type dateAddArguments struct {
	Date        string   `json:"date"`
	Years       int      `json:"years"`
	Months      int      `json:"months"`
	Weeks       int      `json:"weeks"`
	Days        int      `json:"days"`
	WorkingDays int      `json:"working_days"`
	Holidays    []string `json:"holidays"`
}

func dateAdd(a dateAddArguments) (string, error) {
	date, err := parseDate(a.Date)
	if err != nil {
		return "", err
	}
	free, err := parseHolidays(a.Holidays)
	if err != nil {
		return "", err
	}
	for _, n := range []int{a.Years, a.Months, a.Weeks, a.Days} {
		if n < -maxStep || n > maxStep {
			return "", fmt.Errorf("%d is too far to go", n)
		}
	}
	if a.WorkingDays < -maxWork || a.WorkingDays > maxWork {
		return "", fmt.Errorf("working_days is %d, at most %d either way", a.WorkingDays, maxWork)
	}
	date = addMonths(date, 12*a.Years+a.Months).AddDate(0, 0, 7*a.Weeks+a.Days)
	step := 1
	if a.WorkingDays < 0 {
		step = -1
	}
	for left := a.WorkingDays; left != 0; {
		date = date.AddDate(0, 0, step)
		if works(date, free) {
			left -= step
		}
	}
	if date.Year() < firstYear || date.Year() > lastYear {
		return "", fmt.Errorf("the result lies outside the years %d to %d", firstYear, lastYear)
	}
	return object(struct {
		Date    string `json:"date"`
		Weekday string `json:"weekday"`
	}{date.Format(time.DateOnly), date.Weekday().String()})
}

func parseDate(s string) (time.Time, error) {
	date, err := time.Parse(time.DateOnly, s)
	if err != nil {
		return time.Time{}, fmt.Errorf("%q is no date of the form 2025-03-31", s)
	}
	if date.Year() < firstYear || date.Year() > lastYear {
		return time.Time{}, fmt.Errorf("%s lies outside the years %d to %d", s, firstYear, lastYear)
	}
	return date, nil
}

func parseHolidays(list []string) (map[time.Time]bool, error) {
	free := make(map[time.Time]bool, len(list))
	for _, s := range list {
		date, err := parseDate(s)
		if err != nil {
			return nil, fmt.Errorf("holidays: %w", err)
		}
		free[date] = true
	}
	return free, nil
}

// addMonths goes n months on; where the month is too short, to its last day.
func addMonths(date time.Time, n int) time.Time {
	first := time.Date(date.Year(), date.Month(), 1, 0, 0, 0, 0, time.UTC).AddDate(0, n, 0)
	last := first.AddDate(0, 1, -1).Day()
	return first.AddDate(0, 0, min(date.Day(), last)-1)
}

// daysBetween counts by seconds: a time.Duration holds no more than 292 years.
func daysBetween(first, last time.Time) int {
	return int((last.Unix() - first.Unix()) / (24 * 60 * 60))
}

// workingDays counts Mondays to Fridays from first to last, both included, without those of free.
func workingDays(first, last time.Time, free map[time.Time]bool) int {
	days := daysBetween(first, last) + 1
	n := days / 7 * 5
	for date := last.AddDate(0, 0, 1-days%7); !date.After(last); date = date.AddDate(0, 0, 1) {
		if works(date, nil) {
			n++
		}
	}
	for date := range free {
		if !date.Before(first) && !date.After(last) && works(date, nil) {
			n--
		}
	}
	return n
}

func works(date time.Time, free map[time.Time]bool) bool {
	return date.Weekday() != time.Saturday && date.Weekday() != time.Sunday && !free[date]
}
