/**
 * A comment that five hundred people watch: how long the comment takes, how long until all have it in their inbox, and
 * how long other writes wait meanwhile; the same comment with one watcher beside it. Then the counting of unread
 * notifications for the head of a page, and the first page of an inbox of a thousand.
 * usage: bench/notifications [--rounds N] [--watchers N]
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { PersonViewer } from '../src/access/index.ts';
import { openModules } from '../src/app/index.ts';
import { loadConfig } from '../src/config/index.ts';
import { silentLogger } from '../src/kernel/index.ts';
import { median, readNumberOption, formatRow as tableRow } from './harness.ts';

const rounds = readNumberOption('rounds', 7);
const watchers = readNumberOption('watchers', 500);
const folder = mkdtempSync(path.join(tmpdir(), 'hearth-bench-'));
const { config } = loadConfig({
  env: { SERVICE_DATA_DIR: path.join(folder, 'data') },
  cwd: folder,
  readFile: () => '',
});
const modules = await openModules(config, { logger: silentLogger }, 'always');
const { accounts, db, issues, notifications, repositories } = modules;

async function personOf(username: string): Promise<PersonViewer> {
  const { id } = await accounts.addPerson({ username });
  return {
    kind: 'person',
    id,
    username,
    isAdministrator: false,
    via: 'session',
    scope: 'admin',
    repositoryIds: null,
  };
}
const [alice, bob] = [await personOf('alice'), await personOf('bob')];
await repositories.create(alice, { name: 'few', visibility: 'PUBLIC' });
await repositories.create(alice, { name: 'many', visibility: 'PUBLIC' });
const { id: manyId } = (await repositories.find(alice, 'alice', 'many')).repository;
await db.write(async ({ manager, now }) => {
  for (let number = 1; number < watchers; number += 1) {
    const id = `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`;
    await manager.query('INSERT INTO users (id, username, created_at) VALUES (?, ?, ?)', [id, `watcher${number}`, now]);
    await manager.query(
      "INSERT INTO watches (user_id, repository_id, level, created_at) VALUES (?, ?, 'everything', ?)",
      [id, manyId, now],
    );
  }
});

const told = async (name: string, position: number): Promise<number> => {
  const [found]: { n: number }[] = await db.read.query(
    `SELECT count(*) AS n FROM notifications n JOIN repositories r ON r.id = n.repository_id
     WHERE r.name = ? AND n.last_position >= ?`,
    [name, position],
  );
  return Number(found!.n);
};

interface Round {
  answeredMs: number;
  toldMs: number;
  otherMs: number;
}

let text = 0;
async function comment(name: string, people: number): Promise<Round> {
  let otherMs = 0;
  let isRunning = true;
  const others = (async () => {
    for (; isRunning; await wait(1)) {
      const began = performance.now();
      await db.write(({ manager }) => manager.query('UPDATE users SET last_seen_at = 1 WHERE id = ?', [alice.id]));
      otherMs = Math.max(otherMs, performance.now() - began);
    }
  })();
  const began = performance.now();
  const { position } = await issues.comment(
    bob,
    { owner: 'alice', name, number: 1 },
    { body: `Comment ${(text += 1)}` },
  );
  const answeredMs = performance.now() - began;
  while ((await told(name, position)) < people) await wait(1);
  const toldMs = performance.now() - began;
  isRunning = false;
  await others;
  return { answeredMs, toldMs, otherMs };
}

console.log(tableRow(['comment with', 'answered, ms', 'in all inboxes, ms', 'longest other write, ms']));
console.log(tableRow(['---', '---:', '---:', '---:']));
for (const [name, people] of [
  ['few', 1],
  ['many', watchers],
] as const) {
  await issues.open(bob, { owner: 'alice', name }, { title: 'A leak' });
  while ((await told(name, 0)) < people) await wait(5);
  const results: Round[] = [];
  for (let round = 0; round < rounds; round += 1) results.push(await comment(name, people));
  const of = (key: keyof Round): string => median(results.map((result) => result[key])).toFixed(1);
  console.log(tableRow([`${people} watcher${people === 1 ? '' : 's'}`, of('answeredMs'), of('toldMs'), of('otherMs')]));
}

await db.write(async ({ manager, now }) => {
  for (let number = 0; number < 1_000; number += 1)
    await manager.query(
      `INSERT INTO notifications (user_id, subject, repository_id, reason, details, first_position, last_position, listed_at)
       VALUES (?, ?, ?, 'ci_failed', '{"number":1,"workflow":"","title":"","ref":"","sha":""}', 1, 1, ?)`,
      [alice.id, `run:${number}`, manyId, now + number],
    );
});
async function timed(work: () => Promise<unknown>): Promise<string> {
  const times: number[] = [];
  for (let round = 0; round < 200; round += 1) {
    const began = performance.now();
    await work();
    times.push(performance.now() - began);
  }
  return median(times).toFixed(3);
}
console.log('');
console.log(tableRow(['inbox of 1,000', 'ms']));
console.log(tableRow(['---', '---:']));
console.log(tableRow(['unread count, database unchanged', await timed(() => notifications.countUnread(alice))]));
console.log(
  tableRow(['unread count, counted anew', await timed(() => notifications.countUnread({ ...alice, via: 'token' }))]),
);
console.log(tableRow(['unread count of a person without any', await timed(() => notifications.countUnread(bob))]));
console.log(tableRow(['first page', await timed(() => notifications.list(alice, { view: 'inbox' }, { limit: 50 }))]));
await modules.close();
rmSync(folder, { recursive: true, force: true });
