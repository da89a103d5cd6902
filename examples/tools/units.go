package tools

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// A unit is so many base units of its kind. Temperatures have an offset as well, which is added
// first. The first name is how the unit is written in results.
type unit struct {
	kind           string
	factor, offset float64
	names          []string
}

// units lists what convertUnit knows. The factors are exact by definition: of the international
// yard and pound of 1959, the US gallon of 231 cubic inches, the imperial one of 4.54609 l, and
// the market units of China (里 500 m, 斤 500 g, 亩 2000/3 m²).
func units() []unit {
	const (
		inch   = 0.0254
		pound  = 0.45359237
		gallon = 3.785411784
		ukgal  = 4.54609
		kib    = 1024.0
	)
	return []unit{
		{"length", 0.001, 0, []string{"mm", "millimetre", "millimeter", "毫米"}},
		{"length", 0.01, 0, []string{"cm", "centimetre", "centimeter", "厘米"}},
		{"length", 1, 0, []string{"m", "metre", "meter", "米"}},
		{"length", 1000, 0, []string{"km", "kilometre", "kilometer", "公里", "千米"}},
		{"length", inch, 0, []string{"in", "inch", "inches", "英寸"}},
		{"length", 12 * inch, 0, []string{"ft", "foot", "feet", "英尺"}},
		{"length", 36 * inch, 0, []string{"yd", "yard", "码"}},
		{"length", 63360 * inch, 0, []string{"mi", "mile", "英里"}},
		{"length", 1852, 0, []string{"nmi", "nautical mile", "海里"}},
		{"length", 500, 0, []string{"里", "li"}},

		{"mass", 1e-6, 0, []string{"mg", "milligram", "毫克"}},
		{"mass", 0.001, 0, []string{"g", "gram", "克"}},
		{"mass", 1, 0, []string{"kg", "kilogram", "kilo", "公斤", "千克"}},
		{"mass", 1000, 0, []string{"t", "tonne", "吨"}},
		{"mass", pound / 16, 0, []string{"oz", "ounce", "盎司"}},
		{"mass", pound, 0, []string{"lb", "lbs", "pound", "磅"}},
		{"mass", 14 * pound, 0, []string{"st", "stone"}},
		{"mass", 0.5, 0, []string{"斤", "jin"}},
		{"mass", 0.05, 0, []string{"两", "liang"}},

		{"volume", 0.001, 0, []string{"ml", "millilitre", "milliliter", "毫升"}},
		{"volume", 1, 0, []string{"l", "litre", "liter", "升"}},
		{"volume", 1000, 0, []string{"m3", "m³", "cubic metre", "cubic meter", "立方米"}},
		{"volume", gallon / 768, 0, []string{"tsp", "teaspoon"}},
		{"volume", gallon / 256, 0, []string{"tbsp", "tablespoon"}},
		{"volume", gallon / 128, 0, []string{"floz", "fl oz", "fluid ounce"}},
		{"volume", gallon / 16, 0, []string{"cup"}},
		{"volume", gallon / 8, 0, []string{"pt", "pint"}},
		{"volume", gallon / 4, 0, []string{"qt", "quart"}},
		{"volume", gallon, 0, []string{"gal", "gallon", "加仑"}},
		{"volume", ukgal / 8, 0, []string{"ukpt", "imperial pint"}},
		{"volume", ukgal, 0, []string{"ukgal", "imperial gallon"}},

		{"temperature", 1, 273.15, []string{"C", "°C", "celsius", "摄氏度", "℃"}},
		{"temperature", 5.0 / 9, 459.67, []string{"F", "°F", "fahrenheit", "华氏度", "℉"}},
		{"temperature", 1, 0, []string{"K", "kelvin"}},

		{"area", 1, 0, []string{"m2", "m²", "square metre", "square meter", "平方米"}},
		{"area", 1e6, 0, []string{"km2", "km²", "square kilometre", "square kilometer", "平方公里"}},
		{"area", 1e4, 0, []string{"ha", "hectare", "公顷"}},
		{"area", 144 * inch * inch, 0, []string{"ft2", "ft²", "sq ft", "square foot", "square feet", "平方英尺"}},
		{"area", 43560 * 144 * inch * inch, 0, []string{"acre", "英亩"}},
		{"area", 2000.0 / 3, 0, []string{"亩", "mu"}},

		{"speed", 1, 0, []string{"m/s", "mps", "米每秒"}},
		{"speed", 1 / 3.6, 0, []string{"km/h", "kmh", "kph", "公里每小时"}},
		{"speed", 63360 * inch / 3600, 0, []string{"mph", "mi/h", "英里每小时"}},
		{"speed", 1852.0 / 3600, 0, []string{"kn", "knot", "节"}},

		{"data", 1, 0, []string{"B", "byte", "字节"}},
		{"data", 1e3, 0, []string{"kB", "kilobyte"}},
		{"data", 1e6, 0, []string{"MB", "megabyte"}},
		{"data", 1e9, 0, []string{"GB", "gigabyte"}},
		{"data", 1e12, 0, []string{"TB", "terabyte"}},
		{"data", kib, 0, []string{"KiB", "kibibyte"}},
		{"data", kib * kib, 0, []string{"MiB", "mebibyte"}},
		{"data", kib * kib * kib, 0, []string{"GiB", "gibibyte"}},
		{"data", kib * kib * kib * kib, 0, []string{"TiB", "tebibyte"}},

		{"energy", 1, 0, []string{"J", "joule", "焦耳"}},
		{"energy", 1e3, 0, []string{"kJ", "kilojoule", "千焦"}},
		{"energy", 4.184, 0, []string{"cal", "calorie", "卡"}},
		{"energy", 4184, 0, []string{"kcal", "kilocalorie", "千卡", "大卡"}},
		{"energy", 3600, 0, []string{"Wh", "watt hour"}},
		{"energy", 3.6e6, 0, []string{"kWh", "kilowatt hour", "千瓦时", "度电"}},

		{"pressure", 1, 0, []string{"Pa", "pascal", "帕"}},
		{"pressure", 1e3, 0, []string{"kPa", "kilopascal", "千帕"}},
		{"pressure", 1e5, 0, []string{"bar", "巴"}},
		{"pressure", 101325, 0, []string{"atm", "atmosphere", "标准大气压"}},
		{"pressure", pound * 9.80665 / (inch * inch), 0, []string{"psi"}},
		{"pressure", 133.322387415, 0, []string{"mmHg", "毫米汞柱"}},

		{"time", 1, 0, []string{"s", "sec", "second", "秒"}},
		{"time", 60, 0, []string{"min", "minute", "分钟"}},
		{"time", 3600, 0, []string{"h", "hr", "hour", "小时"}},
		{"time", 86400, 0, []string{"d", "day", "天"}},
		{"time", 604800, 0, []string{"wk", "week", "周", "星期"}},
	}
}

type convertUnitArguments struct {
	Value float64 `json:"value"`
	From  string  `json:"from"`
	To    string  `json:"to"`
}

func convertUnit(a convertUnitArguments) (string, error) {
	from, err := findUnit(a.From)
	if err != nil {
		return "", err
	}
	to, err := findUnit(a.To)
	if err != nil {
		return "", err
	}
	if from.kind != to.kind {
		return "", fmt.Errorf("%s is a unit of %s, %s one of %s; they do not convert", from.names[0], from.kind, to.names[0], to.kind)
	}
	base := (a.Value + from.offset) * from.factor
	if from.kind == "temperature" && base < 0 {
		return "", fmt.Errorf("%s %s is below absolute zero", digits(a.Value), from.names[0])
	}
	result := base/to.factor - to.offset
	if math.IsInf(result, 0) {
		return "", fmt.Errorf("%s %s is too large to convert", digits(a.Value), from.names[0])
	}
	return fmt.Sprintf("%s %s = %s %s", digits(a.Value), from.names[0], digits(result), to.names[0]), nil
}

// findUnit finds a unit by any of its names: as written, because mB is not MB, else whatever the
// case, else without the s of a plural.
func findUnit(name string) (unit, error) {
	name = strings.TrimSpace(name)
	all := units()
	for _, same := range []func(own string) bool{
		func(own string) bool { return own == name },
		func(own string) bool { return strings.EqualFold(own, name) },
		func(own string) bool { return len(own) > 2 && strings.EqualFold(own+"s", name) },
	} {
		for _, u := range all {
			for _, own := range u.names {
				if same(own) {
					return u, nil
				}
			}
		}
	}
	return unit{}, fmt.Errorf("the unit %q is not known; use a symbol such as km, lb, gal, F, GiB or kWh", name)
}

// digits writes f with twelve significant digits, which hides what binary fractions add.
func digits(f float64) string {
	if f == 0 || math.Abs(f) < 1e-12 {
		return "0"
	}
	return strconv.FormatFloat(f, 'g', 12, 64)
}
