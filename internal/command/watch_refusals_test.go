package command

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/lynqctl/lynqctl/internal/usecase/watchcmd"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/metrics"
)

// TestReady wants a watch to be unready once its API server or a source has refused it for
// longer than a sync interval, and ready again after an answer.
func TestReady(t *testing.T) {
	m, err := metrics.New(metrics.Options{})
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
	b := &board{Metrics: m, refused: refusals{now: func() time.Time { return now }}}
	crm, erp := lynq.HubKey{Namespace: "shop", Name: "crm"}, lynq.HubKey{Namespace: "shop", Name: "erp"}
	wants := func(what, want string) {
		t.Helper()
		if err := b.ready(); (err != nil) != (want != "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", what, err, want)
		}
	}
	later := func(d time.Duration) { now = now.Add(d) }
	wants("before the inputs are known", "")
	b.Keeps([]watchcmd.Watched{{HubKey: crm, SyncInterval: time.Minute}, {HubKey: erp, SyncInterval: time.Hour}})
	secret := errors.New("the password is hunter2")
	for range 3 {
		b.Read(crm, 0, 0, now, secret)
		b.Read(erp, 0, 0, now, secret)
		wants("a read failed just now", "")
		later(20 * time.Second)
	}
	later(time.Second)
	wants("for more than a minute", "hub shop/crm: its rows can't be read since 2026-07-01T12:00:00Z")
	if err := b.ready(); strings.Contains(err.Error(), "hunter2") {
		t.Errorf("it tells a secret: %v", err)
	}
	b.Leading(crm, false)
	wants("another instance reads them", "")
	b.Read(crm, 0, 0, now, secret)
	b.Read(crm, 3, 2, now, nil)
	later(2 * time.Minute)
	wants("read again", "")

	for _, status := range []int{0, 401, 500, 503} {
		b.Answered("get", 200)
		for range 2 {
			b.Answered("update", status)
			later(40 * time.Minute)
		}
		b.Read(erp, 1, 1, now, nil)
		wants("no good answer for 80 minutes", "the API server has refused")
		b.Answered("get", 404)
		wants("an answer", "")
	}
}
