package robust_test

import (
	"bytes"
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/lynqctl/lynqctl/internal/kube"
	"github.com/lynqctl/lynqctl/internal/ui"
	"github.com/lynqctl/lynqctl/internal/ui/tty"
	"github.com/lynqctl/lynqctl/internal/usecase/applycmd"
	"github.com/lynqctl/lynqctl/internal/usecase/load"
	"github.com/lynqctl/lynqctl/internal/usecase/session"
	"github.com/lynqctl/lynqctl/internal/usecase/watchcmd"
	"github.com/lynqctl/lynqctl/pkg/apply/decide"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"

	"github.com/lynqctl/lynqctl/pkg/lynq/limits"
	"github.com/lynqctl/lynqctl/pkg/render"
	"github.com/lynqctl/lynqctl/test/robust/model"
)

// watchView is a session.View of a watch, which writes a log.
type watchView struct{ *ui.Log }

func (watchView) CanAsk() bool                             { return false }
func (watchView) Attended() bool                           { return false }
func (watchView) Confirm(string) (bool, error)             { return false, nil }
func (watchView) ConfirmName(string, string) (bool, error) { return false, nil }
func (watchView) Preview([]plan.Plan) error                { return nil }
func (watchView) Count(string) session.Counter             { return nil }
func (v watchView) Printer(session.Mode) session.Printer   { return v.Log }
func (v watchView) Reporter(session.Mode) session.Reporter { return v.Log }

// watch runs lynqctl watch with the files that -f names. It gets no reports of changed
// files, because those wait for the file system, which stops the clock.
func (p inProcess) watch(ctx context.Context, cluster http.RoundTripper, args []string, said *bytes.Buffer) (exit int) {
	getenv := func(string) string { return "" }
	e := &session.Engine{
		Stdin: strings.NewReader(""), Getenv: getenv, Transport: cluster,
		View: watchView{ui.NewLog(tty.NewStream(tty.To(said), getenv, tty.ColorNever), false)},
	}
	most, err := limits.ParseMaxDelete("100%")
	if err != nil {
		return exitFailed
	}
	o := applycmd.Options{
		RenderOptions: load.RenderOptions{Access: kube.Access{Kubeconfig: p.kubeconfig}, Nothing: "nothing changed", Settings: render.Settings{KeepGoing: true}},
		RunOptions:    session.DefaultRunOptions(), Limits: decide.Limits{MaxDelete: most, AllowEmpty: true, Window: decide.DefaultWindow}, Wait: true, Yes: true,
	}
	o.Events, o.LockTimeout = false, 0
	for i, arg := range args {
		if arg == "-f" {
			o.Inputs.Paths = append(o.Inputs.Paths, args[i+1])
		}
	}
	err = watchcmd.Run(ctx, e, &watchcmd.Options{Apply: o})
	switch {
	case ctx.Err() != nil:
		return exitInterrupted
	case err != nil:
		said.WriteString(err.Error())
	}
	return exitFailed
}

// The exit codes of watch.
const (
	exitFailed      = 1
	exitInterrupted = 130
)

// keeping is a running watch.
type keeping struct {
	*world
	run    running
	gone   chan struct{} // closes when it has ended
	e      execution
	before *model.Cluster
}

const (
	// looksEvery is the interval at which a history checks whether a watch is idle.
	looksEvery = 5 * time.Second
	// idleFor is the time without requests after which a watch counts as idle. It is longer
	// than the pause before a watch tries a refused Kubernetes watch again.
	idleFor = 75 * time.Second
	// keepsFor is longer than any mistake lasts, because a watch compares all nodes with
	// the cluster every five minutes.
	keepsFor = 6 * time.Minute
	// keepsMost is the time after which a watch counts as hanging.
	keepsMost = 20 * time.Minute
)

// keep runs lynqctl watch until it is idle, makes the option's changes, and stops it when
// it is idle again. Both times, the cluster must match the inputs.
func (w *world) keep(t *testing.T, o options) (execution, []string) {
	t.Helper()
	if err := w.write(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 3*keepsMost)
	defer cancel()
	c, args := w.command("watch", o)
	k := &keeping{world: w, gone: make(chan struct{}), before: w.look(t)}
	k.run = w.program.start(ctx, args)
	w.proxy.SetRules((&faulty{w, args[0], k.run.kill, k.gone, &k.e}).rules(t, o.one("fault"))...)
	w.proxy.Reset()
	go func() {
		defer close(k.gone)
		k.e.exit, k.e.said = k.run.end()
	}()
	wrong := k.phase(t, c, 0)
	if k.runs() && len(wrong) == 0 {
		w.happen(t, o["then"])
		k.before = w.look(t)
		c, _ = w.command("watch", o)
		wrong = k.phase(t, c, keepsFor)
	}
	k.run.stop()
	<-k.gone
	w.settle(t)
	w.last = w.look(t)
	if k.e.exit < 0 || len(wrong) > 0 {
		return k.e, wrong
	}
	c.At, c.Gone, c.Ended = time.Now(), w.gone, w.ended
	return k.e, append(wrong, model.Check(c, k.before, w.last, -1)...)
}

// runs reports whether the watch is running.
func (k *keeping) runs() bool {
	select {
	case <-k.gone:
		return false
	default:
		return true
	}
}

// happen changes inputs and objects: OPERATION:ARGUMENT:...
func (w *world) happen(t *testing.T, acts []string) {
	t.Helper()
	for _, act := range acts {
		words := strings.Split(act, ":")
		err := edit(w.inputs, words[0], words[1:])
		if err != nil {
			err = w.strange(t, words[0], words[1:])
		}
		if err != nil {
			t.Fatalf("%s: %v", act, err)
		}
	}
	if err := w.write(); err != nil {
		t.Fatal(err)
	}
}

// phase waits until the watch is idle or has ended, and names its violations so far.
func (k *keeping) phase(t *testing.T, c model.Command, least time.Duration) []string {
	t.Helper()
	k.world.gone.See(c, k.before, time.Now())
	k.idle(t, c, least)
	exit := -1
	if k.runs() {
		exit = 0
	}
	now := k.look(t)
	delete(k.before.Objects, k.e.erased)
	if k.e.erased != "" {
		exit = -1 // the person's object may conflict with the form
	}
	k.before.See(k.e.marked)
	k.e.erased, k.e.marked = "", nil
	c.At, c.Gone, c.Ended = time.Now(), k.world.gone, k.ended
	wrong := model.Check(c, k.before, now, exit)
	k.before = now
	return append(wrong, k.escalated(t)...)
}

// idle waits until the watch has nothing to do, and the cluster matches the inputs.
func (k *keeping) idle(t *testing.T, c model.Command, least time.Duration) {
	t.Helper()
	tick := time.NewTicker(looksEvery)
	defer tick.Stop()
	for began := time.Now(); time.Since(began) < keepsMost; {
		select {
		case <-k.gone:
			return
		case <-tick.C:
		}
		if time.Since(began) < least || time.Since(k.busy()) < idleFor {
			continue
		}
		if now := k.look(t); len(model.Check(c, now, now, 0)) == 0 {
			return
		}
	}
}

// busy returns the time of the watch's last request other than a renewal of the Lease.
func (k *keeping) busy() (at time.Time) {
	counts := counted("watch")
	for _, r := range k.proxy.Records() {
		if counts(r.Request) && r.Began.After(at) {
			at = r.Began
		}
	}
	return at
}
