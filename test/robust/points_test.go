package robust_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// scene is a command in a cluster in which it has work.
type scene struct {
	name  string
	lines []string // the lines before
	line  string   // the command
	prey  string   // an object that others change meanwhile
}

// fleet is small and complete: two hubs, every policy, a hook, and another tenant's object.
func fleet() []string {
	return []string{
		"row us coil gone", "row us dune gone", "row eu fir gone",
		"add web bye", "add web hold", "drop db over",
		"make ConfigMap/near/acme-theirs helm", "make ConfigMap/near/elm-conf bare",
	}
}

func scenes() []scene {
	const (
		apply = "apply max=100% wait=1"
		conf  = "ConfigMap/near/acme-conf"
		keep  = "PersistentVolumeClaim/near/acme-keep"
	)
	return []scene{
		{"create", nil, apply, conf},
		{"change", []string{apply, "column us acme plan pro", "set web conf name plan"}, apply, conf},
		{"remove", []string{apply, "row us bolt off", "column us acme feature false", "drop app keep"}, apply, conf},
		{"move", []string{apply, "hand us acme bolt acme2", "move conf web db"}, apply, conf},
		{"rename-form", []string{apply, "rename web site", "rename db store"}, apply, conf},
		{"rename-uid", []string{apply, "uid us acme ivy", "column us bolt plan pro", "uid us bolt jade", "column us ivy alias acme"}, apply, conf},
		{"rename-both", []string{apply, "rename db store", "uid us acme ivy", "set store keep name alias"}, apply, keep},
		{"move-hub", []string{apply, "add app far", "add app over", "add app opt", "rehub acme us eu"}, apply, conf},
		{"leave-late", []string{apply, "grace us 72", "row us bolt off", "row us acme gone", apply, "pass 80"}, apply, conf},
		{"rename-late", []string{apply, "grace us 72", "uid us acme ivy", "set db keep name alias", apply, "pass 80"}, apply, keep},
		{"leave-early", []string{apply, "grace us 72", "row us bolt off"}, apply, conf},
		{"stages", []string{"row us coil on", "stages web 0 rows:1,percent:30", apply, "revise web", "drop web opt"}, apply, conf},
		{"stages-continue", []string{"row us coil on", "stages web 0 rows:1:pause,rows:1:pause", apply, "apply max=100% continue=1", "apply max=100% continue=1", "revise web", apply}, apply + " continue=1", "ConfigMap/near/bolt-conf"},
		{"shard", []string{apply, "row us coil on", "column us acme plan pro", "hand us acme bolt acme2", "row eu elm off"}, "apply max=100% wait=1 shard=1/2", conf},
		{"planned", []string{apply, "row us bolt off", "column us acme plan pro", "drop app keep", "plan max=100%"}, "apply max=100% plan=1", conf},
		{"tombstone", []string{apply, "make ConfigMap/near/acme-old bare", "tombstone web on"}, apply, "ConfigMap/near/acme-old"},
		{"recreate", []string{"add app over", apply, "column eu elm plan pro"}, apply, "ConfigMap/near/acme-over"},
		{"delete", []string{apply}, "delete node=acme-web,acme-db cascade=background", conf},
		{"delete-foreground", []string{apply}, "delete form=web cascade=foreground", conf},
		{"delete-orphan", []string{apply}, "delete hub=eu cascade=orphan", "ConfigMap/near/elm-conf"},
		{"finalize", []string{apply, "forget acme-web", "forget acme-db"}, "finalize", conf},
		{"prune", []string{apply, "delete node=acme-db cascade=background"}, "prune data=1", keep},
		{"restore", []string{apply, "forget acme-web", "forget elm-app"}, "restore", conf},
		{"rebuild", []string{apply, "lose acme-web", "lose elm-app"}, "rebuild", conf},
		{"adopt", []string{apply, "delete node=acme-web,acme-db cascade=background"}, "adopt", keep},
		{"handover", []string{"operate us", "operate eu"}, "handover", conf},
		{"handover-remove", []string{"operate eu"}, "handover remove=1", "ConfigMap/near/elm-conf"},
		{"watch-create", nil, "watch then=column:us:acme:plan:pro,drift:" + conf, conf},
		{"watch-remove", []string{apply}, "watch then=row:us:bolt:off,column:us:acme:feature:false,drop:app:keep", conf},
		{"watch-repair", []string{apply}, "watch then=drift:" + conf + ",erase:ConfigMap/far/acme-far,lose:elm-app", conf},
		{"watch-move", []string{apply, "add app far", "add app over", "add app opt"}, "watch then=rehub:acme:us:eu", conf},
	}
}

// rest returns the commands that repair what a fault has left.
func (s scene) rest(t *testing.T, h *history) []string {
	t.Helper()
	const apply, still = "apply max=100% wait=1", "apply max=100% wait=1 still=1"
	switch ended := h.brief[len(h.brief)-1]; {
	case strings.HasPrefix(s.name, "stages"):
		return []string{apply + " continue=1", apply + " continue=1", apply + " continue=1", still}
	case h.hubLeaves(t):
		return []string{"finalize", apply, apply, still} // apply refuses such a hub
	case strings.HasPrefix(s.line, "handover"):
		return []string{s.line, apply, apply, still}
	case strings.HasPrefix(s.line, "watch") && strings.Contains(ended, fmt.Sprintf("exit %d", exitInterrupted)):
		return []string{still} // it has repaired everything itself
	}
	return []string{apply, apply, still}
}

// hubLeaves reports whether somebody deleted the record of a hub that still has nodes, and
// its finalizer blocks that.
func (w *world) hubLeaves(t *testing.T) bool {
	t.Helper()
	records, err := w.Dynamic.Resource(configMaps()).Namespace(w.Namespace).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return slices.ContainsFunc(records.Items, func(o unstructured.Unstructured) bool {
		hub, is := strings.CutPrefix(o.GetName(), "lynqhub-")
		return is && o.GetDeletionTimestamp() != nil && slices.ContainsFunc(records.Items, func(o unstructured.Unstructured) bool {
			return strings.HasPrefix(o.GetName(), "lynqnode-") && o.GetLabels()["lynq.sh/hub"] == hub
		})
	})
}

// faults returns the faults for the Nth request, and for the Nth watch if there is one.
func (s scene) faults(n, watches int) []string {
	all := []string{
		fmt.Sprintf("before:%d", n), fmt.Sprintf("after:%d", n), fmt.Sprintf("cut:%d", n),
		fmt.Sprintf("slow:%d", n), fmt.Sprintf("twice:%d", n), fmt.Sprintf("swapped:%d:%s", n, s.prey),
	}
	if n <= watches {
		all = append(all, fmt.Sprintf("short:%d", n))
	}
	if !strings.Contains(s.line, "cascade=background") { // the garbage collector ignores marks
		all = append(all, fmt.Sprintf("marked:%d:helm:%s", n, s.prey))
	}
	all = append(all, fmt.Sprintf("gone:%d:%s", n, s.prey), fmt.Sprintf("marked:%d:label:%s", n, s.prey), fmt.Sprintf("marked:%d:owner:%s", n, s.prey))
	for _, code := range []int{403, 500} { // the second look fails
		all = append(all, fmt.Sprintf("pair:%d:409:%d", n, code), fmt.Sprintf("swappair:%d:%d:%s", n, code, s.prey))
	}
	all = append(all, fmt.Sprintf("behind:%d:2", n), fmt.Sprintf("behind:%d:30", n), fmt.Sprintf("travel:%d:10", n))
	for _, code := range []int{403, 409, 410, 429, 500} {
		all = append(all, fmt.Sprintf("code:%d:%d", n, code))
	}
	return all
}

// TestPoints causes a fault at each request of each command. The model judges the result,
// two runs repair everything, and the third one has nothing to do. A watch that continues
// needs no further run. Without LYNQCTL_ROBUST_POINTS=all, it takes some of these points.
func TestPoints(t *testing.T) {
	t.Parallel()
	every := 193
	if os.Getenv("LYNQCTL_ROBUST_POINTS") == "all" {
		every = 1
	}
	for _, s := range scenes() {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			points, requests, watches := s.points(t)
			run, every := 0, every
			if every > 1 && strings.HasPrefix(s.line, "watch") {
				every *= 3 // one of them takes as long as three others
			}
			for i := 0; i < len(points); i += every {
				s.point(t, inMemory, points[i])
				run++
			}
			t.Logf("%d requests, %d of them watches, %d of %d points", requests, watches, run, len(points))
		})
	}
}

// TestPointsOnCluster does so for LYNQCTL_ROBUST_CLUSTER_POINTS of these points on a real
// control plane. Each LYNQCTL_ROBUST_SEED takes other points. The test leaves out the scenes
// in which days pass, the Lynq operator had the hub, or a watch runs.
func TestPointsOnCluster(t *testing.T) {
	t.Parallel()
	type point struct {
		scene
		fault string
	}
	var points []point
	for _, s := range scenes() {
		if strings.HasPrefix(s.line, "watch") || strings.Contains(s.name, "handover") || strings.HasSuffix(s.name, "-late") {
			continue
		}
		faults, _, _ := s.points(t)
		for _, fault := range faults {
			if lags(fault) {
				continue // no real server does
			}
			points = append(points, point{s, fault})
		}
	}
	all := uint64(len(points))
	some, first := min(number(t, "LYNQCTL_ROBUST_CLUSTER_POINTS", 5), all), number(t, "LYNQCTL_ROBUST_SEED", 1)-1
	for lane := range uint64(lanes) {
		t.Run(fmt.Sprintf("lane-%d", lane), func(t *testing.T) {
			t.Parallel()
			for i := lane; i < some; i += lanes {
				p := points[(first+i*all/some)%all]
				t.Run(p.name+"/"+strings.ReplaceAll(p.fault, "/", "_"), func(t *testing.T) { p.point(t, onCluster, p.fault) })
			}
		})
	}
}

// points returns the faults at each request of the scene's command.
func (s scene) points(t *testing.T) (faults []string, requests, watches int) {
	t.Helper()
	requests, watches = s.requests(t)
	for n := range requests {
		faults = append(faults, s.faults(n+1, watches)...)
	}
	return faults, requests, watches
}

// requests counts the command's requests, and the watches among them.
func (s scene) requests(t *testing.T) (count, watches int) {
	t.Helper()
	inMemory(t, func(t *testing.T, h *history) {
		h.replay(t, slices.Concat(fleet(), s.lines, []string{s.line}))
		verb, _, _ := strings.Cut(s.line, " ")
		counts := counted(verb)
		for _, r := range h.proxy.Records() {
			if counts(r.Request) {
				count++
			}
			if r.Verb == "watch" {
				watches++
			}
		}
		s.judge(t, h)
		ended := h.brief[len(h.brief)-1]
		if !strings.Contains(ended, "exit 0") && !strings.Contains(ended, fmt.Sprintf("exit %d", exitInterrupted)) {
			t.Errorf("the command failed without a fault:\n%s", h)
		}
	})
	return count, watches
}

// point runs the scene with one fault.
func (s scene) point(t *testing.T, in place, fault string) {
	t.Helper()
	in(t, func(t *testing.T, h *history) {
		h.replay(t, slices.Concat(fleet(), s.lines, []string{s.line + " fault=" + fault}))
		if len(h.wrong) == 0 {
			h.replay(t, s.rest(t, h))
		}
		s.judge(t, h)
		last := h.brief[len(h.brief)-1]
		theirs := strings.HasPrefix(fault, "marked") || strings.HasPrefix(fault, "swap") // it may be in conflict
		if len(h.wrong) == 0 && !theirs && !strings.Contains(last, "exit 0") {
			t.Errorf("the last run failed:\n%s", h)
		}
	})
}

func (s scene) judge(t *testing.T, h *history) {
	t.Helper()
	if len(h.wrong) > 0 {
		t.Errorf("%s\nviolations:\n%s\nhistory:\n%s", strings.Join(h.log, "\n"), strings.Join(h.wrong, "\n"), strings.Join(h.lines, "\n"))
	}
}
