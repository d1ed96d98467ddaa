package e2e_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// besideAPI has one row. It may be silent or fail.
type besideAPI struct {
	mu     sync.Mutex
	silent chan struct{} // nil if it answers
	fails  bool
}

func (a *besideAPI) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	silent, fails := a.silent, a.fails
	a.mu.Unlock()
	if fails {
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	if silent != nil {
		select {
		case <-silent:
		case <-r.Context().Done():
			return
		}
	}
	_, _ = w.Write([]byte(`[{"id": "beside", "active": true, "plan": "free"}]`))
}

// becomes sets whether the API is silent or fails.
func (a *besideAPI) becomes(silent, fails bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.silent != nil {
		close(a.silent)
		a.silent = nil
	}
	if silent {
		a.silent = make(chan struct{})
	}
	a.fails = fails
}

// besideInputs are another hub, with rows of an API.
const besideInputs = `apiVersion: operator.lynq.sh/v1
kind: LynqHub
metadata: {name: HUB-b}
spec:
  source: {type: http, syncInterval: 1s, http: {url: "URL"}}
  valueMappings: {uid: id, activate: active}
---
apiVersion: operator.lynq.sh/v1
kind: LynqForm
metadata: {name: beside}
spec:
  hubId: HUB-b
  configMaps:
    - {id: text, nameTemplate: "{{ .uid }}-text", spec: {apiVersion: v1, kind: ConfigMap}}
`

// TestWatchBesideSilentSource wants a hub of a watch to go on while another hub's source
// doesn't answer. Only its deletions wait, because a row of the other hub may render the
// objects.
func TestWatchBesideSilentSource(t *testing.T) {
	t.Parallel()
	api := &besideAPI{}
	server := httptest.NewServer(api)
	defer server.Close()
	defer api.becomes(false, false)
	s := newWatchedShop(t, cluster.Env(t), 4)
	s.write(t, "beside.yaml", s.inputs(strings.Replace(besideInputs, "URL", server.URL, 1)))
	w := s.watch(t, "--max-delete=100%")
	there := func(want bool, names ...string) {
		t.Helper()
		eventually(t, func() []string {
			now := s.Kubectl(t, "", "get", "configmaps", "-o", "name")
			var wrong []string
			for _, name := range names {
				if strings.Contains(now, "configmap/"+name+"\n") != want {
					wrong = append(wrong, fmt.Sprintf("ConfigMap %s exists: %t", name, !want))
				}
			}
			return wrong
		})
	}
	there(true, "t000-settings", "t003-settings", "beside-text")

	api.becomes(true, false)
	delete(s.rows, "t000")
	s.rows["t004"] = "free"
	s.saveRows(t)
	w.said(t, "its deletions wait until lynqctl has read the rows of the other hubs, which may render the objects")
	there(true, "t004-settings")
	s.deleteByHand(t, shopKinds()[2], "t001-settings")
	there(true, "t001-settings", "t000-settings")
	s.start(t, "apply", "-f", s.dir, "--hub="+s.hub(), "--node=t001-app", "--lock-timeout=2m").want(t, 0)
	there(true, "t000-settings")
	api.becomes(false, false)
	there(false, "t000-settings")

	// The rows can't be read, and then they can.
	api.becomes(false, true)
	w.said(t, "its rows can't be read")
	delete(s.rows, "t001")
	s.saveRows(t)
	w.said(t, "its deletions wait until lynqctl can read the rows of all hubs")
	there(true, "t001-settings")
	api.becomes(false, false)
	there(false, "t001-settings")
	kill(t, w, syscall.SIGTERM)
	w.want(t, 130)
}
