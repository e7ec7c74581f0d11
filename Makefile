# Two commands do everything on a fresh Debian machine with Go: make audit, make test.
GO ?= go
BIN := bin/optcheck
CUDA := cuda-11.2 cuda-11.8 cuda-12.4
LLVM := llvm-14 llvm-19 llvm-22
OUT ?= audit.jsonl
# Debian's packages; a mirror, or another apt that is at work, may need a while.
APT_INSTALL := scripts/retry.sh sh -c 'apt-get -o Acquire::Retries=3 update; apt-get -o Acquire::Retries=3 -o DPkg::Lock::Timeout=300 install --yes --no-install-recommends "$$@"' apt

# One way to compile for every step, that of the program which is handed on: what one step has compiled
# the next ones find in the cache, clones at other paths as well.
export CGO_ENABLED := 0
export GOFLAGS := -trimpath $(GOFLAGS)
# Checks and tests collect garbage as seldom as audits do: to look for it takes a fifth of their time otherwise.
check test test-full race: export GOGC ?= 400

.PHONY: audit-amd chromium opencl slurm all build audit test test-quick test-full check toolchains bench bench-model fuzz goldens clean

all: build

# What the program says it was built from: the tag, or the commit, and its day.
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null)
DATE ?= $(shell git log -1 --format=%cs 2>/dev/null)
STAMP := -X main.stamp=$(VERSION) -X main.stampDate=$(DATE)

build:
	$(GO) build -ldflags "$(STAMP)" -o $(BIN) ./cmd/optcheck

# The program, its manual pages and completion for three shells, below PREFIX.
PREFIX ?= /usr/local
.PHONY: install
install: build
	install -D -m 755 $(BIN) $(DESTDIR)$(PREFIX)/bin/optcheck
	$(BIN) manual $(DESTDIR)$(PREFIX)/share/man/man1
	mkdir -p $(addprefix $(DESTDIR)$(PREFIX)/share/,bash-completion/completions zsh/site-functions fish/vendor_completions.d)
	$(BIN) completion bash > $(DESTDIR)$(PREFIX)/share/bash-completion/completions/optcheck
	$(BIN) completion zsh > $(DESTDIR)$(PREFIX)/share/zsh/site-functions/_optcheck
	$(BIN) completion fish > $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/optcheck.fish

# What is carried to a machine with a GPU: the static binary, and cubins of the
# corpus by the releases installed here. scripts/h200.sh runs the tests there.
.PHONY: device-bin
device-bin:
	$(GO) build -ldflags "-s -w $(STAMP)" -o $(BIN) ./cmd/optcheck
	for v in 11.8 12.4; do $(BIN) run corpus --target sm_90 --toolchain $$v --save-cubins bin/cubins-$$v.zip || exit 1; done

# Instances per second on a GPU, beside one instance per launch.
.PHONY: bench-gpu
bench-gpu: build
	$(BIN) bench-gpu --device cuda

# The real compilers, unpacked without root under the user's cache folder.
toolchains: build
	$(BIN) toolchain install $(CUDA) $(LLVM)

# OpenCL on the CPU (PoCL), which runs tests on machines without a GPU; as root.
opencl:
	$(APT_INSTALL) pocl-opencl-icd ocl-icd-libopencl1

# A Slurm for the tests, which start it on the loopback themselves; as root.
slurm:
	$(APT_INSTALL) slurm-wlm slurmctld slurmd slurm-client munge

# What decoders and readers of archives are compared with; as root.
.PHONY: peers
peers:
	$(APT_INSTALL) binutils xz-utils

# NVIDIA's front end of CUDA C++ for the user (a gigabyte).
.PHONY: nvcc
nvcc: build
	scripts/retry.sh $(BIN) toolchain install nvcc-12.4

# The browser that tests of the report look at its pages with; as root.
chromium:
	$(APT_INSTALL) chromium

# The generator of the pages of the documents; as root.
hugo:
	$(APT_INSTALL) hugo

# What checks pages for those who read with the keyboard, a screen reader or little contrast:
# tests only, and left out where it cannot be fetched.
AXE := 4.14.1
AXE_DIR := $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/optcheck/axe-core
.PHONY: axe
axe:
	mkdir -p $(AXE_DIR)
	test -s $(AXE_DIR)/axe.min.js || (cd $(AXE_DIR) && npm pack --silent axe-core@$(AXE) && tar xzf axe-core-$(AXE).tgz --strip-components=1 package/axe.min.js)

# The editor of the page to try things, bundled with its licences; the result is in the repository.
.PHONY: editor
editor:
	scripts/retry.sh report/html/editor/build.sh

# The documents as pages for a browser, which need no server: site/public/index.html.
.PHONY: site
site:
	hugo --source site --quiet

# Does each of the three releases keep the tests of the founding paper?
audit: build
	$(BIN) toolchain install $(CUDA)
	$(BIN) audit corpus --output $(OUT)

# The tests in OpenCL C through AMD's back ends of three releases of LLVM.
audit-amd: build
	$(BIN) toolchain install $(LLVM)
	$(BIN) audit --vendor amd --output audit-amd.jsonl

check:
	@test -z "$$(gofmt -l .)" || { echo "gofmt needed:"; gofmt -l .; exit 1; }
	$(GO) vet ./...
	$(GO) tool staticcheck ./...
	$(GO) run ./internal/onlyinput/check -test=false ./...
	$(GO) mod tidy -diff

# What the pages of docs/results say, measured again by what scripts/results.txt names: make results
# WHAT="short long", or a page. It prints where each command's output is, to compare with the page.
WHAT ?= short
.PHONY: results
results: build
	scripts/results.sh $(WHAT)

# Functions that no command reaches, without those that only tests call: to look
# at, since what tests alone need may be right.
DEADCODE ?= golang.org/x/tools/cmd/deadcode@v0.52.0
.PHONY: deadcode
deadcode:
	$(GO) run $(DEADCODE) ./cmd/...

# The limit is for what hangs, on slow machines, too. Many tests wait, for pages, compilers and ends: packages use two thirds of
# their processors, so there is one more of them at once than processors.
PACKAGES ?= $(shell expr $$(getconf _NPROCESSORS_ONLN) + 1)
test: toolchains check
	$(GO) test -vet=off -p $(PACKAGES) -timeout 60m ./...

# The light tier: without network, compilers, devices and what takes long.
test-quick:
	GO="$(GO)" scripts/testquick.sh

# The whole matrices of the tests instead of slices: half an hour.
test-full: toolchains check
	OPTCHECK_FULL=1 $(GO) test -vet=off -timeout 300m ./...

bench: toolchains
	$(GO) test ./audit -run '^$$' -bench 'Throughput|OwnShare|Verdicts|Decode' -benchtime 1x -v

# herd7, the tool that models are compared with, from Debian into the cache folder.
.PHONY: herd7
herd7:
	scripts/retry.sh scripts/herd7.sh

bench-model: herd7
	$(GO) run ./model/internal/benchmodel

fuzz:
	$(GO) test ./litmus -fuzz FuzzParse -fuzztime 30s
	$(GO) test ./litmus/herdlog -fuzz FuzzRead -fuzztime 30s
	$(GO) test ./audit/campaign -fuzz FuzzParse -fuzztime 30s
	$(GO) test ./litmus -fuzz FuzzOpenCL -fuzztime 30s
	$(GO) test ./llvmir -fuzz FuzzTyped -fuzztime 30s
	$(GO) test ./sass -fuzz FuzzParse -fuzztime 30s
	$(GO) test ./sass/cubin -fuzz FuzzParse -fuzztime 30s
	$(GO) test ./sass/dict -fuzz FuzzDecode -fuzztime 30s
	$(GO) test ./runner -fuzz FuzzServe -fuzztime 30s
	$(GO) test ./runner -fuzz FuzzReplies -fuzztime 30s

goldens: toolchains
	$(GO) test ./sass ./sass/cubin ./audit -update
	$(GO) test ./optcheck ./runner/drive -run "Judged|Launches" -update
	$(GO) test ./bug -run Examples -update

# What runs beside itself, under the race detector: whole packages, or of the store
# the tests with several at work, so that it ends soon. It needs a C compiler.
.PHONY: race vulncheck dist
race:
	@cc=$$($(GO) env CC); command -v $${cc%% *} > /dev/null || { \
		echo "make race: the race detector needs a C compiler, and $$cc is not there: apt-get install gcc libc6-dev"; exit 1; }
	CGO_ENABLED=1 $(GO) test -vet=off -race -timeout 30m ./runner/... ./report/serve ./audit/campaign ./internal/scratch
	CGO_ENABLED=1 $(GO) test -vet=off -race -timeout 30m ./audit/store -run 'Once|SlowReader|Conflict|Follow|GCBeside|PlannedAtOnce|Unfinished'

# Known vulnerabilities of what is linked, where their database can be reached.
VULNCHECK ?= golang.org/x/vuln/cmd/govulncheck@v1.1.4
vulncheck:
	$(GO) run $(VULNCHECK) ./...

# Archives to hand on: the program for each architecture, its licence, those of what is
# linked into it, a bill of materials, manual pages, a file to make a container of; and
# their checksums. The same commit gives the same files.
DIST := optcheck-$(VERSION)
DIST_FILES := LICENSE README.md CHANGELOG.md Containerfile
dist: build
	rm -rf bin/dist
	mkdir -p bin/dist/common
	$(GO) run ./internal/notices > bin/dist/common/THIRD_PARTY
	$(GO) run ./internal/notices -sbom "$(VERSION)" > bin/dist/common/sbom.cdx.json
	$(BIN) manual bin/dist/common/man1
	cp $(DIST_FILES) bin/dist/common/
	for arch in amd64 arm64; do \
		dir=$(DIST)-linux-$$arch; cp -r bin/dist/common bin/dist/$$dir; \
		GOOS=linux GOARCH=$$arch $(GO) build -ldflags "-s -w $(STAMP)" -o bin/dist/$$dir/optcheck ./cmd/optcheck || exit 1; \
		tar -C bin/dist --owner=0 --group=0 --sort=name --mtime=@0 -cf - $$dir | gzip -n > bin/dist/$$dir.tar.gz; \
	done
	cp bin/dist/common/sbom.cdx.json bin/dist/$(DIST).sbom.cdx.json
	cd bin/dist && sha256sum $(DIST)-linux-*.tar.gz $(DIST).sbom.cdx.json > SHA256SUMS && cat SHA256SUMS

clean:
	rm -rf bin
