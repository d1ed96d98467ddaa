package robust_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

// scene is a command in a cluster where it has something to do.
type scene struct {
	name  string
	lines []string // what comes before
	line  string   // the command
	prey  string   // an object that others change meanwhile
}

// fleet is small and complete: two hubs, every policy, a hook, another tenant's object.
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
	}
}

// faults are what happens to the Nth request.
func (s scene) faults(n int) []string {
	all := []string{
		fmt.Sprintf("before:%d", n), fmt.Sprintf("after:%d", n), fmt.Sprintf("cut:%d", n),
		fmt.Sprintf("slow:%d", n), fmt.Sprintf("twice:%d", n), fmt.Sprintf("short:%d", n),
		fmt.Sprintf("swapped:%d:%s", n, s.prey),
	}
	if !strings.Contains(s.line, "cascade=background") { // the garbage collector doesn't look at marks
		all = append(all, fmt.Sprintf("marked:%d:helm:%s", n, s.prey))
	}
	for _, code := range []int{403, 409, 410, 429, 500} {
		all = append(all, fmt.Sprintf("code:%d:%d", n, code))
	}
	return all
}

// TestPoints has a fault happen to each request of each command. The model judges it, two
// runs put everything right, and the third one has nothing to do. Without
// LYNQCTL_ROBUST_POINTS=all it takes some of these points.
func TestPoints(t *testing.T) {
	t.Parallel()
	every := 97
	if os.Getenv("LYNQCTL_ROBUST_POINTS") == "all" {
		every = 1
	}
	for _, s := range scenes() {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			requests := s.requests(t)
			var points []string
			for n := range requests {
				points = append(points, s.faults(n+1)...)
			}
			run := 0
			for i := 0; i < len(points); i += every {
				s.point(t, points[i])
				run++
			}
			t.Logf("%d requests, %d of %d points", requests, run, len(points))
		})
	}
}

// requests counts those of the command.
func (s scene) requests(t *testing.T) (count int) {
	t.Helper()
	inMemory(t, func(t *testing.T, h *history) {
		h.replay(t, slices.Concat(fleet(), s.lines, []string{s.line}))
		count = len(h.proxy.Records())
		s.judge(t, h)
		if !strings.Contains(h.brief[len(h.brief)-1], "exit 0") {
			t.Errorf("the command failed without a fault:\n%s", h)
		}
	})
	return count
}

// point has one fault.
func (s scene) point(t *testing.T, fault string) {
	t.Helper()
	inMemory(t, func(t *testing.T, h *history) {
		h.replay(t, slices.Concat(fleet(), s.lines, []string{
			s.line + " fault=" + fault, "apply max=100% wait=1", "apply max=100% wait=1", "apply max=100% wait=1 still=1",
		}))
		s.judge(t, h)
	})
}

func (s scene) judge(t *testing.T, h *history) {
	t.Helper()
	if len(h.wrong) > 0 {
		t.Errorf("%s\nviolations:\n%s\nhistory:\n%s", strings.Join(h.log, "\n"), strings.Join(h.wrong, "\n"), strings.Join(h.lines, "\n"))
	}
}
