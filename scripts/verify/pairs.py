#!/usr/bin/env python3
"""pairs.py CHECKOUT OPTCHECK OUT: verifies kernels of HeCBench (github.com/ORNL/HeCBench) with a mistake in their synchronisation that was reported and mended, before and
after. CHECKOUT is a clone with its history. OUT is a folder for the sources and results.jsonl, which has a line for each side of each pair. Where the history has the
mended source, that is taken; else the barrier that the report asks for is put in. A pair is told apart if the race is found before and not after; what else is found is
in the lines. The last line of the output is how many pairs are told apart."""
import json, os, re, subprocess, sys

checkout, optcheck, out = sys.argv[1:4]
NOW = '49175104c'  # the newest commit of the clone that was measured
SYNC = '__syncthreads();'


def buffers(sizes):
    return ['%s=buffer:%d' % (k, v) for k, v in sizes.items()]


# Headers of other folders that a source includes.
ELSEWHERE = {'shrUtils.h': 'src/dp-cuda/shrUtils.h', 'graph.h': 'src/mis-cuda/graph.h'}

# name, what is reported, folder, commits (before, after or None), file, kernel, edits (after which text the barrier is put; or text and what is in its place), flags
PAIRS = [
    ('adv', 'commit 13ad568c9', 'adv', ('13ad568c9^', '13ad568c9'), 'main.cu', 'advCubatureHex3D', [], ['--front-flags=-Ddfloat=float,-Ddlong=int', '--grid', '1', '--block', '16,16'],
     ['0=1', '5=512'] + buffers({1: 24576, 2: 196608, 3: 49152, 4: 8192, 6: 6144, 7: 6144})),
    ('aidw', 'pull request 90', 'aidw', ('9a07e28ec^', '9a07e28ec'), 'main.cu', 'AIDW_Kernel_Tiled', [], ['--grid', '1', '--block', '256'],
     ['3=512', '7=256', '8=100.0'] + buffers({0: 2048, 1: 2048, 2: 2048, 4: 1024, 5: 1024, 6: 1024, 9: 1024})),
    ('dxtc2', 'issue 133', 'dxtc2', ('ccd749cae^', 'ccd749cae'), 'main.cu', 'compress', [], ['--grid', '2', '--block', '64'],
     ['3=0'] + buffers({0: 4096, 1: 128, 2: 16})),
    ('medianfilter', 'issue 134', 'medianfilter', ('f7a4a3fc8^', 'f7a4a3fc8'), 'MedianFilter.cu', 'ckMedian', [], ['--grid', '2,2', '--block', '16,4', '--shared', '432'],
     ['2=18', '3=32', '4=8'] + buffers({0: 1024, 1: 1024})),
    ('surfel', 'issue 253', 'surfel', (NOW, None), 'main.cu', 'surfel_render_tile<float, 256>', [('        int tileCount = min(TILE, N - base);', None), (r'                dMin = t;\n            }\n        }\n', SYNC)],
     ['--grid', '1', '--block', '16,16'], ['1=600', '2=0.5', '3=16', '4=16'] + buffers({0: 16800, 5: 1024})),
    ('marchingCubes', 'issue 254', 'marchingCubes', (NOW, None), 'main.cu', 'generatingTriangles', [(r'    sumsTriangles\[31\] = atomicAdd\(countedTrianglesNum, sumTriangles\);\n  }\n', SYNC)],
     ['--grid', '2', '--block', '4,4,8'], ['0=-0.5'] + buffers({1: 8, 2: 512, 3: 16384, 4: 48, 5: 4, 6: 4, 7: 8, 8: 65536, 9: 65536, 10: 65536, 11: 65536})),
    ('sosfil', 'issue 256', 'sosfil', (NOW, None), 'main.cu', 'sosfilt<float>', [(r'        x_n = s_out\[tx - 1\];\n      }\n', SYNC), (r'      if \( tx > n \) \{\n        x_n = s_out\[tx - 1\];\n',
     'MOVE      if ( tx > n ) x_n = s_out[tx - 1];\n' + SYNC + '\n      if ( tx > n ) {\n')], ['--grid', '2', '--block', '64', '--shared', '2304'],
     ['0=2', '1=80', '2=64', '3=2'] + buffers({4: 1536, 5: 1024, 6: 640})),
    ('morphology', 'issue 255', 'morphology', (NOW, None), 'morphology.cu', 'vhgw_horiz<(MorphOpType)0>', [(r'(?s)    if \(tid >= offset\) \{\n      opArray\[tid \+ selSize - 1\] = \n.*?    __syncthreads\(\);\n',
     'MOVE    unsigned char low = opArray[tid], high = opArray[tid + selSize - 1];\n    if (tid >= offset) high = elementOp<opType>(high, opArray[tid + selSize - 1 - offset]);\n'
     '    if (tid <= selSize - 1 - offset) low = elementOp<opType>(low, opArray[tid + offset]);\n    __syncthreads();\n    if (tid >= offset && tid > 0) opArray[tid + selSize - 1] = high;\n'
     '    if (tid <= selSize - 1 - offset && tid < selSize - 1) opArray[tid] = low;\n    __syncthreads();\n')],
     ['--grid', '2,1', '--block', '64,1', '--shared', '256'], ['2=192', '3=1', '4=64'] + buffers({0: 192, 1: 192})),
    ('floydwarshall2', 'issue 261', 'floydwarshall2', (NOW, None), 'main.cu', 'FWrem_64', [(r'    idx2_a \+= tile;\n    idx2_b \+= tile;\n  }\n\n(?=  if \(\(y == z\))', SYNC)],
     ['--grid', '4', '--block', '1024', '--schedules', '2'], ['1=192', '4=0', '5=2'] + buffers({0: 147456, 2: 147456, 3: 147456})),
]


def source(commit, folder, into):
    os.makedirs(into, exist_ok=True)
    names = subprocess.run(['git', '-C', checkout, 'ls-tree', '-r', '--name-only', commit, 'src/%s-cuda/' % folder], capture_output=True, text=True, check=True).stdout.split()
    for n in names:
        if not re.search(r'\.(cuh?|h|hpp|inc)$', n):
            continue
        text = subprocess.run(['git', '-C', checkout, 'show', commit + ':' + n], capture_output=True)
        if text.returncode == 0:
            path = os.path.join(into, n.split('-cuda/', 1)[1])
            os.makedirs(os.path.dirname(path), exist_ok=True)
            open(path, 'wb').write(text.stdout)


def edit(path, edits):
    text = open(path).read()
    for pattern, put in edits:
        if put is None:
            continue
        if put.startswith('MOVE'):
            text, n = re.subn(pattern, lambda m: put[4:], text)
        else:
            text, n = re.subn(pattern, lambda m: m.group(0) + put + '\n', text)
        if n == 0:
            sys.exit('%s: nothing matches %r' % (path, pattern))
    open(path, 'w').write(text)


def verify(path, kernel, flags, args):
    p = subprocess.run([optcheck, 'verify', path, '--json', '--fail-on', 'never', '--no-mend', '--toolchains', 'nvcc-12.4', '--kernel', kernel] + flags + sum((['--arg', a] for a in args), []),
                       capture_output=True, text=True, timeout=900)
    if not p.stdout.strip():
        return 'unknown', [], [p.stderr.strip()[:300]]
    o = json.loads(p.stdout)
    rules = sorted({f['rule'] for f in o.get('findings') or []})
    return 'wrong' if rules else 'unknown' if o.get('unknown') else 'right', rules, (o.get('unknown') or [])[:3]


apart, only = 0, sys.argv[4:]
with open(os.path.join(out, 'results.jsonl') if os.makedirs(out, exist_ok=True) is None else '', 'a') as results:
    for name, reported, folder, (before, after), file, kernel, edits, flags, args in PAIRS:
        if only and name not in only:
            continue
        verdicts = []
        for side, commit in (('before', before), ('after', after or before)):
            into = os.path.join(out, name, side)
            source(commit, folder, into)
            # a header of the host alone, which an older commit may lack
            if not os.path.exists(os.path.join(into, 'reference.h')):
                open(os.path.join(into, 'reference.h'), 'w').close()
            path = os.path.join(into, file)
            text = open(path).read()
            for header, place in ELSEWHERE.items():
                if '"%s"' % header in text and not os.path.exists(os.path.join(into, header)):
                    open(os.path.join(into, header), 'wb').write(subprocess.run(['git', '-C', checkout, 'show', NOW + ':' + place], capture_output=True, check=True).stdout)
            for m in re.findall(r'#include "(\w+\.cu)"', text):
                if not os.path.exists(os.path.join(into, m)) and os.path.exists(os.path.join(into, m[:-3] + '.h')):
                    open(path, 'w').write(text.replace(m, m[:-3] + '.h'))
            if side == 'after':
                edit(path, edits)
            verdict, rules, why = verify(path, kernel, flags, args)
            verdicts.append(verdict if verdict == 'unknown' else 'data-race' in rules)
            line = {'pair': name, 'reported': reported, 'side': side, 'verdict': verdict, 'rules': rules, 'why': why}
            results.write(json.dumps(line) + '\n')
            results.flush()
            print('%-16s %-18s %-7s %-8s %s %s' % (name, reported, side, verdict, ' '.join(rules), ' '.join(why)), flush=True)
        apart += verdicts == [True, False]
print('%d told apart' % apart)
