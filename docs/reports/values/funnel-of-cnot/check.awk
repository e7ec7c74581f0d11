# Tells whether the machine code of one kernel, printed by nvdisasm -c, has the
# finding: it lists the accesses and fences of the kernel in order, leaving out
# the stores (.cs) that only keep results alive, and compares the list.
# Exit status: 0 reproduced, 1 not reproduced, 2 neither of the two recorded lists.
BEGIN {
	kernel = "k"
	view = "mnemonic"  # class: ld, st, ...; mnemonic: with modifiers; text: with operands
	bad = "LDC | LDC.64 | ULDC.64 | LDG.E | LDC.64 | ISETP.EQ.U32.AND | SEL | LEA.HI | STG.E | EXIT | BRA"
	good = "LDC | LDC.64 | MOV | LDC.64 | MOV | MOV | MOV | MOV | MOV | LDC.64 | MOV | MOV | MOV | MOV | MOV | MOV | MOV | MOV | R2UR | R2UR | LDG.E | MOV | MOV | MOV | MOV | R2UR | R2UR | LDG.E | ISETP.EQ.U32.AND | SEL | IADD3 | MOV | MOV | SHF.L.W.U32.HI | IADD3 | MOV | MOV | MOV | MOV | R2UR | R2UR | STG.E | EXIT | BRA"
	n = split("LD LDG LDS LDSLK", list, " ");         for (i = 1; i <= n; i++) classes[list[i]] = "LD"
	n = split("ST STG STS STSCUL", list, " ");        for (i = 1; i <= n; i++) classes[list[i]] = "ST"
	n = split("ATOM ATOMG ATOMS", list, " ");         for (i = 1; i <= n; i++) classes[list[i]] = "ATOM"
	n = split("RED REDG", list, " ");                 for (i = 1; i <= n; i++) classes[list[i]] = "RED"
	n = split("MEMBAR FENCE", list, " ");             for (i = 1; i <= n; i++) classes[list[i]] = "MEMBAR"
	classes["BAR"] = "BAR"; classes["CCTL"] = "AUX"
}
/^\.text\./ { inside = ($1 == ".text." kernel ":"); seen += inside; next }
/^[ \t]*\.section/ { inside = 0 }
inside && match($0, /^[ \t]*\/\*[0-9a-f]+\*\//) {
	text = substr($0, RSTART + RLENGTH)
	gsub(/[{};]/, " ", text)
	sub(/^[ \t]+/, "", text)
	sub(/^@!?[UPT0-9]+[ \t]+/, "", text)
	sub(/[ \t\r]+$/, "", text)
	gsub(/[ \t]+/, " ", text)
	split(text, word, " ")
	m = word[1]
	sub(/\.S$/, "", m)
	op = m
	sub(/\..*/, "", op)
	class = classes[op]
	if (m == "" || m == "NOP") next
	if (view == "class" && class == "AUX") next
	item = view == "class" ? class : view == "mnemonic" ? m : text
	found = found (found == "" ? "" : " | ") item
}
END {
	if (!seen) { print "kernel " kernel " is not in the machine code"; exit 2 }
	print "kernel   " kernel
	print "machine  " found
	if (found == bad) { print "REPRODUCED: the accesses are those of the finding"; exit 0 }
	print "finding  " bad
	if (good != "") print "correct  " good
	if (good != "" && found == good) { print "NOT REPRODUCED: the accesses are as written"; exit 1 }
	print "NOT REPRODUCED: the accesses are others; compare by hand"
	exit 2
}
