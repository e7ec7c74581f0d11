#!/usr/bin/env python3
"""indigo.py CHECKOUT OPTCHECK NVCC OUT: makes the CUDA kernels of the Indigo suite (github.com/burtscher/IndigoSuite) from its templates, with int data, compiles
them where they are, verifies each with optcheck verify on small graphs, and compares the verdict with the suite's labels. OUT is a folder for the kernels, their PTX and
results.jsonl, which has a line for each kernel; a kernel whose result is there is not done again. The last lines of the output are the table.

A line of a template has alternatives, "A /*@tag@*/ B": B with the tag. A kernel with a tag that ends in Bug is wrong, one without is right. Each kernel has at most one bug,
and every combination of the other tags."""
import collections, itertools, json, os, re, subprocess, sys

checkout, optcheck, nvcc, out = sys.argv[1:5]
os.makedirs(out, exist_ok=True)
TYPES = {'long', 'float', 'double', 'char', 'short'}
# Neighbours of the vertices of graphs: a ring with chords; a star with vertices that have no neighbours; one whose edges lead to greater vertices, the first and the last
# vertex without any.
RING = [sorted({(i + 1) % 40, (i + 39) % 40, (i * 7) % 40} - {i}) for i in range(40)]
STAR = [list(range(1, 36))] + [[0] if i % 3 else [] for i in range(1, 40)]
UP = [[]] + [[i + 1, min(i + 2, 39)] for i in range(1, 38)] + [[39], []]
FUNNEL = [[39]] * 39 + [[]]


def expand(text, tags):
    lines = []
    for line in text.split('\n'):
        parts = re.split(r'/\*@(\w+)@\*/', line)
        chosen = parts[0]
        for tag, alternative in zip(parts[1::2], parts[2::2]):
            if tag in tags:
                chosen = alternative
        lines.append(chosen)
    return '\n'.join(lines)


def variants(text):
    tags = set(re.findall(r'/\*@(\w+)@\*/', text.split('void serial_code')[0])) - TYPES
    bugs = sorted(t for t in tags if t.endswith('Bug'))
    others = sorted(tags - set(bugs))
    for n in range(len(others) + 1):
        for some in itertools.combinations(others, n):
            for bug in [None] + bugs:
                if bug is None or expand(text, set(some)) != expand(text, {*some, bug}):  # else another tag takes the bug's place
                    yield sorted(some) + ([bug] if bug else [])


def compile(name, kernels):
    ptx = os.path.join(out, name + '.ptx')
    if os.path.exists(ptx):
        return ptx
    source = os.path.join(out, name + '.cu')
    with open(source, 'w') as f:
        f.write('#include <cuda.h>\n')
        for k, text in kernels:
            f.write('namespace %s {\n%s\n}\n' % (k, text))
    subprocess.run([nvcc, '-ptx', '-lineinfo', '-w', '-arch=sm_80', source, '-o', ptx], check=True)
    return ptx


def verify(ptx, kernel):
    rules, why = set(), []
    for graph in (RING, STAR, UP, FUNNEL):
        index = [0]
        for neighbours in graph:
            index.append(index[-1] + len(neighbours))
        edges = sum(graph, [])
        n, size = len(graph), max(len(graph), len(edges))
        numbers = lambda l: ','.join(map(str, l))
        args = {'0': 'i32:' + numbers(index), '1': 'i32:' + numbers(edges), '2': 'i32:' + numbers((i * 5) % n for i in range(size)),
                '3': 'i32:' + numbers([0] + [(i * 11) % len(edges) for i in range(1, size)]), '4': str(n)}
        p = subprocess.run([optcheck, 'verify', ptx, '--kernel', kernel, '--json', '--fail-on', 'never', '--no-mend', '--schedules', '2', '--uniform', '--grid', '24', '--block', '64'] +
                           sum((['--arg', k + '=' + v] for k, v in args.items()), []), capture_output=True, text=True, timeout=120)
        if not p.stdout.strip():
            return 'unknown', [], [p.stderr.strip()[:200]]
        o = json.loads(p.stdout)
        rules |= {f['rule'] + (' same-value' if f.get('same_value') else '') for f in o.get('findings') or []}
        why += o.get('unknown') or []
    return 'wrong' if rules else 'unknown' if why else 'right', sorted(rules), why[:3]


results = os.path.join(out, 'results.jsonl')
known = {}
if os.path.exists(results):
    for line in open(results):
        r = json.loads(line)
        known[r['name']] = r
templates = os.path.join(checkout, 'Generators', 'CUDA_sources')
with open(results, 'a') as log:
    for file in sorted(os.listdir(templates)):
        text = open(os.path.join(templates, file)).read()
        base = file[:-4]
        kernels, tags = [], {}
        for v in variants(text):
            k = '_'.join(['k'] + v)
            body = expand(text, set(v)).split('void serial_code')[0].replace('#include "indigo_cuda.h"', '')
            kernels.append((k, body))
            tags[k] = v
        ptx = compile(base, kernels)
        names = re.findall(r'\.entry\s+(\w+)', open(ptx).read())
        for symbol in names:
            k = next(k for k in sorted(tags, key=len, reverse=True) if 'N%d%s' % (len(k), k) in symbol)
            name = base + ' ' + ' '.join(tags[k])
            if name in known:
                continue
            r = {'name': name, 'want': 'wrong' if any(t.endswith('Bug') for t in tags[k]) else 'right', 'bug': ([t for t in tags[k] if t.endswith('Bug')] or [''])[0]}
            try:
                r['got'], r['rules'], r['why'] = verify(ptx, symbol)
            except subprocess.TimeoutExpired:
                r.update(got='unknown', why=['120 s'])
            known[name] = r
            log.write(json.dumps(r) + '\n')
            log.flush()
table = collections.Counter((r['want'], r['bug'], r['got']) for r in known.values())
for k in sorted(table):
    print('%-6s %-10s %-8s %4d' % (k + (table[k],)))
