package ready

import (
	"strings"
	"testing"
)

// TestReadinessByHints checks that an object must meet its annotation beside the rules of
// its kind. The message has the actual state.
func TestReadinessByHints(t *testing.T) {
	t.Parallel()
	widget := func(hint, status string) string {
		return "apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: w, generation: 2, annotations: {lynq.sh/status-hint: '" + hint + "'}}\n" +
			"spec: {size: 3, ports: [{port: 1}, {port: 2}]}\nstatus: " + status + "\n"
	}
	ready2 := "{observedGeneration: 2, phase: Running, conditions: [{type: Ready, status: 'True'}, {type: Synced, status: 'True'}]}"
	testReadiness(t, []readinessTest{
		{"all is there", widget("has-observed-generation,has-ready-condition,conditions=Synced,values={.status.phase}=Running", ready2), ready("")},
		{"no generation", widget("has-observed-generation", "{}"), Waiting("its controller has not set status.observedGeneration yet")},
		{"an old generation", widget("has-observed-generation", "{observedGeneration: 1}"), Waiting(unseenChange)},
		{"no condition Ready", widget("has-ready-condition", "{}"), Waiting("condition Ready is not set yet")},
		{"it is not Ready", widget("has-ready-condition", "{conditions: [{type: Ready, status: 'False', reason: Busy}]}"), Waiting("Busy")},
		{"the kind comes first", widget("conditions=Synced", "{conditions: [{type: Stalled, status: 'True', reason: Broken}]}"), Failed("Broken")},
		{"conditions", widget("conditions=A;B;C", "{conditions: [{type: A, status: 'True'}, {type: B, status: 'False', reason: Busy, message: soon}]}"),
			Waiting("condition B is False: Busy: soon; condition C is not set yet")},
		{"an old condition", widget("conditions=A", "{conditions: [{type: A, status: 'True', observedGeneration: 1}]}"), Waiting("condition A is of an earlier generation")},
		{"another value", widget("values={.status.phase}=Running", "{phase: Pending}"), Waiting("{.status.phase} is Pending, not Running")},
		{"no value", widget("values=.status.phase=Running", "{}"), Waiting("{.status.phase} is not set yet")},
		{"any value", widget("values=status.phase", "{phase: x}"), ready("")},
		{"numbers", widget("values={.spec.size}=3", "{}"), ready("")},
		{"quoted", widget("values={.status.phase}=\"Running\"", "{phase: Running}"), ready("")},
		{"a filter", widget("values={.status.conditions[?(@.type==\"Ready\")].status}=True", ready2), ready("")},
		{"two values", widget("values={.spec.ports[*].port}=1", "{}"), Waiting("{.spec.ports[*].port} gives more than one value")},
		{"a mapping", widget("values={.spec.ports[0]}=1", "{}"), Waiting("{.spec.ports[0]} is not a single value")},
		{"not a path", widget("values={.spec[}=1", "{}"), Waiting("{.spec[} cannot be read: unterminated array")},
		{"no hint", widget("soon", "{}"), Waiting(`annotation lynq.sh/status-hint: "soon" is none of has-observed-generation, has-ready-condition, conditions=A;B and values={.status.phase}=Running`)},
		{"complete", widget("conditions=Completed", "{conditions: [{type: Completed, status: 'True'}]}"), Readiness{State: StateReady, Final: true}},
		{"not complete", widget("values={.status.phase}=Succeeded", "{phase: Running}"), Waiting("{.status.phase} is Running, not Succeeded")},
		{"succeeded", widget("values={.status.phase}=Succeeded", "{phase: Succeeded}"), Readiness{State: StateReady, Final: true}},
		{"a long value", widget("values={.status.phase}=x", "{phase: "+strings.Repeat("y", 400)+"}"), Waiting("{.status.phase} is %s…, not x", strings.Repeat("y", 300))},
	})
}
