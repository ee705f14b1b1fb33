import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import type { Test } from 'tap';
import { cachedBytesLimit, limitCachedBytes, silentLogger } from '../../src/kernel/index.ts';
import { readMachineMemory } from '../../src/app/machine-memory.ts';
import { cachesFor, nextCacheLimit, watchMemory } from '../../src/app/watch-memory.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';

const mib = 1024 * 1024;

/** A folder with these files in the place of `/`. */
function machine(t: Test, files: Record<string, string>): string {
  const root = temporaryFolder(t);
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(root, name)), { recursive: true });
    writeFileSync(path.join(root, name), text);
  }
  return root;
}

const meminfo = 'MemTotal:        4194304 kB\nMemFree:          100000 kB\nMemAvailable:    2097152 kB\n';

t.test('the memory is that of the machine, or of the control group with the least left', async (t) => {
  t.equal(await readMachineMemory(machine(t, {})), null, 'a system that does not tell');
  t.same(await readMachineMemory(machine(t, { 'proc/meminfo': meminfo })), {
    total: 4096 * mib,
    available: 2048 * mib,
  });
  const group = 'sys/fs/cgroup/system.slice';
  const limited = {
    'proc/meminfo': meminfo,
    'proc/self/cgroup': '0::/system.slice/hearth.service\n',
    [`${group}/memory.max`]: `${1024 * mib}\n`,
    [`${group}/memory.current`]: `${100 * mib}\n`,
    [`${group}/hearth.service/memory.max`]: `${512 * mib}\n`,
    [`${group}/hearth.service/memory.current`]: `${500 * mib}\n`,
    [`${group}/hearth.service/memory.stat`]: `anon ${200 * mib}\nfile ${300 * mib}\nshmem ${20 * mib}\n`,
  };
  t.same(
    await readMachineMemory(machine(t, limited)),
    { total: 512 * mib, available: 292 * mib },
    'cached pages of files can be had back, those of a file system in memory cannot',
  );
  t.same(
    await readMachineMemory(machine(t, { ...limited, [`${group}/hearth.service/memory.max`]: 'max\n' })),
    { total: 1024 * mib, available: 924 * mib },
    'a group around it has the limit',
  );
});

t.test('caches have a part of the memory, or what the setting says', async (t) => {
  t.equal(cachesFor({ total: 512 * mib }, null), 8 * mib);
  t.equal(cachesFor({ total: 256 * mib }, null), 8 * mib);
  t.equal(cachesFor({ total: 1024 * mib }, null), 16 * mib);
  t.equal(cachesFor({ total: 64 * 1024 * mib }, null), 24 * mib);
  t.equal(cachesFor(null, null), 24 * mib);
  t.equal(cachesFor({ total: 512 * mib }, 100 * mib), 100 * mib);
});

t.test('caches give way while memory is short, and grow again afterwards', async (t) => {
  const fine = { heapUsed: 0.5, available: 0.5 };
  t.equal(nextCacheLimit(64, 64, fine), 64);
  t.equal(nextCacheLimit(64, 64, { ...fine, available: 0.05 }), 16);
  t.equal(nextCacheLimit(64, 64, { ...fine, heapUsed: 0.9 }), 16);
  t.strictSame(
    [nextCacheLimit(64, 16, fine), nextCacheLimit(64, 32, fine), nextCacheLimit(64, 64, fine)],
    [32, 64, 64],
  );
});

t.test('the watch sets the limit of all caches when it begins', async (t) => {
  const usual = cachedBytesLimit();
  t.teardown(() => limitCachedBytes(usual));
  const events: string[] = [];
  const logger = { ...silentLogger, info: (event: string) => void events.push(event) };
  const read = async () => ({ total: 1024 * mib, available: 10 * mib });
  const watch = watchMemory({ setting: null, logger }, read);
  t.teardown(() => watch.stop());
  await new Promise(setImmediate);
  t.equal(cachedBytesLimit(), 4 * mib, 'a quarter of the 64th part: too little is left');
  t.strictSame(events, ['memory.short']);
});
