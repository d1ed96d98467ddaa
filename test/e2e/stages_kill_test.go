package e2e_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/lynqctl/lynqctl/test/harness/faultproxy"
)

// stagedInputs has nodes of two objects that change in three stages.
const stagedInputs = formInputs + `  rollout: {stages: [{rows: 1, pause: PAUSE}, {rows: 1, pause: PAUSE}]}
  configMaps:
    - {id: text, nameTemplate: "{{ .uid }}-text", spec: {apiVersion: v1, kind: ConfigMap, data: {form: "N"}}}
    - {id: more, nameTemplate: "{{ .uid }}-more", dependIds: [text], spec: {apiVersion: v1, kind: ConfigMap, data: {form: "N"}}}
    - {id: old-N, nameTemplate: "{{ .uid }}-old-N", spec: {apiVersion: v1, kind: ConfigMap}}
`

// killedStages kills a run that passes the stages of a rollout. With pauses, it kills one
// that continues after the second pause.
func killedStages(pause bool) func(*testing.T) *kills {
	return func(t *testing.T) *kills {
		t.Helper()
		s := newShop(t, "", 4, faultproxy.Options{})
		become := func(t *testing.T, n int) {
			t.Helper()
			s.write(t, "inputs.yaml", strings.NewReplacer("PAUSE", strconv.FormatBool(pause), "-N", fmt.Sprintf("-%d", n), `"N"`, fmt.Sprintf("%q", strconv.Itoa(n))).Replace(s.inputs(stagedInputs)))
		}
		args, stages := []string{"apply", "-f", s.dir, "--concurrency=4"}, 3
		if pause {
			args, stages = append(args, "--continue"), 2
		}
		form := 0
		become(t, form)
		for range 3 {
			s.apply(t, "--continue").want(t, 0)
		}
		k := &kills{shop: s, args: args, least: 8}
		k.begin = func(t *testing.T, n int) {
			t.Helper()
			form, k.args = n, args
			become(t, form)
			if pause {
				s.apply(t).want(t, 0)
				s.inStages(t, form, 1)
			}
		}
		k.left = func(t *testing.T, _ bool) {
			t.Helper()
			if s.inStages(t, form, stages); pause {
				k.args = args[:len(args)-1] // without --continue, because another one may end the next pause
			}
			complain(t, s.look(t).unnamed())
		}
		k.whole = func(t *testing.T) {
			t.Helper()
			if strings.Contains(s.apply(t).stderr.String(), "pauses after stage 1") { // no node of stage 2 is recorded
				s.apply(t, "--continue").want(t, 0)
			}
			if changed := s.inStages(t, form, stages); changed != stages {
				t.Errorf("%d stages have changed, want %d", changed, stages)
			}
			s.apply(t, "--continue").want(t, 0)
			if changed := s.inStages(t, form, 3); changed != 3 {
				t.Errorf("%d stages have changed at last, want 3", changed)
			}
		}
		return k
	}
}

// inStages wants a node to change only after all nodes of earlier stages, and none after
// the last stage. It returns how many stages have changed.
func (s *shop) inStages(t *testing.T, form, last int) int {
	t.Helper()
	objects := s.look(t).objects
	changed, begun := 0, 0
	for stage, uids := range [][]string{{"t000"}, {"t001"}, {"t002", "t003"}} {
		var as []bool
		for _, uid := range uids {
			for _, id := range []string{"text", "more"} {
				data, _ := objects["ConfigMap/"+s.Namespace+"/"+uid+"-"+id].Object["data"].(map[string]any)
				as = append(as, data["form"] == strconv.Itoa(form))
			}
			as = append(as, objects[fmt.Sprintf("ConfigMap/%s/%s-old-%d", s.Namespace, uid, form-1)] == nil)
		}
		if slices.Contains(as, true) {
			begun = stage + 1
		}
		if begun > changed+1 || begun > last {
			t.Errorf("stage %d has begun, and %d stages have ended; the run ends with stage %d", begun, changed, last)
		}
		if changed == stage && !slices.Contains(as, false) {
			changed++
		}
	}
	return changed
}
