package e2e_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/lynqctl/lynqctl/test/harness/faultproxy"
)

// TestWatchForgetsRow removes the row of a node that never rendered. The node must leave
// the metrics and the hub record soon, long before a round about all nodes.
func TestWatchForgetsRow(t *testing.T) {
	t.Parallel()
	inputs := strings.Replace(shopInputs, "{type: csv, csv:", "{type: csv, syncInterval: 1s, csv:", 1)
	inputs = strings.Replace(inputs, `data: {plan: "{{ .plan }}"}`, `data: {plan: "{{ .plan }}", seats: "{{ if eq .plan 'bad' }}{{ int .plan }}{{ end }}"}`, 1)
	inputs = strings.ReplaceAll(inputs, "'", "`")
	s := newShop(t, inputs, 2, faultproxy.Options{})
	w := s.watch(t, "--listen=127.0.0.1:0")
	address := w.address(t)
	s.counts(t, address, 2, 0)
	s.rows["bad"] = "bad"
	s.writeRows(t)
	s.counts(t, address, 3, 1)
	eventually(t, func() []string { // the hub record follows the metrics
		r := s.start(t, "status", "node", "bad-app")
		if <-r.done; r.code == 1 {
			return nil
		}
		return []string{"the record of the hub lacks the node"}
	})
	delete(s.rows, "bad")
	s.writeRows(t)
	began := time.Now()
	s.counts(t, address, 2, 0)
	t.Logf("forgotten after %s", time.Since(began))
	eventually(t, func() []string {
		r := s.start(t, "status", "node", "bad-app")
		<-r.done
		if r.code == 2 && strings.Contains(r.stderr.String(), `no inventory of node "bad-app"`) {
			return nil
		}
		return []string{"the record of the hub has the node"}
	})
	if took := time.Since(began); took > repairedWithin {
		t.Errorf("the row is forgotten after %s", took)
	}
	kill(t, w, syscall.SIGTERM)
	w.want(t, 130)
}

// counts waits until the metrics of a watch show that many nodes. It fails the test if that
// takes as long as until a round about all nodes.
func (s *shop) counts(t *testing.T, address string, desired, failed int) {
	t.Helper()
	of := fmt.Sprintf("{hub=%q,namespace=%q}", s.hub(), s.Namespace)
	want := []string{fmt.Sprintf("hub_desired%s %d\n", of, desired), fmt.Sprintf("hub_failed%s %d\n", of, failed)}
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for began := time.Now(); ; <-tick.C {
		text := scrape(t, address)
		if strings.Contains(text, want[0]) && strings.Contains(text, want[1]) {
			return
		}
		if time.Since(began) > repairedWithin {
			t.Fatalf("the metrics have no %q after %s:\n%s", want, repairedWithin, text)
		}
	}
}

// scrape returns the metrics, or "" if nothing answers yet.
func scrape(t *testing.T, address string) string {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+address+"/metrics", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return ""
	}
	defer answer.Body.Close() //nolint:errcheck // it was read
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		return ""
	}
	return string(text)
}
