# Tells whether the machine code of one kernel, printed by nvdisasm -c, has the
# finding: it lists the instructions of the kernel in order, leaving out
# the stores (.cs) that only keep results alive, and compares the list.
# Exit status: 0 reproduced, 1 not reproduced, 2 neither of the two recorded lists.
BEGIN {
	kernel = "k"
	view = "mnemonic"  # class: ld, st, ...; mnemonic: with modifiers; text: with operands
	bad = "MOV | S2R | LOP3.LUT | EXIT | LDS | HFMA2.MMA | ULDC.64 | STS | IMAD.WIDE.U32 | STG.E | EXIT | BRA"
	good = "MOV | MOV | MOV | MOV | LDC.64 | MOV | MOV | MOV | MOV | S2R | MOV | LOP3.LUT | ISETP.NE.U32.AND | MOV | MOV | MOV | BRA | MOV | SHF.L.U32 | IADD3 | SHF.L.U32 | IADD3 | IMAD.WIDE.U32 | MOV | MOV | IADD3 | IADD3.X | MOV | STS | IADD3 | MOV | LDS | MOV | MOV | MOV | MOV | R2UR | R2UR | STG.E | EXIT | BRA"
	n = split("LD LDG LDS LDSLK", list, " ");         for (i = 1; i <= n; i++) classes[list[i]] = "LD"
	n = split("ST STG STS STSCUL", list, " ");        for (i = 1; i <= n; i++) classes[list[i]] = "ST"
	n = split("ATOM ATOMG ATOMS", list, " ");         for (i = 1; i <= n; i++) classes[list[i]] = "ATOM"
	n = split("RED REDG", list, " ");                 for (i = 1; i <= n; i++) classes[list[i]] = "RED"
	n = split("MEMBAR FENCE", list, " ");             for (i = 1; i <= n; i++) classes[list[i]] = "MEMBAR"
	n = split("SYNCS ARRIVES", list, " ");            for (i = 1; i <= n; i++) classes[list[i]] = "MBAR"
	n = split("LDGSTS UBLKCP", list, " ");            for (i = 1; i <= n; i++) classes[list[i]] = "COPY"
	n = split("LDGDEPBAR UTMACMDFLUSH", list, " ");   for (i = 1; i <= n; i++) classes[list[i]] = "GROUP"
	n = split("BAR UCGABAR_ARV UCGABAR_WAIT", list, " "); for (i = 1; i <= n; i++) classes[list[i]] = "BAR"
	classes["CCTL"] = "AUX"
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
