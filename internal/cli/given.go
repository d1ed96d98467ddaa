package cli

import (
	"bytes"
	"encoding/csv"
	"slices"
	"strings"

	"github.com/spf13/pflag"
)

// Given returns the given flags as arguments for another command line. It leaves out the
// flags in left.
func Given(flags *pflag.FlagSet, left []string) []string {
	var args []string
	flags.Visit(func(f *pflag.Flag) {
		if !slices.Contains(left, f.Name) {
			args = append(args, argsOf(f)...)
		}
	})
	return args
}

// argsOf returns a flag as arguments, one for each of its values.
func argsOf(f *pflag.Flag) []string {
	values := []string{f.Value.String()}
	if several, ok := f.Value.(pflag.SliceValue); ok {
		values = several.GetSlice()
	}
	args := make([]string, len(values))
	for i, value := range values {
		if f.Value.Type() == "stringSlice" {
			value = asList(value)
		}
		args[i] = "--" + f.Name + "=" + value
	}
	return args
}

// asList quotes a value for a flag that splits its values at commas.
func asList(value string) string {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	_ = w.Write([]string{value}) // a buffer accepts everything
	w.Flush()
	return strings.TrimSuffix(b.String(), "\n")
}
