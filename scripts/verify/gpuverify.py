#!/usr/bin/env python3
"""gpuverify.py CHECKOUT OPTCHECK CLANG OUT: compiles the kernels of GPUVerify's test suite (github.com/mc-imperial/gpuverify) where they are,
verifies each with optcheck verify, and compares the verdict with the suite's. opt and llc lie beside clang. OUT is a folder for PTX and for results.jsonl, which has a line
for each kernel file; a file whose result is there is not done again. The last lines of the output are the table.

A test is right (//pass) or wrong (//xfail:NOT_ALL_VERIFIED); other tests are about command lines. Wrong by our verdict is a race in which
a write changed the value, a divergent barrier, a trap (a failed __assert) or an access out of bounds (a null pointer)."""
import collections, json, os, re, subprocess, sys

checkout, optcheck, clang, out = sys.argv[1:5]
suite = os.path.join(checkout, 'testsuite')
shim = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'shim')
resource = subprocess.run([clang, '-print-resource-dir'], capture_output=True, text=True).stdout.strip()
os.makedirs(out, exist_ok=True)
results = os.path.join(out, 'results.jsonl')
known = {}
if os.path.exists(results):
    for line in open(results):
        r = json.loads(line)
        known[r['file']] = r


def label(text):
    first = text.split('\n', 1)[0].lower()
    if first.startswith('//pass'):
        return 'right'
    if first.startswith('//xfail:not_all_verified'):
        return 'wrong'
    return None


def compile(file, to, text):
    offset = re.search(r'--global_offset=(\d+)', text.split('\n', 2)[1])
    size = re.search(r'--(?:local_size|blockDim)=\[?([\d,]+)', text)
    common = ['-S', '-emit-llvm', '-O0', '-Xclang', '-disable-O0-optnone', '-gline-tables-only', '-w', '-I', shim, '-I', os.path.dirname(file),
              '-DGLOBAL_OFFSET=' + (offset[1] if offset else '0'), '-DWORK_DIM=%d' % (size[1].count(',') + 1 if size else 1)]
    if file.endswith('.cu'):
        args = ['-x', 'cuda', '--cuda-device-only', '-nocudainc', '-nocudalib', '--cuda-gpu-arch=sm_80', '-include', shim + '/cuda.h']
    else:
        args = ['-x', 'cl', '-cl-std=CL1.2', '-target', 'nvptx64-nvidia-cuda', '-Xclang', '-target-cpu', '-Xclang', 'sm_80', '-Xclang',
                '-finclude-default-header', '-include', shim + '/opencl.h', '-include', shim + '/annotations.h']
    bin = os.path.dirname(clang)
    # Variables become values, so that one sees what is an address; no access to memory is changed.
    for command in ([clang] + args + common + [file, '-o', to + '.ll'], [bin + '/opt', '-S', '-passes=mem2reg', to + '.ll', '-o', to + '.ll'],
                    [bin + '/llc', '-O0', '-mcpu=sm_80', to + '.ll', '-o', to]):
        p = subprocess.run(command, capture_output=True, text=True)
        if p.returncode != 0:
            return (re.search(r'error: .*', p.stderr) or ['error'])[0]
    return ''


def dims(s):
    n = [int(x) for x in re.findall(r'\d+', s)] + [1, 1, 1]
    return n[:3]


# Options with which a test asks something else than whether the kernel is right: of lockstep, of some accesses or arrays alone, of a proof.
OTHER = re.compile(r'--(warp-sync|only-log|adversarial-abstraction|vcgen-opt|cruncher-opt|k-induction-depth|loop-unwind|no-infer|boogie-file)\b')


def other(text):
    """Why the label is no verdict about races, barriers, bounds and assertions of the kernel as it is; '' if it is."""
    flags = text.split('\n', 2)[1]
    m = OTHER.search(flags)
    if m:
        return 'option --' + m[1]
    if label(text) == 'wrong' and re.search(r'(invariant|precondition|postcondition|requires|ensures)\W[^\n]*(might not|not hold)', text):
        return 'an obligation of a proof'
    return ''


def arguments(text):
    """The values that --kernel-args gives."""
    m = re.search(r'--kernel-args=\w+,(\S+)', text.split('\n', 2)[1])
    return [['--arg', '%d=%s' % (i, v)] for i, v in enumerate(m[1].split(',')) if v != '*'] if m else []


def launch(text):
    head = '\n'.join(text.split('\n')[:6])
    size = r'=(\[[^\]]*\]|[\d,]+)'
    block = re.search('--(?:blockDim|local_size)' + size, head)
    grid = re.search('--(?:gridDim|num_groups)' + size, head)
    threads = re.search('--global_size' + size, head)
    block, grid = dims(block[1]) if block else [64, 1, 1], dims(grid[1]) if grid else [2, 1, 1]
    if threads:
        grid = [max(1, a // b) for a, b in zip(dims(threads[1]), block)]
    while block[0] * block[1] * block[2] > 1024:  # more than a device has
        block[block.index(max(block))] //= 2
    while grid[0] * grid[1] * grid[2] > max(2, 8192 // (block[0] * block[1] * block[2])):  # two blocks of each dimension tell what more of them do
        grid[grid.index(max(grid))] = max(2, grid[grid.index(max(grid))] // 4) if max(grid) > 2 else 1
    return grid, block


def verify(ptx, text):
    grid, block = launch(text)
    args = [optcheck, 'verify', ptx, '--json', '--fail-on', 'never', '--no-mend', '--schedules', '2', '--inputs', '3', '--steps', '32000000', '--uniform',
            '--grid', ','.join(map(str, grid)), '--block', ','.join(map(str, block))]
    p = subprocess.run(args + sum(arguments(text), []), capture_output=True, text=True, timeout=300)
    decoder, at, got, s = json.JSONDecoder(), 0, [], p.stdout.strip()
    while at < len(s):
        o, at = decoder.raw_decode(s, at)
        got.append(o)
        while at < len(s) and s[at].isspace():
            at += 1
    if not got:
        return 'unknown', [], [p.stderr.strip()[:200]]
    flags = text.split('\n', 2)[1]
    rules, why = [], []
    for o in got:
        for f in o.get('findings') or []:
            if '--only-intra-group' in flags and f.get('second') and f['first']['thread']['block'] != f['second']['thread']['block']:
                continue
            if '--only-divergence' in flags and f['rule'] != 'barrier-divergence':
                continue
            rules.append(f['rule'] + (' same-value' if f.get('same_value') and '--no-benign-tolerance' not in flags else ''))
        why += o.get('unknown') or []
    counted = [r for r in rules if r in ('data-race', 'barrier-divergence', 'trap', 'assertion', 'out-of-bounds', 'stuck')]
    return 'wrong' if counted else 'unknown' if why else 'right', sorted(set(rules)), why[:3]


files = sorted(os.path.join(d, f) for d, _, fs in os.walk(suite) for f in fs if f.endswith(('.cu', '.cl')))
with open(results, 'a') as log:
    for file in files:
        name = os.path.relpath(file, suite)
        text = open(file, errors='replace').read()
        want = label(text)
        if want is None or name in known:
            continue
        ptx = os.path.join(out, name.replace('/', '-') + '.ptx')
        failed = '' if os.path.exists(ptx) else compile(file, ptx, text)
        r = {'file': name, 'other': other(text), 'want': want, 'flags': text.split('\n', 2)[1].strip(), 'says': ' '.join(text.split('\n')[2:5])[:160]}
        if failed:
            r.update(got='not compiled', why=[failed])
        else:
            try:
                r['got'], r['rules'], r['why'] = verify(ptx, text)
            except subprocess.TimeoutExpired:
                r.update(got='unknown', why=['300 s'])
        known[name] = r
        log.write(json.dumps(r) + '\n')
        log.flush()

table = collections.Counter((os.path.splitext(r['file'])[1], r['want'] + (' (another question)' if r['other'] else ''), r['got']) for r in known.values())
for k in sorted(table):
    print('%-4s %-27s %-13s %4d' % (k + (table[k],)))
