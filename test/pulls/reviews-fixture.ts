// openPulls(t) → the modules up to pulls on real SQLite and git, with alice, bob, carol and alice/roof (PUBLIC), whose
// branch main has the files of `base`.
// branch(name, files, message?) → commits on a branch of alice/roof, made from main when new; null removes a file.
// openPull(viewer, files) → a pull request of the branch topic.  nextRound(number, files, …) → one more round of it.
// announced(issues, db) → every entry has reached its listeners.
// numbered(30, {3: 'changed'}) → lines of a text.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { EntitySchema } from 'typeorm';
import type { Viewer } from '../../src/access/index.ts';
import { createIssues, issueEntities } from '../../src/issues/index.ts';
import type { Issues } from '../../src/issues/index.ts';
import { systemRandom } from '../../src/kernel/index.ts';
import { createPulls, pullEntities } from '../../src/pulls/index.ts';
import type { PullsOptions } from '../../src/pulls/index.ts';
import { pullById } from '../../src/pulls/find-pull.ts';
import { MergeStateQueue } from '../../src/pulls/merge-state-queue.ts';
import { prepareRound, recordRound } from '../../src/pulls/rounds/record-round.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import type { Owner } from '../fixtures/temporary-folder.ts';
import { gitSync } from '../git/git-fixture.ts';
import { at, objectsIn, roof } from '../issues/issues-fixture.ts';
import { openModules } from '../repositories/repositories-fixture.ts';
import { shownTexts } from '../fixtures/shown-texts.ts';
import { waitUntil } from '../fixtures/wait-until.ts';

export { at, roof };
export { anonymous, reasonOf, viewerOf } from '../issues/issues-fixture.ts';

export type Files = Readonly<Record<string, string | Buffer | null>>;

export const numbered = (count: number, change: Record<number, string> = {}): string =>
  Array.from({ length: count }, (_, index) => `${change[index + 1] ?? `line ${index + 1}`}\n`).join('');

export const base: Files = { 'a.txt': numbered(30), 'b.txt': numbered(5), 'docs/read.md': '# Read\n' };

export async function openReviews(t: Owner, { files = base }: { files?: Files } = {}) {
  const modules = await openModules(t, { more: [...issueEntities, ...pullEntities] as unknown as EntitySchema[] });
  const { alice, db, git, repositories, random, logger } = { ...modules, random: systemRandom };
  await repositories.create(alice, { ...roof, visibility: 'PUBLIC' });
  const issues = createIssues({
    ...modules,
    objects: objectsIn(modules),
    random,
    sealExport: (sha256) => `sealed ${sha256}`,
    shownTexts,
  });
  t.teardown(() => issues.stop());
  const options: PullsOptions = { ...modules, issues, random, baseUrl: null, isDiskLow: async () => false };
  const pulls = createPulls(options);
  t.teardown(() => pulls.stop());
  issues.pulls.refuseReopen(pulls.refuseDuplicate);
  issues.onEntry(pulls.onEntry);
  const deps = { ...options, contributedPushBytes: 1024 ** 2, mergeStates: new MergeStateQueue(logger) };
  const { path: folder, repository } = await repositories.find(alice, roof.owner, roof.name);

  const work = temporaryFolder(t);
  const run = (...args: string[]): string => gitSync(args, { cwd: work });
  run('init', '--quiet', '--initial-branch=main');
  run('remote', 'add', 'hearth', folder);
  const write = (changes: Files): void => {
    for (const [name, content] of Object.entries(changes)) {
      const file = path.join(work, name);
      if (content === null) rmSync(file);
      else {
        mkdirSync(path.dirname(file), { recursive: true });
        writeFileSync(file, content);
      }
    }
    run('add', '--all');
  };
  const branch = (name: string, changes: Files, message = 'change'): string => {
    const isNew = run('branch', '--list', name) === '';
    if (name !== 'main' || !isNew) run('checkout', '--quiet', '--force', ...(isNew ? ['-b', name, 'main'] : [name]));
    write(changes);
    run('commit', '--quiet', '--allow-empty', `--message=${message}`);
    run('push', '--quiet', '--force', 'hearth', `${name}:${name}`);
    return run('rev-parse', 'HEAD');
  };
  branch('main', files, 'base');

  async function openPull(viewer: Viewer, changes: Files = { 'a.txt': numbered(30, { 10: 'ten' }) }, head = 'topic') {
    branch(head, changes);
    return pulls.open(viewer, roof, { title: 'A change', body: '', head, base: 'main' });
  }

  /** Records the tip of the head branch, after a commit with these changes, as the next round. */
  async function nextRound(viewer: Viewer, number: number, changes: Files | null): Promise<void> {
    const { issue } = await issues.pulls.find(viewer, at(number));
    const found = (await pullById(deps, issue.id))!;
    const headOid =
      changes === null ? run('rev-parse', found.pull.headBranch!) : branch(found.pull.headBranch!, changes);
    const baseTip = run('rev-parse', 'main');
    const prepared = await prepareRound(deps, folder, found.pull, headOid, baseTip);
    await issues.pulls.write(viewer, async (log) => {
      await recordRound(log, found.issue, found.pull, prepared, {
        submitterId: viewer.kind === 'person' ? viewer.id : null,
        pushId: null,
      });
    });
  }

  return {
    ...modules,
    db,
    git,
    issues,
    pulls,
    deps,
    repository,
    path: folder,
    run,
    write,
    branch,
    openPull,
    nextRound,
  };
}

export type ReviewModules = Awaited<ReturnType<typeof openReviews>>;

/** Waits until every entry is announced. */
export async function announced(issues: Issues, db: Pick<ReviewModules['db'], 'read'>): Promise<void> {
  await waitUntil(async () => {
    const [{ open }]: [{ open: number }] = await db.read.query(
      'SELECT count(*) AS open FROM issue_entries WHERE announced_at IS NULL AND parked_at IS NULL AND held_at IS NULL',
    );
    if (Number(open) > 0) await issues.finishEntries();
    return Number(open) === 0;
  }, 'every entry is announced');
}
