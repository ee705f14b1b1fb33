// One object of Git LFS of 1 GiB up and down over loopback, beside writing, hashing and syncing the same bytes on the
// same disk by hand; and what memory the server takes meanwhile.
// usage: bench/lfs [--rounds N] [--megabytes N] [--executable PATH]
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { open, rm } from 'node:fs/promises';
import { request } from 'node:http';
import path from 'node:path';
import { startHearthServer } from './hearth-server.ts';
import { memoryOfTree } from './process-usage.ts';
import { median, readNumberOption } from './harness.ts';

const rounds = readNumberOption('rounds', 5);
const megabytes = readNumberOption('megabytes', 1024);
const bytes = megabytes * 1024 * 1024;
const chunk = randomBytes(1024 * 1024);

const hearth = await startHearthServer({ SERVICE_LFS_REPOSITORY_QUOTA: '1TiB', SERVICE_LFS_OWNER_QUOTA: '1TiB' });
const root = `${hearth.url}/git/alice/bench.git/info/lfs`;
const Authorization = `Bearer ${hearth.token}`;

/** Each round has bytes of its own: the first eight are its number. */
function* content(round: number): Generator<Buffer> {
  const first = Buffer.from(chunk);
  first.writeBigInt64LE(BigInt(round));
  yield first;
  for (let at = 1; at < megabytes; at += 1) yield chunk;
}

async function byHand(round: number): Promise<number> {
  const startedAt = performance.now();
  const file = path.join(hearth.folder, 'data', `raw-${round}`);
  const handle = await open(file, 'wx');
  const hash = createHash('sha256');
  for (const part of content(round)) {
    hash.update(part);
    await handle.write(part);
  }
  hash.digest();
  await handle.sync();
  await handle.close();
  const tookS = (performance.now() - startedAt) / 1000;
  await rm(file);
  return tookS;
}

function oidOf(round: number): string {
  const hash = createHash('sha256');
  for (const part of content(round)) hash.update(part);
  return hash.digest('hex');
}

async function upload(round: number, oid: string): Promise<number> {
  const startedAt = performance.now();
  const sent = request(`${root}/objects/${oid}`, {
    method: 'PUT',
    headers: { Authorization, 'Content-Length': bytes },
  });
  for (const part of content(round)) if (!sent.write(part)) await once(sent, 'drain');
  sent.end();
  const [response] = await once(sent, 'response');
  response.resume();
  await once(response, 'end');
  if (response.statusCode !== 200) throw new Error(`upload: ${response.statusCode}`);
  return (performance.now() - startedAt) / 1000;
}

async function download(oid: string): Promise<number> {
  const startedAt = performance.now();
  const asked = request(`${root}/objects/${oid}`, { headers: { Authorization } }).end();
  const [response] = await once(asked, 'response');
  let received = 0;
  for await (const part of response) received += part.length;
  if (received !== bytes) throw new Error(`download: ${received} of ${bytes} bytes`);
  return (performance.now() - startedAt) / 1000;
}

const times = { 'by hand': [] as number[], upload: [] as number[], download: [] as number[] };
// Compiled code and buffers that stay are no part of what a transfer takes.
const warmUp = oidOf(-1);
await upload(-1, warmUp);
await download(warmUp);
const before = memoryOfTree(hearth.pid);
let most = before;
const sampling = setInterval(() => (most = Math.max(most, memoryOfTree(hearth.pid))), 100);
for (let round = 0; round < rounds; round += 1) {
  const oid = oidOf(round);
  times['by hand'].push(await byHand(round));
  times.upload.push(await upload(round, oid));
  times.download.push(await download(oid));
}
clearInterval(sampling);
const raw = median(times['by hand']);
console.log(
  `| ${megabytes} MiB, median of ${rounds} | seconds | MiB/s | ratio to writing, hashing and syncing by hand |`,
);
console.log('|---|---|---|---|');
for (const [name, taken] of Object.entries(times)) {
  const seconds = median(taken);
  const ratio = `${Math.round((raw / seconds) * 100)} %`;
  console.log(`| ${name} | ${seconds.toFixed(2)} | ${Math.round(megabytes / seconds)} | ${ratio} |`);
}
console.log(`| memory of the server: before, at most | ${before.toFixed(0)} MB, ${most.toFixed(0)} MB | | |`);
await hearth.stop();
