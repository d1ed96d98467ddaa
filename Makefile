# make build          the binaries, in bin/
# make generate       completions/, docs/commands.md and docs/commands/ from the commands, and test/voice/exceptions.txt
#                     without the exceptions that are no longer needed
# make recordings     docs/recordings/ from the console blocks and pictures of the documentation
# make generate-kinds the kinds of Kubernetes, in pkg/lynq/kinds/kinds.txt, as a real API server has them
# make man            the manual pages, in man/
# make release-check  whether goreleaser takes goreleaser.yaml, and what it makes for this machine
# make test           everything, on real database servers and a real control plane: the next three, each of
#                     which is a job of CI
# make test-packages  the packages
# make test-scripts   the scripts and histories on a control plane
# make test-modules   the modules beside the main one
# make race           the packages, all of them with the race detector
# make test-unit      the pure packages, in seconds
# make check          format, lint with the checks of go vet, no dead code, and that go.mod is tidy
# make robust         a random driver against a model, on a real control plane: STEPS=2000, SEED of today
# make robust-memory  the same in memory, 200 steps in a second of a core: STEPS=20000
# make robust-histories  the histories that once found something, on a real control plane
# make robust-points  a fault at each request of each command, in memory
# make robust-points-cluster  some of these faults on a real control plane: POINTS=1000
# make robust-broken  whether the driver finds each of thirteen broken promises
# make security       the tests that docs/security.md names
# make vuln           known vulnerabilities in what lynqctl calls, where their database can be reached
# make fuzz           each fuzz target for FUZZTIME, those of names for FUZZLESS
# make bench          rendering against a hand-written loop and the usual way
# make bench-cluster  applying against a bare client and kubectl, on a real control plane
# make bench-scale    a million rows, and 10 000 nodes
# make bench-watch    what lynqctl watch costs while nothing happens, and for edits by hand
# make cluster        a control plane to try things on; prints its KUBECONFIG
# make cluster-down   stops it
# make site           the documentation site, in site/dist; the only target that needs Node

GO       ?= go
FUZZTIME ?= 60s
# For names, which are short, and for what tests try with thousands of seeds, too.
FUZZLESS ?= 15s
# How many random steps, from which seed, and how often the shortest history is tried for.
STEPS    ?= 2000
SEED     ?= $(shell date +%s)
SHRINK   ?= 40
# How releases are built, and whatever needs no race detector: what one of them has compiled
# the others find, and so does a run in another folder, as far as nothing has changed.
PLAIN    := CGO_ENABLED=0 GOFLAGS=-trimpath
LINT     := $(PLAIN) $(GO) run github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.13.2
DEADCODE := $(PLAIN) $(GO) run golang.org/x/tools/cmd/deadcode@v0.50.0
GORELEASER := $(GO) run github.com/goreleaser/goreleaser/v2@v2.16.0
CLUSTER  := test/cluster
# One control plane for all packages of a command.
SHARE    := $(GO) -C $(CLUSTER) run . share -C $(CURDIR)
GITOPS   := test/gitops
MONITORING := test/monitoring
CHARTS   := test/charts
# The race detector needs cgo, and that a C compiler.
RACE     := $(if $(filter 1,$(shell $(GO) env CGO_ENABLED)),-race) -trimpath

# Packages that only calculate. SEQUENTIAL is those of them that start no goroutines, and
# APART others whose tests share nothing between goroutines: there is nothing in them for
# the race detector, and to link a test with it takes longer than to run one.
SEQUENTIAL := ./internal/draft ./internal/existing ./pkg/lynq/suggest ./pkg/lynq/markdown ./internal/ui/list ./pkg/apply/decide ./pkg/apply/plan ./pkg/apply/ready ./pkg/apply/tracking ./pkg/deploy ./pkg/diff ./pkg/form ./pkg/form/depgraph ./pkg/form/document ./pkg/form/files ./pkg/inventory ./pkg/inventory/history ./pkg/lynq ./pkg/lynq/kinds ./pkg/lynq/manifest ./pkg/lynq/naming ./pkg/lynq/phrase ./pkg/lynq/redact ./pkg/lynq/limits ./pkg/lynq/wellknown ./pkg/rbac ./pkg/render/expr ./pkg/render/funcs ./pkg/render/scalar ./pkg/source/address ./pkg/status ./test/recordings ./test/robust/model ./test/voice
APART      := ./internal/cli ./internal/extdiff ./internal/ownprocess ./internal/usecase/applycmd ./internal/usecase/delete ./internal/usecase/diffcmd ./internal/usecase/explain ./internal/usecase/load ./internal/usecase/orphans ./pkg/apply/fields ./pkg/apply/planfile ./pkg/bounded ./pkg/changeset ./pkg/evidence ./pkg/gitops/apps ./pkg/gitops/hooks ./pkg/gitops/policy ./pkg/lynq/endpoint ./pkg/page ./pkg/source/httprows ./test/doctest ./test/layers ./test/mutants ./test/release
# Packages with both: tests for the race detector, and CALCULATE, which calculate, or run one
# process or query after the other, for seconds, and with the race detector for minutes.
BOTH       := ./cmd/lynqctl ./internal/command ./pkg/gitops ./pkg/render ./pkg/source
CALCULATE  := ^Test(AnswersKeepSecrets|Budget|BudgetIsEnough|BudgetOfSlow|ClientCertificate|Coverage|Docs|DocsExamples|FieldsByShape|FileErrors|FullDisk|GeneratedCauses|GitHistoryRepeats|HabitsComment|HabitsInstall|HabitsNote|LongRow|LongRowDescribed|MariaDBPrints|MarkdownFits|MySQLWithoutTLS|PostgreSQLPrints|PostgreSQLTypes|Scripts|ServerEveryCut|Shells|SQLiteReals|TollProperty|TreeAtOnce|TreeDeletesLikeCluster|TreeKilled|TreeSurvivesGit|TreeUntouched|TreeWithAppsDeletesLikeCluster|Words|WriterEqualsBuilder)$$
# Those that take longest begin first, so that none of them runs alone at the end.
LONG       := ./pkg/apply ./pkg/inventory/lease
UNIT       := $(SEQUENTIAL) ./internal/ui ./pkg/apply/schedule ./pkg/orphan ./pkg/render ./pkg/watch

.PHONY: build generate recordings generate-kinds man release-check robust robust-histories robust-memory robust-points robust-points-cluster robust-states robust-broken mutants race test test-cluster test-gitops test-modules test-charts test-monitoring test-packages test-scripts test-unit security check vuln fuzz bench bench-cluster bench-scale bench-watch cluster cluster-build cluster-down site

build:
	$(GO) build -trimpath -o bin/ ./cmd/lynqctl ./cmd/lynqctl-chart

generate:
	$(GO) test ./internal/command -count=1 -run '^(TestCompletionScripts|TestCommandReference)$$' -update
	$(GO) test ./test/voice -count=1 -run '^TestVoice$$' -update
	$(GO) test ./pkg/form -count=1 -run '^TestSchemaFiles$$' -update

recordings:
	$(GO) test ./test/recordings -count=1 -run '^TestRecordings$$' -update

generate-kinds: cluster-build
	LYNQCTL_TEST_CLUSTER=1 $(GO) test ./internal/kube -count=1 -run '^TestBuiltInKinds$$' -update

man:
	$(PLAIN) $(GO) test ./internal/command -count=1 -run '^TestManualPages$$' -man $(CURDIR)/man

# The first time, goreleaser itself is built, which takes minutes. The release is of
# the commit, in a clone of its own; another build of it has the same bytes. What needs
# more than Go is left out: the base of the image, and the programs that list what is in
# archives and sign them. Source code that came without a commit has no release.
release-check:
	$(GORELEASER) check
	@if git rev-parse -q --verify HEAD >/dev/null; then set -ex; \
	  rm -rf bin/release; git clone -q . bin/release; cd bin/release; mkdir -p bin; \
	  sed -E 's/^( +goos:).*/\1 [$(shell $(GO) env GOOS)]/; s/^( +goarch:).*/\1 [$(shell $(GO) env GOARCH)]/' goreleaser.yaml >bin/goreleaser.yaml; \
	  $(GORELEASER) release --snapshot --clean --config bin/goreleaser.yaml --skip ko,sbom,sign; \
	  $(GO) run ./test/release dist; \
	  git clone -q . again; mkdir bin/again; (cd again; CGO_ENABLED=0 $(GO) build -trimpath -buildvcs=true -ldflags '-s -w' -o ../bin/again/ ./cmd/lynqctl ./cmd/lynqctl-chart); \
	  for program in lynqctl lynqctl-chart; do cmp dist/$${program}_*/$$program bin/again/$$program; done; \
	else echo 'make release-check: there is no commit here, and nothing to release'; fi

# CI runs these three side by side, and .ci/run runs them one after the other.
test: test-packages test-scripts test-modules

# The control plane is built first: the first time, that outlasts what go test lets a
# package take. make check vets.
test-packages: cluster-build
	@command -v mariadbd >/dev/null || echo 'make test: mariadbd is not installed; the tests of MySQL sources are skipped'
	@command -v postgres >/dev/null || ls /usr/lib/postgresql/*/bin/postgres >/dev/null 2>&1 || \
	  echo 'make test: postgres is not installed; the tests of PostgreSQL sources are skipped'
	LYNQCTL_TEST_CLUSTER=1 $(PLAIN) $(GO) test -count=1 -vet=off -p 4 -timeout 45m -run '$(CALCULATE)' $(BOTH)
	LYNQCTL_TEST_CLUSTER=1 $(GO) test $(RACE) -count=1 -vet=off -p 4 -timeout 45m -skip '$(CALCULATE)' $(BOTH)
	LYNQCTL_TEST_CLUSTER=1 $(PLAIN) $(GO) test -count=1 -vet=off $(SEQUENTIAL) $(APART)
	LYNQCTL_TEST_CLUSTER=1 $(SHARE) $(GO) test $(RACE) -count=1 -vet=off -p 4 -timeout 45m $(LONG) \
	  $$($(GO) list ./... | grep -vE '/test/(e2e|robust)$$' | grep -vxF "$$($(GO) list $(SEQUENTIAL) $(APART) $(BOTH) $(LONG))")

# End to end, lynqctl is a process of its own, which the race detector in the
# test's would not see; it would only slow the tests down. So are Argo CD and Flux of
# others. Tests of a cluster wait more than they work, so that more run at a time than
# there are cores.
test-scripts: cluster-build
	LYNQCTL_TEST_CLUSTER=1 $(PLAIN) $(GO) test -count=1 -vet=off -parallel 10 -timeout 45m ./test/e2e ./test/robust

test-modules: cluster-build
	$(MAKE) -j 3 test-cluster test-gitops test-monitoring test-charts

race: cluster-build
	LYNQCTL_TEST_CLUSTER=1 $(SHARE) $(GO) test $(RACE) -count=1 -vet=off -p 4 -timeout 3h $(LONG) \
	  $$($(GO) list ./... | grep -vE '/test/(e2e|robust)$$' | grep -vxF "$$($(GO) list $(LONG))")

# The modules beside the main one. Each of them waits for clusters, more often than not.
test-cluster: cluster-build
	LYNQCTL_TEST_CLUSTER=1 $(GO) -C $(CLUSTER) test $(RACE) -count=1 -vet=off . ./internal/...
test-gitops: cluster-build
	LYNQCTL_TEST_CLUSTER=1 $(PLAIN) $(GO) -C $(GITOPS) test -count=1 -vet=off -timeout 45m ./...
test-monitoring: cluster-build
	LYNQCTL_TEST_CLUSTER=1 $(PLAIN) $(GO) -C $(MONITORING) test -count=1 -vet=off ./...
# Helm itself, which installs a release on a cluster, and renders without one.
test-charts: cluster-build
	LYNQCTL_TEST_CLUSTER=1 $(PLAIN) $(GO) -C $(CHARTS) test -count=1 -vet=off ./...

# Minutes of real runs: test/robust says how to repeat a history.
robust: cluster-build
	LYNQCTL_ROBUST_STEPS=$(STEPS) LYNQCTL_ROBUST_SEED=$(SEED) LYNQCTL_ROBUST_SHRINK=$(SHRINK) LYNQCTL_TEST_CLUSTER=1 \
	  $(PLAIN) $(GO) test -count=1 -vet=off -v -parallel 4 -timeout 3h -run '^TestRobust$$' ./test/robust

robust-memory: STEPS = 20000
robust-memory:
	LYNQCTL_ROBUST_MEMORY_STEPS=$(STEPS) LYNQCTL_ROBUST_SEED=$(SEED) LYNQCTL_ROBUST_SHRINK=$(SHRINK) \
	  $(PLAIN) $(GO) test -count=1 -vet=off -timeout 24h -run '^TestMemory$$' ./test/robust

robust-histories: cluster-build
	LYNQCTL_ROBUST_HISTORIES=all LYNQCTL_TEST_CLUSTER=1 $(PLAIN) $(GO) test -count=1 -vet=off -parallel 8 -timeout 1h -run '^TestHistories$$' ./test/robust

robust-points:
	LYNQCTL_ROBUST_POINTS=all $(PLAIN) $(GO) test -count=1 -vet=off -v -timeout 24h -run '^TestPoints$$' ./test/robust

robust-points-cluster: POINTS = 1000
robust-points-cluster: cluster-build
	LYNQCTL_ROBUST_CLUSTER_POINTS=$(POINTS) LYNQCTL_TEST_CLUSTER=1 \
	  $(PLAIN) $(GO) test -count=1 -vet=off -v -parallel 8 -timeout 3h -run '^TestPointsOnCluster$$' ./test/robust

robust-states: STATES = 10000
robust-states:
	LYNQCTL_ROBUST_STATES=$(STATES) $(PLAIN) $(GO) test -count=1 -vet=off -timeout 24h -run '^TestConvergence$$' ./test/robust

robust-broken:
	LYNQCTL_ROBUST_BROKEN=1 $(PLAIN) $(GO) test -count=1 -vet=off -v -timeout 1h -run '^TestBroken$$' ./test/robust

# Many hours: each decision of the gate, the planner, and of what carries plans out is changed,
# one at a time, and the tests must notice. The slow tests come last. ONLY selects some.
mutants: SLOW = WithoutDeletionOfAnything|NarrowAnything|RecheckDecides|TestPolicies|RecordDeletionOften
mutants:
	LYNQCTL_ROBUST_STATES=16 LYNQCTL_ROBUST_MEMORY_STEPS=240 $(PLAIN) $(GO) run ./test/mutants -only '$(ONLY)' \
	  -mutate ./pkg/apply/plan,./pkg/apply/decide,./pkg/apply,./pkg/apply/write,./pkg/inventory/store,./pkg/gitops,./pkg/watch \
	  ./pkg/watch ./pkg/apply/plan './pkg/apply/decide:-$(SLOW)' \
	  './test/robust:TestHistoriesInMemory|TestMemory|TestConvergence' './pkg/apply:-TestStress|TestAbsentVersion|TestTerminating|TestAdoptions' ./pkg/apply/decide ./pkg/gitops ./internal/usecase/watchcmd

# A name on the page is that of a test, or of a script.
security: cluster-build
	tests=$$(grep -oE '`(Test|Fuzz)[A-Za-z]+`' docs/security.md | tr -d '`' | sort -u | paste -sd'|' -); \
	LYNQCTL_TEST_CLUSTER=1 $(GO) test -count=1 -vet=off -timeout 45m -run "^($$tests)$$" $$(grep -rlE --include='*_test.go' "^func ($$tests)\(" cmd internal pkg test/e2e | xargs -n 1 dirname | sort -u | sed 's|^|./|')
	scripts=$$(grep -oE '`[a-z]+([-_][a-z]+)*`' docs/security.md | tr -d '`' | sort -u | paste -sd'|' -); \
	LYNQCTL_TEST_CLUSTER=1 $(GO) test -count=1 -vet=off -parallel 3 -timeout 45m -run "^Test(Operator)?Scripts$$/^($$scripts)$$" ./cmd/lynqctl ./test/e2e

test-unit:
	$(GO) test $(UNIT)

# The linter vets, too: with the checks of go vet, under the name of govet.
check:
	@test -z "$$(gofmt -l cmd internal pkg test)" || { gofmt -l cmd internal pkg test; echo 'run gofmt -w on these'; exit 1; }
	GOOS=windows $(PLAIN) $(GO) build -o /dev/null ./cmd/lynqctl ./cmd/lynqctl-chart
	$(GO) mod tidy -diff
	$(GO) -C $(CLUSTER) mod tidy -diff
	$(GO) -C $(GITOPS) mod tidy -diff
	$(GO) -C $(MONITORING) mod tidy -diff
	$(GO) -C $(CHARTS) mod tidy -diff
	$(LINT) run ./...
	cd $(CLUSTER) && $(LINT) run --config ../../.golangci.yml ./...
	cd $(GITOPS) && $(LINT) run --config ../../.golangci.yml ./...
	cd $(MONITORING) && $(LINT) run --config ../../.golangci.yml ./...
	cd $(CHARTS) && $(LINT) run --config ../../.golangci.yml ./...
	@dead=$$($(DEADCODE) -test ./...); test -z "$$dead" || { echo "$$dead"; exit 1; }

vuln:
	@if curl -fsS -m 10 -o /dev/null https://vuln.go.dev/index/db.json; then $(GO) run golang.org/x/vuln/cmd/govulncheck@v1.9.0 ./...; \
	else echo 'make vuln: the database at vuln.go.dev cannot be reached; nothing was checked'; fi

# Each package is compiled once for all its targets.
fuzz:
	@set -e; binary=$$(mktemp); trap 'rm -f $$binary' EXIT; \
	for package in $$(grep -rl --include='*_test.go' '^func Fuzz' cmd internal pkg | xargs -n 1 dirname | sort -u); do \
	  $(GO) test -c -vet=off -fuzz . -o $$binary ./$$package; \
	  for target in $$(cd $$package && $$binary -test.list '^Fuzz'); do \
	    case $$target in FuzzNames|FuzzFileNames|FuzzPlainHost|FuzzNarrow|FuzzHold) time=$(FUZZLESS) ;; *) time=$(FUZZTIME) ;; esac; \
	    echo "== $$package $$target $$time"; \
	    fuzz="$$binary -test.run ^$$ -test.fuzz ^$$target$$ -test.fuzztime $$time -test.fuzzminimizetime 10x -test.fuzzcachedir $$($(GO) env GOCACHE)/fuzz/$$package"; log=$$(mktemp); \
	    if ! (cd $$package && $$fuzz) >$$log 2>&1; then \
	      cat $$log; \
	      grep -qx ' *context deadline exceeded' $$log && ! grep -q 'Failing input' $$log || exit 1; \
	      echo 'the fuzzer was at work when its time was up, and found nothing: once more'; \
	      (cd $$package && $$fuzz) >$$log 2>&1 || { cat $$log; exit 1; }; \
	    fi; \
	    tail -n 2 $$log; rm -f $$log; \
	  done; \
	done

bench:
	$(GO) test -run '^$$' -bench . -skip '^Benchmark(Cluster|Watch|Scale)$$' -timeout 30m ./test/bench

bench-cluster: cluster-build
	LYNQCTL_TEST_CLUSTER=1 $(GO) test -run '^$$' -bench '^BenchmarkCluster$$' -benchtime 5x -timeout 60m ./test/bench

bench-scale: cluster-build
	LYNQCTL_TEST_CLUSTER=1 $(GO) test -run '^$$' -bench '^BenchmarkScale$$' -benchtime 3x -timeout 120m ./test/bench

bench-watch: cluster-build
	LYNQCTL_TEST_CLUSTER=1 $(GO) test -run '^$$' -bench '^BenchmarkWatch$$' -benchtime 1x -timeout 90m ./test/bench

cluster-build:
	$(PLAIN) $(GO) -C $(CLUSTER) run . build

cluster:
	@$(GO) -C $(CLUSTER) run . up

cluster-down:
	@$(GO) -C $(CLUSTER) run . down

# SITE_URL says where the site is published, if not at the address in site/pages.mjs.
site: site/node_modules/.package-lock.json
	npm --prefix site run build

site/node_modules/.package-lock.json: site/package-lock.json
	npm --prefix site ci --ignore-scripts --no-audit --no-fund
