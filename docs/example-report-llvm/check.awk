# Tells whether the PTX of one kernel has the finding: it lists in order what of the
# kernel touches memory or orders it, stores of results too, and looks for the order of
# one access: its own qualifiers, or fences beside it.
# Exit status: 0 reproduced, 1 not reproduced, 2 the kernel has other accesses.
BEGIN {
	kernel = "min_T0"
	view = "mnemonic"
	shape = "ST | ATOM | ST"  # its accesses, fences left out
	at = 2  # the number of the access among them
	want = "release"  # what it must be; strong: the scope alone
	least = 3  # its scope, as ranked below
	rank["cta"] = 1; rank["cluster"] = 2; rank["gpu"] = rank["gl"] = 3; rank["sys"] = 4
	n = split("weak volatile relaxed acquire release acq_rel sc mmio", list, " "); for (i = 1; i <= n; i++) sems[list[i]] = 1
	classes["ld"] = "LD"
	classes["ldu"] = "LD"
	classes["st"] = "ST"
	classes["atom"] = "ATOM"
	classes["red"] = "RED"
	classes["fence"] = "FENCE"
	classes["membar"] = "FENCE"
	classes["bar"] = "BAR"
	classes["barrier"] = "BAR"
	classes["call"] = "OTHER"
	classes["cp"] = "OTHER"
	classes["multimem"] = "OTHER"
	classes["ldmatrix"] = "OTHER"
	classes["prefetch"] = "OTHER"
}
{ sub(/\/\/.*/, ""); sub(/\r$/, "") }
/\.entry / { inside = index($0, ".entry " kernel "(") > 0; seen += inside; next }
/^}/ { inside = 0 }
inside {
	text = $0
	gsub(/[ \t]+/, " ", text)
	sub(/^ /, "", text)
	sub(/ ?; ?$/, "", text)
	sub(/^@[^ ]+ /, "", text)
	split(text, word, " ")
	m = word[1]
	op = m
	sub(/\..*/, "", op)
	class = classes[op]
	if (class == "" || m ~ /^ld\.param/) next
	ops[++count] = op; kinds[count] = class; mnemonics[count] = m; texts[count] = text
	sem[count] = scope[count] = ""
	n = split(m, part, ".")
	for (i = 2; i <= n; i++) {
		sub(/::.*/, "", part[i])
		if (part[i] in sems && sem[count] != "mmio") sem[count] = part[i]
		if (part[i] in rank) scope[count] = part[i]
	}
	found = found (found == "" ? "" : " | ") m
	if (class != "FENCE" && class != "BAR") {
		accesses = accesses (accesses == "" ? "" : " | ") class
		if (++number == at) place = count
	}
}
# An atomic without a scope is for the GPU; volatile is for the system.
function scope_of(i) {
	if (sem[i] == "volatile" || sem[i] == "mmio") return 4
	if (scope[i] == "" && (ops[i] == "atom" || ops[i] == "red")) return 3
	return rank[scope[i]] + 0
}
function releases(i) { return (ops[i] == "membar" || sem[i] ~ /^(release|acq_rel|sc)$/) && scope_of(i) >= least }
function acquires(i) { return (ops[i] == "membar" || sem[i] ~ /^(acquire|acq_rel|sc)$/) && scope_of(i) >= least }
function strong(i) { return (ops[i] == "atom" || ops[i] == "red" || sem[i] != "" && sem[i] != "weak") && scope_of(i) >= least }
END {
	if (!seen) { print "kernel " kernel " is not in the PTX"; exit 2 }
	print "kernel   " kernel
	print "PTX      " found
	if (accesses != shape) { print "expected " shape; print "NOT REPRODUCED: the accesses are others; compare by hand"; exit 2 }
	print "access   " texts[place] ";"
	release = releases(place)
	acquire = acquires(place)
	for (i = place - 1; i > 0 && kinds[i] ~ /^(FENCE|BAR)$/; i--) if (releases(i)) release = 1
	for (i = place + 1; i <= count && kinds[i] ~ /^(FENCE|BAR)$/; i++) if (acquires(i)) acquire = 1
	if (want == "strong") ok = strong(place)
	else ok = (want == "acquire" || release) && (want == "release" || acquire)
	if (ok) { print "NOT REPRODUCED: the access is as strong as written, or has a fence beside it"; exit 1 }
	print "REPRODUCED: what the access must be is lost: " want
	exit 0
}
