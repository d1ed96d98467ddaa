package watchcmd_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lynqctl/lynqctl/test/inmemory/apiserver"
)

// TestLogTellsRows wants a round that follows the rows to log how they differ from the last
// run, and what it wrote. Many equal changes share a line. A round that only repairs an object
// says nothing of rows, though a column changed that no form uses.
func TestLogTellsRows(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, "new"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(filepath.Join(dir, "new"), filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	rows := func(tenants, silver int, note string) string {
		text := "id,active,plan,note\n"
		for i := range tenants {
			plan := "gold"
			if i < silver {
				plan = "silver"
			}
			text += fmt.Sprintf("t%02d,1,%s,%s\n", i, plan, note)
		}
		return text
	}
	write("kubeconfig", memoryKubeconfig)
	write("inputs.yaml", strings.NewReplacer("valueMappings:", "extraValueMappings: {plan: plan, note: note}\n  valueMappings:", "plan: gold", `plan: "{{ .plan }}"`).Replace(inputs))
	write("rows.csv", rows(30, 0, "old"))
	managers, err := apiserver.NewManagers()
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		server, said, stop := watching(t, managers, dir)
		defer stop()
		seen := 0
		// until waits for a round, and returns what the log says of it.
		until := func(round string) string {
			t.Helper()
			for wait := time.After(10 * time.Minute); ; {
				if text := said.String()[seen:]; regexp.MustCompile("msg=round .*" + round).MatchString(text) {
					seen += len(text)
					return text
				}
				select {
				case <-time.After(time.Second):
				case <-wait:
					t.Fatalf("no round with %q:\n%s", round, said)
				}
			}
		}
		check := func(text, pattern string, want int) {
			t.Helper()
			if n := len(regexp.MustCompile("(?m)"+pattern).FindAllString(text, -1)); n != want {
				t.Errorf("%d lines with %q, want %d:\n%s", n, pattern, want, text)
			}
		}

		text := until("changed=30 .*interrupted=false created=30 ")
		check(text, "msg=object ", 10)
		check(text, `msg=objects hub=default/engine form=default/web kind=ConfigMap action=create reason=New outcome=done objects=30 nodes="t\d\d-web, t\d\d-web, t\d\d-web and 27 more"`, 1)
		check(text, "last run", 0)

		write("rows.csv", rows(29, 12, "old"))
		text = until("changed=13 .* updated=12 deleted=1 ")
		check(text, `msg="hub default/engine: 29 rows \(30 in the last run, [^)]*\), 29 active \(30\), 0 inactive \(0\)"`, 1)
		check(text, `msg="hub default/engine: 1 row vanished"`, 1)
		check(text, `msg="hub default/engine: 12 of 29 rows changed: plan in 12"`, 1)
		check(text, "msg=object ", 11)
		check(text, "msg=objects .* action=update reason=Changed .* objects=12 ", 1)

		write("rows.csv", rows(29, 12, "new"))
		<-time.After(time.Minute) // lynqctl reads the rows meanwhile
		send(t, server, http.MethodDelete, "/api/v1/namespaces/default/configmaps/t20", nil)
		text = until("changed=1 .* created=1 ")
		check(text, "last run|rows? (changed|vanished)|msg=objects", 0)
		check(text, "msg=object .* reason=Vanished", 1)
	})
}
