import { readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { internal } from '../../kernel/index.ts';
import type { GitRunner } from '../processes/git-runner.ts';
import { readPackIndexes } from './pack-index.ts';

const longMs = 3_600_000;
/** Limit of object ids held in memory, 20 bytes each; with more objects everything is repacked. */
const maxObjects = 8_000_000;
const looseFolder = /^[0-9a-f]{2}$/;

/**
 * Removes unreachable objects from a new repository. The owner of a fork may push a ref to any object in its folder
 * whose id they know, so the folder must not contain objects that the source hides (overwritten commits that wait for
 * an undo, objects of refused pushes).
 *
 * Usually there are none, which two counts show: the reachable objects, from the bitmap, and those in the folder.
 * Otherwise packs with hidden objects are replaced by one with the rest of their objects. Packs without hidden objects
 * stay shared.
 */
export async function pruneUnreachableObjects(runner: GitRunner, repository: string): Promise<void> {
  const [reachable, present] = [await countReachable(runner, repository), await countPresent(runner, repository)];
  if (reachable > present) throw internal('a fork lacks objects of its refs');
  if (reachable === present) return;
  const folder = path.join(repository, 'objects', 'pack');
  const packs = await readPackIndexes(folder, maxObjects);
  const found = new Map((packs ?? []).map(({ stem }) => [stem, 0]));
  if (packs !== null)
    for await (const id of reachableIds(runner, repository))
      for (const { stem, has } of packs) if (has(id)) found.set(stem, found.get(stem)! + 1);
  const clean = (packs ?? []).filter(({ stem, count }) => found.get(stem) === count).map(({ stem }) => stem);
  const before = await readdir(folder);
  await packRest(runner, repository, clean);
  for (const name of before)
    if (!clean.includes(name.split('.', 1)[0]!)) await rm(path.join(folder, name), { force: true });
  await removeLoose(repository);
  // It may name removed commits; maintenance writes a new one.
  for (const name of ['commit-graph', 'commit-graphs'])
    await rm(path.join(repository, 'objects', 'info', name), { recursive: true, force: true });
}

async function countReachable(runner: GitRunner, repository: string): Promise<number> {
  const argv = [`--git-dir=${repository}`, 'rev-list', '--count', '--objects', '--use-bitmap-index', '--all'];
  const { code, output, errorText } = await runner.run({ argv, timeLimitMs: longMs, yields: true }, 4_096);
  if (code !== 0) throw internal('git could not count the objects of a fork', { cause: { code, errorText } });
  return Number(output.toString().trim());
}

/** Counts each object once: git prints an empty line for one that several packs contain. */
async function countPresent(runner: GitRunner, repository: string): Promise<number> {
  const argv = [`--git-dir=${repository}`, 'cat-file', '--batch-all-objects', '--unordered', '--batch-check='];
  const running = runner.start({ argv, timeLimitMs: longMs, yields: true });
  let lines = 0;
  for await (const chunk of running.stdout!) lines += (chunk as Buffer).length;
  const { code } = await running.exited;
  if (code !== 0) throw internal('git could not list the objects of a fork', { cause: { text: running.stderrText() } });
  return lines;
}

async function* reachableIds(runner: GitRunner, repository: string): AsyncGenerator<Buffer> {
  const argv = ['rev-list', '--objects', '--no-object-names', '--use-bitmap-index', '--all'];
  const running = runner.start({ argv: [`--git-dir=${repository}`, ...argv], timeLimitMs: longMs, yields: true });
  let rest = '';
  for await (const chunk of running.stdout!) {
    const lines = (rest + (chunk as Buffer).toString('latin1')).split('\n');
    rest = lines.pop()!;
    for (const line of lines) yield Buffer.from(line, 'hex');
  }
  const { code } = await running.exited;
  if (code !== 0) throw internal('git could not list the objects of a fork', { cause: { text: running.stderrText() } });
}

/** Writes one pack with every reachable object that is in none of the given packs. */
async function packRest(runner: GitRunner, repository: string, clean: readonly string[]): Promise<void> {
  const argv = [
    `--git-dir=${repository}`,
    'pack-objects',
    '--quiet',
    '--all',
    '--delta-base-offset',
    '--non-empty',
    ...clean.map((stem) => `--keep-pack=${stem}.pack`),
    path.join(repository, 'objects', 'pack', 'pack'),
  ];
  const { code, errorText } = await runner.run({ argv, timeLimitMs: longMs, yields: true }, 64 * 1024);
  if (code !== 0) throw internal('git could not pack a fork', { cause: { code, errorText } });
}

async function removeLoose(repository: string): Promise<void> {
  const objects = path.join(repository, 'objects');
  for (const name of await readdir(objects))
    if (looseFolder.test(name)) await rm(path.join(objects, name), { recursive: true, force: true });
}
