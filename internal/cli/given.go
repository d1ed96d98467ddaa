package cli

import (
	"bytes"
	"encoding/csv"
	"slices"
	"strings"

	"github.com/spf13/pflag"
)

// Given are the flags that were given, as another command line is to have them, but for
// some that are left out.
func Given(flags *pflag.FlagSet, left []string) []string {
	var args []string
	flags.Visit(func(f *pflag.Flag) {
		if !slices.Contains(left, f.Name) {
			args = append(args, argsOf(f)...)
		}
	})
	return args
}

// argsOf is a flag as it is given, once for each of its values.
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

// asList is a value as one that is split at commas has it.
func asList(value string) string {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	_ = w.Write([]string{value}) // a buffer takes all
	w.Flush()
	return strings.TrimSuffix(b.String(), "\n")
}
