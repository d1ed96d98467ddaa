package command

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lynqctl/lynqctl/test/doctest"
)

// TestDocsChecks wants each kind of check to find the error on a small bad page. In these
// pages, § stands for a backtick.
func TestDocsChecks(t *testing.T) {
	const form = "apiVersion: operator.lynq.sh/v1\nkind: LynqForm\nmetadata: {name: web}\nspec:\n  hubId: crm\n  configMaps:\n    - {id: a, spec: {apiVersion: v1, kind: %, metadata: {name: a}}}\n"
	for name, test := range map[string]struct{ text, want string }{
		"good":                    {"§--max-delete=3§, §-f PATH§, §--output-dir§, §lynqctl status hub NAME§\n\n§§§sh\nlynqctl apply -f x --timeout 3m && kubectl lynq status\n§§§\n", ""},
		"unknown command":         {"§§§sh\nlynqctl aply -f x\n§§§\n", `p.md:2: lynqctl aply -f x: "lynqctl" has no command "aply"`},
		"unknown nested command":  {"§§§sh\n\nlynqctl orphans show\n§§§\n", `p.md:3: lynqctl orphans show: "lynqctl orphans" has no command "show"`},
		"unknown flag":            {"§§§console\n$ true\n$ lynqctl apply --forces\n§§§\n", `p.md:3: lynqctl apply --forces: unknown flag: --forces`},
		"flag of another command": {"§§§sh\nlynqctl status --max-delete=3\n§§§\n", `p.md:2: lynqctl status --max-delete=3: unknown flag: --max-delete`},
		"bad value of a flag":     {"§§§sh\nlynqctl apply -f x --timeout soon\n§§§\n", `p.md:2: lynqctl apply -f x --timeout soon: invalid argument "soon" for "--timeout" flag`},
		"too many arguments":      {"§§§sh\nlynqctl version a\n§§§\n", `p.md:2: lynqctl version a: `},
		"in prose":                {"It is\n§lynqctl orphan list§.\n", `p.md:2: lynqctl orphan list: "lynqctl" has no command "orphan"`},
		"a flag in prose":         {"Say §--max-deletes=3§.\n", "p.md:1: no command has the flag --max-deletes "},
		"a short one":             {"Say §-Z§.\n", "p.md:1: no command has the flag -Z "},
		"JSON":                    {"§§§json\n{\"a\": 1}\n{\"a\": }\n§§§\n", "p.md:1: this is no JSON: "},
		"YAML":                    {"§§§yaml\na: [\n§§§\n", "p.md:1: this is no YAML mapping: "},
		"good form":               {"§§§yaml\n" + strings.ReplaceAll(form, "%", "ConfigMap") + "§§§\n", ""},
		"form":                    {"§§§yaml\n" + strings.ReplaceAll(form, "%", "Secret") + "§§§\n", "p.md:1: stdin:"},
		"good part of a hub":      {"§§§yaml\nspec:\n  source:\n    type: csv\n    csv: {path: a.csv}\n§§§\n", ""},
		"part of a hub":           {"§§§yaml\nspec:\n  source:\n    type: csv\n    csv: {file: a.csv}\n§§§\n", `p.md:1: stdin:`},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := doctest.Parse("p.md", strings.ReplaceAll(test.text, "§", "`"))
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, problem := range append(append(wrongCalls(p), wrongFlags(p)...), wrongBlocks(p)...) {
				got = append(got, problem.String())
			}
			if all := strings.Join(got, "\n"); !strings.HasPrefix(all, test.want) || (test.want == "") != (all == "") {
				t.Error(cmp.Diff(test.want, all))
			}
		})
	}
}
