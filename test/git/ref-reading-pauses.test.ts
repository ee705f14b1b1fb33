// runs alone: it measures turns of the event loop
// Very many refs are read with pauses for other work: their file, what is hidden, what a tag leads to, the ids that may
// be asked for.
import { utimesSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { measureTurns } from '../fixtures/thread-cpu.ts';
import { gitSync, openGit, sampleRepository } from './git-fixture.ts';

/**
 * Three times what a turn takes, and less than any of the four walks takes without pauses; a machine that stands still
 * lengthens one measurement of three.
 */
const longestMs = 40;
const count = 200_000;

t.test(`${count} refs are read in short turns`, async (t) => {
  const { git, newRepository } = await openGit(t);
  const repository = await newRepository();
  gitSync(['push', '--quiet', '--all', repository], { cwd: sampleRepository() });
  const tip = gitSync(['--git-dir', repository, 'rev-parse', 'main']).trim();
  const file = path.join(repository, 'packed-refs');
  const lines = Array.from({ length: count }, (_, n) => `${tip} refs/heads/many/${String(n).padStart(6, '0')}\n`);
  const hidden = `${tip} refs/hearth/keep\n`;
  writeFileSync(file, `# pack-refs with: peeled fully-peeled sorted \n${lines.join('')}${hidden}`);
  const found: number[] = [];
  for (let round = 0; round < 3; round += 1) {
    const at = new Date(Date.now() - 60_000 + round * 1_000);
    utimesSync(file, at, at);
    const { longestMs } = await measureTurns(async () => {
      const refs = await git.queries.cachedRefs(repository);
      t.equal(refs.count('refs/heads/many/'), count);
      t.notOk(refs.has('refs/hearth/keep'));
      // An id is proved to be reachable by the refs that name it.
      await git.refs.resolve(repository, tip);
    });
    found.push(longestMs);
  }
  t.ok(Math.min(...found) < longestMs, `longest turns, ms: ${found.map((ms) => ms.toFixed(0)).join(', ')}`);
});
