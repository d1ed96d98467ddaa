package lynq

import (
	"strconv"
	"time"
)

// PolicyValue reads and sets the value of a policy, as forms spell it.
type PolicyValue struct {
	Get func(*Policy) string
	Set func(*Policy, string) // the value is valid; nil for OtherPolicy
}

func words[T ~string](values ...T) []string {
	all := make([]string, len(values))
	for i, v := range values {
		all[i] = string(v)
	}
	return all
}

// word reads and sets a policy that always has a value.
func word[T ~string](at func(*Policy) *T) PolicyValue {
	return PolicyValue{
		Get: func(p *Policy) string { return string(*at(p)) },
		Set: func(p *Policy, value string) { *at(p) = T(value) },
	}
}

// quiet reads and sets a policy whose default is stored as "".
func quiet[T ~string](usual T, at func(*Policy) *T) PolicyValue {
	return PolicyValue{
		Get: func(p *Policy) string { return string(*at(p)) },
		Set: func(p *Policy, value string) {
			if *at(p) = T(value); value == string(usual) {
				*at(p) = ""
			}
		},
	}
}

func flag(at func(*Policy) *bool) PolicyValue {
	return PolicyValue{
		Get: func(p *Policy) string { return strconv.FormatBool(*at(p)) },
		Set: func(p *Policy, value string) { *at(p) = value == "true" },
	}
}

// unless reads and sets the opposite of a flag.
func unless(at func(*Policy) *bool) PolicyValue {
	return PolicyValue{
		Get: func(p *Policy) string { return strconv.FormatBool(!*at(p)) },
		Set: func(p *Policy, value string) { *at(p) = value == "false" },
	}
}

func wave(at func(*Policy) *int) PolicyValue {
	return PolicyValue{
		Get: func(p *Policy) string { return strconv.Itoa(*at(p)) },
		Set: func(p *Policy, value string) { *at(p), _ = strconv.Atoi(value) },
	}
}

// purgeValue reads and sets a wave or none.
func purgeValue() PolicyValue {
	return PolicyValue{
		Get: func(p *Policy) string {
			if p.PurgeOrder == nil {
				return ""
			}
			return strconv.Itoa(*p.PurgeOrder)
		},
		Set: func(p *Policy, value string) {
			wave, _ := strconv.Atoi(value)
			p.PurgeOrder = &wave
		},
	}
}

// reconcileValue sets Creation, too, because ReconcileOnce means CreateOnce.
func reconcileValue() PolicyValue {
	return PolicyValue{
		Get: func(p *Policy) string {
			if p.OnNodeChange {
				return string(OnObjectOrNodeChange)
			}
			return string(OnObjectChange)
		},
		Set: func(p *Policy, value string) {
			p.OnNodeChange = value == string(OnObjectOrNodeChange)
			if value == string(ReconcileOnce) && !p.Creation.Once() {
				p.Creation = CreateOnce
			}
		},
	}
}

func secondsValue() PolicyValue {
	return PolicyValue{
		Get: func(p *Policy) string { return strconv.Itoa(int(p.Timeout / time.Second)) },
		Set: func(p *Policy, value string) {
			seconds, _ := strconv.Atoi(value)
			p.Timeout = time.Duration(seconds) * time.Second
		},
	}
}

func intervalValue() PolicyValue {
	return PolicyValue{
		Get: func(p *Policy) string {
			if p.ReapplyInterval == 0 {
				return ""
			}
			return p.ReapplyInterval.String()
		},
		Set: func(p *Policy, value string) { p.ReapplyInterval, _ = time.ParseDuration(value) },
	}
}

func readinessValue() PolicyValue {
	return PolicyValue{Get: func(p *Policy) string {
		if p.Readiness == nil {
			return ""
		}
		return p.Readiness.String()
	}}
}
