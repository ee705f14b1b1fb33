// pushTo(world, branch, files, on) → a commit and a push by the viewer of the world, with every listener;
// announced(world) → every event was announced.
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { runGit } from '../fixtures/git-repositories.ts';
import type { CiFixture } from './ci-fixture.ts';
import { waitUntil } from '../fixtures/wait-until.ts';

/** Commits on top of a commit and moves a branch there, as a push by alice does, with every listener. */
export async function pushTo(
  { modules, found, viewer, folder }: CiFixture,
  branch: string,
  files: Record<string, string>,
  on: string,
): Promise<string> {
  const work = path.join(folder, 'work');
  const git = async (...args: string[]) => (await runGit(args, { cwd: work })).trim();
  const oldId = (await modules.git.refs.list(found.path)).get(`refs/heads/${branch}`) ?? '0'.repeat(40);
  await git('checkout', '--quiet', '--detach', on);
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(work, name)), { recursive: true });
    writeFileSync(path.join(work, name), text);
  }
  await git('add', '--all');
  await git('commit', '--quiet', '-m', `Change ${branch}`);
  const newId = await git('rev-parse', 'HEAD');
  await git('push', '--quiet', found.path, `HEAD:refs/tags/${newId}`);
  const updates = [{ ref: `refs/heads/${branch}`, oldId, newId }];
  await modules.repositories.pushes.applyUpdates(found, { via: 'http', userId: viewer.id, updates });
  return newId;
}

/** Waits until every entry is announced that waits for nobody: what has started no run by then starts none. */
export const announced = ({ modules: { db } }: CiFixture) =>
  waitUntil(async () => {
    const [row] = await db.read.query(
      'SELECT count(*) AS n FROM issue_entries WHERE announced_at IS NULL AND held_at IS NULL',
    );
    const [open] = await db.read.query('SELECT count(*) AS n FROM pushes WHERE announced_at IS NULL');
    return Number(row.n) + Number(open.n) === 0;
  });
