# tidegate: build, run, test. On a Debian machine with Swift, nothing else need be installed by hand.

PACKAGES := libpq-dev libicu-dev libcurl4-openssl-dev libsqlite3-dev libjavascriptcoregtk-4.1-dev \
	zlib1g-dev postgresql curl openssl
# What the tests use besides.
TEST_PACKAGES := chromium
# Debug starts soonest; `make run CONFIG=release` is what to measure and to deploy.
CONFIG ?= debug
CHECK := --explicit-target-dependency-import-check error

.PHONY: run build test test-realm-web chaos sync-scripts fuzz differential format lint bench packages clean instructions \
	bench-growth bench-bulk bench-functions bench-faults bench-logins bench-sync \
	bench-triggers kit kit-alone

run: packages
	swift build -c $(CONFIG) --product tidegate
	exec "$$(swift build -c $(CONFIG) --show-bin-path)/tidegate" dev $(ARGS)

build: packages
	swift build -c release --product tidegate

# All tests at once, as `swift test` would have it, starve each other on a small machine: what only computes goes
# first, then the others, so many at a time.
WIDTH ?= 8
COMPUTING := ^(AccountsTests|AppDefinitionTests|BSONTests|MQLTests|ObservabilityTests|RulesTests|SchemasTests|SQLTests)\.
RUN_TESTS = "$$(swift build --show-bin-path)/tidegatePackageTests.xctest" --testing-library swift-testing
test: PACKAGES += $(TEST_PACKAGES)
test: packages
	swift build --build-tests $(CHECK)
ifdef ARGS
	$(RUN_TESTS) $(ARGS)
else
	$(RUN_TESTS) --filter '$(COMPUTING)'
	$(RUN_TESTS) --skip '$(COMPUTING)' --experimental-maximum-parallelization-width $(WIDTH)
endif

# The integration tests of realm-web; Tests/RealmWeb/README.md says what REALM_WEB_BUILT is.
test-realm-web: PACKAGES += nodejs mocha chai
test-realm-web: build
	TIDEGATE="$$(swift build -c release --show-bin-path)/tidegate" Tests/RealmWeb/run.sh

# Real gateways and a real PostgreSQL under load, broken at random; SEED=n plays the same faults again. Then KILLS
# of them while devices sync.
ROUNDS ?= 5
KILLS ?= 5
chaos: packages
	swift build -c $(CONFIG) --product tidegate
	swift build -c $(CONFIG) --product tidegate-chaos
	"$$(swift build -c $(CONFIG) --show-bin-path)/tidegate-chaos" --rounds $(ROUNDS) $(if $(SEED),--seed $(SEED)) $(ARGS)
	"$$(swift build -c $(CONFIG) --show-bin-path)/tidegate-chaos" --kills $(KILLS) $(if $(SEED),--seed $(SEED)) $(ARGS)

# SCRIPTS random scripts of devices that keep a state, on one real server, from SEED on.
SCRIPTS ?= 1000
sync-scripts: packages
	swift build -c $(CONFIG) --product tidegate
	swift build -c $(CONFIG) --product tidegate-chaos
	"$$(swift build -c $(CONFIG) --show-bin-path)/tidegate-chaos" --scripts $(SCRIPTS) --seed $(or $(SEED),1)

# libFuzzer on everything that reads what strangers send, SECONDS in all. It builds apart, since the
# compiler's coverage goes into every file, and gold cannot link it; a crash leaves its input in .build/fuzz.
SECONDS ?= 420
SUBJECTS ?= json bson query rules schema app token login watch archive
FUZZ := -c release --scratch-path .build/fuzz --product tidegate-fuzz -Xswiftc -sanitize=fuzzer -Xswiftc -DLIBFUZZER \
	-Xswiftc -use-ld=lld
fuzz: packages
	swift build $(FUZZ)
	for subject in $(SUBJECTS); do \
		"$$(swift build $(FUZZ) --show-bin-path)/tidegate-fuzz" $$subject .build/fuzz/inputs/$$subject \
			-max_total_time=$$(( ($(SECONDS) + $(words $(SUBJECTS)) - 1) / $(words $(SUBJECTS)) )) -timeout=30 -rss_limit_mb=2048 -max_len=65536 \
			-artifact_prefix=.build/fuzz/$$subject- -print_final_stats=1 || exit 1; \
	done

# CASES requests through PostgreSQL and through the evaluator; SEED=n makes others.
CASES ?= 200000
differential: packages
	swift build --build-tests $(CHECK)
	TIDEGATE_DIFFERENTIAL_CASES=$(CASES) TIDEGATE_DIFFERENTIAL_SEED=$(or $(SEED),1) \
		$(RUN_TESTS) --filter OperationDifferentialTests

# What the client library promises, with real processes: ROUNDS kills, operations recorded by eight, refreshes by two.
kit: ROUNDS = 200
kit: packages
	swift build -c $(CONFIG) --build-tests -Xswiftc -enable-testing
	TIDEGATE_KIT_ROUNDS=$(ROUNDS) TIDEGATE_KIT_OPERATIONS=10000 TIDEGATE_KIT_REFRESHES=1000 TIDEGATE_KIT_SEED=$(or $(SEED),1) \
		"$$(swift build -c $(CONFIG) --show-bin-path)/tidegatePackageTests.xctest" --testing-library swift-testing \
		--filter 'IntegrationTests.(CrashTests|SharingTests)' --no-parallel | grep -E 'kit:|✔|✘|recorded an issue'

# The client library as the only thing there is: no server, no event loop.
kit-alone: packages
	rm -rf .build/kit-alone && mkdir -p .build/kit-alone/Sources
	cp -r Sources/TidegateClient .build/kit-alone/Sources/
	sed -e '/^let package/,$$d' Package.swift > .build/kit-alone/Package.swift
	printf '%s\n' 'let package = Package(name: "kit", platforms: [.macOS(.v15)], dependencies: [' \
		"$$(grep GRDB.swift Package.swift | head -n 1)" '], targets: [' \
		"$$(grep 'room("TidegateClient' Package.swift)" '], swiftLanguageModes: [.v6])' >> .build/kit-alone/Package.swift
	cd .build/kit-alone && swift build --target TidegateClient $(CHECK)
	! (cd .build/kit-alone && swift package show-dependencies | grep -iE 'nio|hummingbird')

format:
	swift format --in-place --recursive --parallel Sources Tests Package.swift

lint:
	swift format lint --strict --recursive --parallel Sources Tests Package.swift

# The kit in ../shared/bench: tidegate beside what its users would write instead.
bench: build
	Tests/Benchmarks/run.sh $(ARGS)

# The same requests on 10 k, 100 k and 1 M documents; insertMany beside COPY; a trigger whose gateway is killed.
bench-growth bench-bulk bench-triggers: build
	Tests/Benchmarks/$(@:bench-%=%).sh $(ARGS)

# Functions beside a bare Node handler and beside the Data API; what misbehaving ones, and a flood of logins, do to others.
bench-functions bench-faults bench-logins bench-sync: PACKAGES += nodejs node-ws wrk
bench-functions bench-faults bench-logins bench-sync: build
	Tests/Benchmarks/$(@:bench-%=%).sh $(ARGS)

# What a request costs between its bytes and its statement, counted by valgrind: the same on every run.
instructions: packages
	Tests/Benchmarks/instructions.sh

packages:
	@missing=""; for package in $(PACKAGES); do \
		dpkg-query -W -f '$${Status}' $$package 2>/dev/null | grep -q 'ok installed' \
			|| missing="$$missing $$package"; \
	done; \
	if [ -n "$$missing" ]; then \
		echo "installing$$missing"; \
		sudo=; [ "$$(id -u)" = 0 ] || sudo=sudo; \
		$$sudo apt-get update -qq && \
		DEBIAN_FRONTEND=noninteractive $$sudo apt-get install -y -qq --no-install-recommends $$missing; \
	fi

clean:
	rm -rf .build
