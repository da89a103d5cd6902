package tools

import (
	"context"
	"encoding/json"
	"errors"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// call runs a function on arguments written as JSON.
func call(t *testing.T, name, arguments string) (string, error) {
	t.Helper()
	return Call(context.Background(), name, json.RawMessage(arguments))
}

func TestCallRefuses(t *testing.T) {
	for name, c := range map[string]struct{ name, arguments, want string }{
		"unknown function":    {"calculator", `{}`, `unknown function "calculator"`},
		"no object":           {"calculate", `"1+1"`, "no JSON object"},
		"two objects":         {"calculate", `{"expression":"1"}{}`, "no JSON object"},
		"missing argument":    {"convert_unit", `{"value":1,"from":"km"}`, `"to" is missing`},
		"null for a value":    {"convert_unit", `{"value":null,"from":"km","to":"m"}`, `"value" is missing`},
		"argument not known":  {"calculate", `{"expression":"1","digits":3}`, "digits"},
		"argument of no type": {"convert_unit", `{"value":"12","from":"km","to":"m"}`, "value"},
		"too long":            {"hash_text", `{"text":"` + strings.Repeat("a", maxArguments) + `"}`, "in parts"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := call(t, c.name, c.arguments)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %q, error %v; want an error with %q", got, err, c.want)
			}
		})
	}
	if _, err := call(t, "calculator", `{}`); !errors.Is(err, ErrUnknown) {
		t.Errorf("got %v, want ErrUnknown", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Call(ctx, "new_uuid", nil); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want that the context has ended", err)
	}
}

func TestNames(t *testing.T) {
	want := []string{"base64", "calculate", "convert_unit", "csv_summary", "date_add", "date_difference", "hash_text", "new_uuid", "text_statistics"}
	if diff := cmp.Diff(want, Names()); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
}

func TestCalculate(t *testing.T) {
	for expression, want := range map[string]string{
		"156*23":                 "3588",
		"156×23−480":             "3108",
		"0.1+0.2":                "0.3",
		"350*(1-20%)":            "280",
		"683*0.88/4":             "150.26",
		"-2^2":                   "-4",
		"2^-3":                   "0.125",
		"2^3^2":                  "512",
		"(-1)^1000000001":        "-1",
		"0^0":                    "1",
		"10-4-3":                 "3",
		"100/10/5":               "2",
		"--3":                    "3",
		"1/3":                    "≈ 0.333333333333333",
		"1/3*3":                  "1",
		"sqrt(2)":                "≈ 1.4142135623731",
		"sqrt(9/16)":             "0.75",
		"2^0.5*2^0.5":            "≈ 2",
		"8^(1/3)":                "≈ 2",
		"pi":                     "≈ 3.14159265358979",
		"round(2.5)":             "3",
		"round(-2.5)":            "-3",
		"round(pi, 2)":           "3.14",
		"floor(-1.5)":            "-2",
		"ceil(-1.5)":             "-1",
		"ceil(1.2)":              "2",
		"mod(-7, 3)":             "2",
		"mod(5.5, 2)":            "1.5",
		"abs(3-5)":               "2",
		"min(3, 1, 2)":           "1",
		"max(3, 1, 2)":           "3",
		"sum(1, 2, 3.5)":         "6.5",
		"avg(1, 2)":              "1.5",
		"1000*(1+8%)^5":          "1469.3280768",
		"（1＋2）*３":                "",
		"12345678901234567890*2": "24691357802469135780",
		" 1 + 2 ":                "3",
	} {
		arguments, err := json.Marshal(map[string]string{"expression": expression})
		if err != nil {
			t.Fatal(err)
		}
		got, err := Call(context.Background(), "calculate", arguments)
		if got != want || (err != nil) != (want == "") {
			t.Errorf("%s: got %q, error %v; want %q", expression, got, err, want)
		}
	}
}

func TestCalculateRefuses(t *testing.T) {
	for expression, want := range map[string]string{
		"":                          "ends where a number",
		"1+":                        "ends where a number",
		"1/0":                       "division by zero",
		"0^-1":                      "division by zero",
		"mod(1, 0)":                 "division by zero",
		"1/(2-2)":                   "division by zero",
		"(1+2":                      "closing bracket is missing",
		"1+2)":                      "closing bracket too many",
		"sqrt(4":                    "closing bracket of sqrt",
		"1,234.5*2":                 "write 1234.5",
		"2 3":                       "operator is missing",
		"10 % 3":                    "operator is missing",
		"2x":                        "operator is missing",
		"x+1":                       `"x" is no constant`,
		"sin(1)":                    `"sin" is no function`,
		"mod(1)":                    "mod has 1 arguments",
		"round(1, 99)":              "0 to 30 decimals",
		"round(1, -1)":              "0 to 30 decimals",
		"sqrt(-1)":                  "no real square root",
		"(-8)^(1/3)":                "no real value",
		"1..2":                      "no number",
		"#":                         "stands where a number",
		"9^9^9":                     "20,000 digits",
		"(9^9999)*(9^9999)*9^9999":  "20,000 digits",
		strings.Repeat("(", 200):    "nested",
		strings.Repeat("-", 200):    "nested",
		strings.Repeat("1+", 1_000): "characters",
	} {
		arguments, err := json.Marshal(map[string]string{"expression": expression})
		if err != nil {
			t.Fatal(err)
		}
		if got, err := Call(context.Background(), "calculate", arguments); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.20s: got %q, error %v; want an error with %q", expression, got, err, want)
		}
	}
}

func TestConvertUnit(t *testing.T) {
	for arguments, want := range map[string]string{
		`{"value":12,"from":"gal","to":"l"}`:                   "12 gal = 45.424941408 l",
		`{"value":375,"from":"F","to":"C"}`:                    "375 F = 190.555555556 C",
		`{"value":-40,"from":"celsius","to":"fahrenheit"}`:     "-40 C = -40 F",
		`{"value":0,"from":"C","to":"K"}`:                      "0 C = 273.15 K",
		`{"value":26.2,"from":"Miles","to":"公里"}`:              "26.2 mi = 42.1648128 km",
		`{"value":3,"from":"亩","to":"m²"}`:                     "3 亩 = 2000 m2",
		`{"value":1,"from":"斤","to":"g"}`:                      "1 斤 = 500 g",
		`{"value":1,"from":"GiB","to":"MB"}`:                   "1 GiB = 1073.741824 MB",
		`{"value":1,"from":"GB","to":"MiB"}`:                   "1 GB = 953.674316406 MiB",
		`{"value":100,"from":"km/h","to":"mph"}`:               "100 km/h = 62.1371192237 mph",
		`{"value":1,"from":"lb","to":"oz"}`:                    "1 lb = 16 oz",
		`{"value":1,"from":"cup","to":"tbsp"}`:                 "1 cup = 16 tbsp",
		`{"value":1,"from":"acre","to":"ft2"}`:                 "1 acre = 43560 ft2",
		`{"value":1,"from":"kWh","to":"kcal"}`:                 "1 kWh = 860.420650096 kcal",
		`{"value":32,"from":"psi","to":"bar"}`:                 "32 psi = 2.20632233381 bar",
		`{"value":1000000,"from":"mm","to":"km"}`:              "1000000 mm = 1 km",
		`{"value":2,"from":"weeks","to":"h"}`:                  "2 wk = 336 h",
		`{"value":1,"from":"nautical mile","to":"kilometres"}`: "1 nmi = 1.852 km",
	} {
		got, err := call(t, "convert_unit", arguments)
		if err != nil || got != want {
			t.Errorf("%s: got %q, error %v; want %q", arguments, got, err, want)
		}
	}
	for arguments, want := range map[string]string{
		`{"value":1,"from":"kg","to":"l"}`:          "kg is a unit of mass, l one of volume",
		`{"value":1,"from":"furlong","to":"m"}`:     `"furlong" is not known`,
		`{"value":1,"from":"m","to":""}`:            `"" is not known`,
		`{"value":-500,"from":"F","to":"C"}`:        "below absolute zero",
		`{"value":1e308,"from":"km","to":"mm"}`:     "too large",
		`{"value":1,"from":"USD","to":"EUR"}`:       `"USD" is not known`,
		`{"value":1e400,"from":"km","to":"m"}`:      "value",
		`{"value":1,"from":"m","to":"m","round":2}`: "round",
	} {
		if got, err := call(t, "convert_unit", arguments); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %q, error %v; want an error with %q", arguments, got, err, want)
		}
	}
}

// A name that two units share would make one of them unreachable.
func TestUnitNamesAreUnique(t *testing.T) {
	owner := map[string]string{}
	for _, u := range units() {
		for _, name := range u.names {
			if other, ok := owner[name]; ok {
				t.Errorf("%q belongs to %s and %s", name, other, u.names[0])
			}
			owner[name] = u.names[0]
			if got, err := findUnit(name); err != nil || got.names[0] != u.names[0] {
				t.Errorf("%q finds %v, error %v; want %s", name, got.names, err, u.names[0])
			}
		}
	}
}

func TestDateDifference(t *testing.T) {
	for name, c := range map[string]struct{ arguments, want string }{
		"weeks, days, working days": {
			`{"from":"2025-03-03","to":"2025-04-18"}`,
			`{"days":46,"weeks":6,"days_over_weeks":4,"years":0,"months_over_years":1,"days_over_months":15,"working_days":35,"from_weekday":"Monday","to_weekday":"Friday"}`,
		},
		"holidays count once, weekends among them not": {
			`{"from":"2025-04-14","to":"2025-04-21","holidays":["2025-04-18","2025-04-18","2025-04-20","2025-04-21","2025-05-01"]}`,
			`{"days":7,"weeks":1,"days_over_weeks":0,"years":0,"months_over_years":0,"days_over_months":7,"working_days":4,"from_weekday":"Monday","to_weekday":"Monday"}`,
		},
		"one day": {
			`{"from":"2025-03-08","to":"2025-03-08"}`,
			`{"days":0,"weeks":0,"days_over_weeks":0,"years":0,"months_over_years":0,"days_over_months":0,"working_days":0,"from_weekday":"Saturday","to_weekday":"Saturday"}`,
		},
		"backwards over a leap day": {
			`{"from":"2024-03-01","to":"2023-02-28"}`,
			`{"days":-367,"weeks":-52,"days_over_weeks":-3,"years":-1,"months_over_years":0,"days_over_months":-2,"working_days":-264,"from_weekday":"Friday","to_weekday":"Tuesday"}`,
		},
		"month end to a shorter month": {
			`{"from":"2025-01-31","to":"2025-02-28"}`,
			`{"days":28,"weeks":4,"days_over_weeks":0,"years":0,"months_over_years":1,"days_over_months":0,"working_days":21,"from_weekday":"Friday","to_weekday":"Friday"}`,
		},
		"centuries": {
			`{"from":"1583-01-01","to":"9999-12-31"}`,
			`{"days":3074245,"weeks":439177,"days_over_weeks":6,"years":8416,"months_over_years":11,"days_over_months":30,"working_days":2195890,"from_weekday":"Saturday","to_weekday":"Friday"}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := call(t, "date_difference", c.arguments)
			if err != nil || got != c.want {
				t.Errorf("got  %s, error %v\nwant %s", got, err, c.want)
			}
		})
	}
}

func TestDateAdd(t *testing.T) {
	for arguments, want := range map[string]string{
		`{"date":"2025-02-14","days":90}`:                                        `{"date":"2025-05-15","weekday":"Thursday"}`,
		`{"date":"2025-01-31","months":1}`:                                       `{"date":"2025-02-28","weekday":"Friday"}`,
		`{"date":"2024-02-29","years":1}`:                                        `{"date":"2025-02-28","weekday":"Friday"}`,
		`{"date":"2025-03-31","months":-1}`:                                      `{"date":"2025-02-28","weekday":"Friday"}`,
		`{"date":"2025-01-15","months":-1,"weeks":2,"days":-1}`:                  `{"date":"2024-12-28","weekday":"Saturday"}`,
		`{"date":"1976-07-04","days":0}`:                                         `{"date":"1976-07-04","weekday":"Sunday"}`,
		`{"date":"2025-04-17","working_days":1}`:                                 `{"date":"2025-04-18","weekday":"Friday"}`,
		`{"date":"2025-04-17","working_days":1,"holidays":["2025-04-18"]}`:       `{"date":"2025-04-21","weekday":"Monday"}`,
		`{"date":"2025-04-21","working_days":-2,"holidays":["2025-04-18"]}`:      `{"date":"2025-04-16","weekday":"Wednesday"}`,
		`{"date":"2025-04-19","working_days":0}`:                                 `{"date":"2025-04-19","weekday":"Saturday"}`,
		`{"date":"1600-02-29","years":400}`:                                      `{"date":"2000-02-29","weekday":"Tuesday"}`,
		`{"date":"2025-12-31","years":null,"months":2,"weeks":null,"days":null}`: `{"date":"2026-02-28","weekday":"Saturday"}`,
	} {
		got, err := call(t, "date_add", arguments)
		if err != nil || got != want {
			t.Errorf("%s: got %s, error %v; want %s", arguments, got, err, want)
		}
	}
}

func TestDatesRefuse(t *testing.T) {
	for _, c := range []struct{ name, arguments, want string }{
		{"date_add", `{"date":"31/03/2025"}`, "form 2025-03-31"},
		{"date_add", `{"date":"2025-02-29"}`, "form 2025-03-31"},
		{"date_add", `{"date":"1500-01-01"}`, "outside the years"},
		{"date_add", `{"date":"2025-01-01","years":9000}`, "outside the years"},
		{"date_add", `{"date":"2025-01-01","days":5000000}`, "too far"},
		{"date_add", `{"date":"2025-01-01","working_days":-200000}`, "at most 100000"},
		{"date_add", `{"date":"2025-01-01","days":1.5}`, "days"},
		{"date_difference", `{"from":"2025-01-01","to":"tomorrow"}`, "form 2025-03-31"},
		{"date_difference", `{"from":"today","to":"2025-01-01"}`, "form 2025-03-31"},
		{"date_difference", `{"from":"2025-01-01","to":"2025-01-02","holidays":["x"]}`, "holidays"},
	} {
		if got, err := call(t, c.name, c.arguments); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %s, error %v; want an error with %q", c.arguments, got, err, c.want)
		}
	}
}

func TestTextStatistics(t *testing.T) {
	for text, want := range map[string]string{
		"":                               `{"characters":0,"characters_no_spaces":0,"words":0,"han_characters":0,"punctuation":0,"sentences":0,"lines":0,"paragraphs":0,"bytes":0,"reading_seconds":0,"speaking_seconds":0}`,
		`One two. Don't stop!\n\nThree?`: `{"characters":28,"characters_no_spaces":23,"words":5,"han_characters":0,"punctuation":4,"sentences":3,"lines":3,"paragraphs":2,"bytes":28,"reading_seconds":1,"speaking_seconds":2}`,
		`今天天气好，出门。用 Go 写`:                `{"characters":15,"characters_no_spaces":13,"words":10,"han_characters":9,"punctuation":2,"sentences":2,"lines":1,"paragraphs":1,"bytes":37,"reading_seconds":2,"speaking_seconds":3}`,
	} {
		got, err := call(t, "text_statistics", `{"text":"`+text+`"}`)
		if err != nil || got != want {
			t.Errorf("%q:\ngot  %s, error %v\nwant %s", text, got, err, want)
		}
	}
}

func TestCSVSummary(t *testing.T) {
	table := "\ufeffname;age;joined;note;\n" +
		"Ann;31;2024-01-05;x;\nBo;;2023-12-31;;\nCy;45;2024/2/9;7;\nAnn;45.5;2024-01-05;2024-01-01;\ntoo;few\n"
	arguments, err := json.Marshal(map[string]any{"csv": table})
	if err != nil {
		t.Fatal(err)
	}
	got, err := Call(context.Background(), "csv_summary", arguments)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"rows":4,"delimiter":";","columns":[` +
		`{"name":"name","kind":"text","empty":0,"distinct":3,"top":[{"value":"Ann","count":2},{"value":"Bo","count":1},{"value":"Cy","count":1}]},` +
		`{"name":"age","kind":"number","empty":1,"distinct":3,"min":31,"max":45.5,"mean":40.5,"median":45},` +
		`{"name":"joined","kind":"date","empty":0,"distinct":3,"top":[{"value":"2024-01-05","count":2},{"value":"2023-12-31","count":1},{"value":"2024/2/9","count":1}],"first":"2023-12-31","last":"2024-02-09"},` +
		`{"name":"note","kind":"mixed","empty":1,"distinct":3},` +
		`{"name":"column 5","kind":"empty","empty":4,"distinct":0}],` +
		`"rows_that_do_not_fit":1,"their_lines":[6]}`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("summary (-want +got):\n%s", diff)
	}
}

func TestCSVSummaryOptions(t *testing.T) {
	for name, c := range map[string]struct{ arguments, want string }{
		"one column":           {`{"csv":"a,b\n1,2\n","columns":["b"]}`, `"columns":[{"name":"b","kind":"number","empty":0,"distinct":1,"min":2,"max":2,"mean":2,"median":2}]`},
		"given delimiter":      {`{"csv":"a,b|c\n1,2|3\n","delimiter":"|"}`, `"name":"a,b"`},
		"tab":                  {`{"csv":"a\tb\n1\t2\n"}`, `"delimiter":"\t"`},
		"quoted cell":          {`{"csv":"a,b\n\"1,5\",x\n"}`, `"rows":1`},
		"only a header":        {`{"csv":"a,b"}`, `"rows":0`},
		"huge numbers":         {`{"csv":"a\n1.5e308\n1.5e308\n"}`, `"mean":1.5e+308,"median":1.5e+308`},
		"NaN is text":          {`{"csv":"a\nNaN\nInf\n"}`, `"kind":"text"`},
		"an even median":       {`{"csv":"a\n1\n2\n3\n10\n"}`, `"mean":4,"median":2.5`},
		"no rounding residue":  {`{"csv":"a\n0.1\n0.2\n0.3\n"}`, `"mean":0.2,`},
		"quotes inside a cell": {`{"csv":"a\nthe 5\" one\n"}`, `"rows":1`},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := call(t, "csv_summary", c.arguments)
			if err != nil || !strings.Contains(got, c.want) {
				t.Errorf("got %s, error %v; want it to hold %s", got, err, c.want)
			}
		})
	}
	for arguments, want := range map[string]string{
		`{"csv":""}`:                                 "empty",
		`{"csv":"a\n1","delimiter":",,"}`:            "one character",
		`{"csv":"a\n1","delimiter":"\""}`:            "one character",
		`{"csv":"a,b\n1,2","columns":["c"]}`:         "the columns are a, b",
		`{"csv":"` + strings.Repeat(",", 500) + `"}`: "501 columns",
	} {
		if got, err := call(t, "csv_summary", arguments); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60s: got %.80s, error %v; want an error with %q", arguments, got, err, want)
		}
	}
}

func TestEncode(t *testing.T) {
	for _, c := range []struct{ name, arguments, want string }{
		{"base64", `{"text":"hello"}`, "aGVsbG8="},
		{"base64", `{"text":"aGVsbG8=","decode":true}`, "hello"},
		{"base64", `{"text":" aGVs\nbG8 ","decode":true}`, "hello"},
		{"base64", `{"text":"5L2g5aW9","decode":true}`, "你好"},
		{"base64", `{"text":"??>","url":true}`, "Pz8-"},
		{"base64", `{"text":"Pz8-","url":true,"decode":true}`, "??>"},
		{"base64", `{"text":"/w==","decode":true}`, "no text; bytes in hex: ff"},
		{"base64", `{"text":""}`, ""},
		{"hash_text", `{"text":"hello world"}`, "b94d27b9934d3e08a52e52d7da7dabfac484efe37a5380ee9088f7ace2efcde9"},
		{"hash_text", `{"text":"","algorithm":"md5"}`, "d41d8cd98f00b204e9800998ecf8427e"},
		{"hash_text", `{"text":"abc","algorithm":"SHA-1"}`, "a9993e364706816aba3e25717850c26c9cd0d89d"},
		{"hash_text", `{"text":"","algorithm":"sha512"}`, "cf83e1357eefb8bdf1542850d66d8007d620e4050b5715dc83f4a921d36ce9ce47d0d13c5d85f2b0ff8318d2877eec2f63b931bd47417a81a538327af927da3e"},
	} {
		got, err := call(t, c.name, c.arguments)
		if err != nil || got != c.want {
			t.Errorf("%s %s: got %q, error %v; want %q", c.name, c.arguments, got, err, c.want)
		}
	}
	for arguments, want := range map[string]string{
		`{"text":"a-b_","decode":true}`: "set url",
		`{"text":"a","decode":true}`:    "no Base64",
	} {
		if got, err := call(t, "base64", arguments); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %q, error %v; want an error with %q", arguments, got, err, want)
		}
	}
	if got, err := call(t, "hash_text", `{"text":"a","algorithm":"crc"}`); err == nil {
		t.Errorf("crc: got %q, want an error", got)
	}
}

func TestNewUUID(t *testing.T) {
	form := regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-([47])[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)
	for arguments, want := range map[string]struct {
		version string
		count   int
	}{
		``:                          {"4", 1},
		`null`:                      {"4", 1},
		`{}`:                        {"4", 1},
		`{"count":100}`:             {"4", 100},
		`{"version":7,"count":100}`: {"7", 100},
	} {
		got, err := call(t, "new_uuid", arguments)
		if err != nil {
			t.Errorf("%s: %v", arguments, err)
			continue
		}
		lines := strings.Split(got, "\n")
		for _, line := range lines {
			if m := form.FindStringSubmatch(line); m == nil || m[1] != want.version {
				t.Errorf("%s: %q is no UUID of version %s", arguments, line, want.version)
			}
		}
		if want.version == "7" && !slices.IsSorted(lines) {
			t.Errorf("%s: UUIDs of version 7 are not in order", arguments)
		}
		slices.Sort(lines)
		if n := len(slices.Compact(lines)); n != want.count {
			t.Errorf("%s: got %d different UUIDs, want %d", arguments, n, want.count)
		}
	}
	for _, arguments := range []string{`{"version":1}`, `{"count":101}`, `{"count":-1}`} {
		if got, err := call(t, "new_uuid", arguments); err == nil {
			t.Errorf("%s: got %q, want an error", arguments, got)
		}
	}
}

// What calculate gives in full, it reads back as the same value; brackets change nothing.
func FuzzCalculate(f *testing.F) {
	for _, seed := range []string{"156*23", "0.1+0.2", "-2^2", "350*(1-20%)", "sqrt(2)", "round(pi, 4)", "mod(-7, 3)", "1/3", "9^99", "2^0.5", "--1%%", "min(1, 2"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, expression string) {
		if len(expression) > 60 {
			return // long ones are slow, not different
		}
		calculated := func(s string) (string, error) {
			arguments, err := json.Marshal(map[string]string{"expression": s})
			if err != nil {
				t.Fatal(err)
			}
			return Call(context.Background(), "calculate", arguments)
		}
		first, err := calculated(expression)
		if err != nil || strings.HasPrefix(first, "≈") || len(first) > maxExpression-2 {
			return
		}
		if again, err := calculated("(" + first + ")"); err != nil || again != first {
			t.Errorf("%q gives %s, which reads back as %s, error %v", expression, first, again, err)
		}
	})
}
