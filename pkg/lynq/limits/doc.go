// Package limits counts what a run takes from the nodes of a hub, as the guard max-delete judges
// it: nodes that leave, move, or lose objects. Objects before and after a run flow in, and
// counts and refusals flow out. It refuses nothing itself.
package limits
